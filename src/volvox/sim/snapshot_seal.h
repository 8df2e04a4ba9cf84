// The seal of a snapshot: the hash of its bytes, after them. A damaged snapshot must be refused, not simulated.
// Pure functions; the bytes without their seal still belong to whoever has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "volvox/base/hash.h"

namespace volvox::sim {

inline std::uint64_t seal_of(std::span<const std::byte> bytes) {
  Hasher hasher;
  hasher.add(bytes.data(), bytes.size());
  return hasher.value();
}

inline void add_seal(std::vector<std::byte>& bytes) {
  const std::uint64_t seal = seal_of(bytes);
  bytes.resize(bytes.size() + sizeof seal);
  std::memcpy(bytes.data() + bytes.size() - sizeof seal, &seal, sizeof seal);
}

// The bytes before the seal; nothing if it is not theirs.
inline std::optional<std::span<const std::byte>> without_seal(std::span<const std::byte> bytes) {
  std::uint64_t seal = 0;
  if (bytes.size() < sizeof seal) return std::nullopt;
  std::memcpy(&seal, bytes.data() + bytes.size() - sizeof seal, sizeof seal);
  bytes = bytes.first(bytes.size() - sizeof seal);
  return seal == seal_of(bytes) ? std::optional(bytes) : std::nullopt;
}

}  // namespace volvox::sim
