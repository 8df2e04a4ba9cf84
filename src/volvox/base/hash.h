// The 64-bit hash of a state: a hash of all its fields in a fixed order.
// Equal states give equal hashes on every little-endian machine. Not a cryptographic hash.
// A Hasher keeps no pointers to what it was given. It belongs to one thread; hash_of and hash_text are pure functions.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace volvox {

class Hasher {
 public:
  void add(std::uint64_t word) {
    state_ = std::rotl(state_ ^ mix(word + 0x9E3779B97F4A7C15ull * ++length_), 29) * 0xBF58476D1CE4E5B9ull + 1;
  }
  void add(const void* data, std::size_t size) {
    const char* bytes = static_cast<const char*>(data);
    if (size >= 64) add_lanes(bytes, size);
    while (size >= 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes, 8);
      add(word);
      bytes += 8;
      size -= 8;
    }
    if (size > 0) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes, size);
      add(word ^ (std::uint64_t{size} << 56));
    }
  }
  std::uint64_t value() const { return mix(state_ ^ length_); }

 private:
  // Four independent lanes: one lane would wait for the latency of its multiplications, and 5 MB of state
  // would take 3 ms.
  void add_lanes(const char*& bytes, std::size_t& size) {
    std::uint64_t lanes[4] = {state_, state_ + 0x9E3779B97F4A7C15ull, state_ ^ 0xD6E8FEB86659FD93ull, ~state_};
    for (; size >= 32; bytes += 32, size -= 32) {
      std::uint64_t words[4];
      std::memcpy(words, bytes, 32);
      for (int i = 0; i < 4; ++i)
        lanes[i] = std::rotl((lanes[i] ^ words[i]) * 0xBF58476D1CE4E5B9ull, 29) + 0x94D049BB133111EBull;
    }
    for (const std::uint64_t lane : lanes) add(lane);
  }
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93ull;
    return x ^ (x >> 32);
  }
  std::uint64_t state_ = 0x6A09E667F3BCC908ull;
  std::uint64_t length_ = 0;
};

inline std::uint64_t hash_of(std::string_view text) {
  Hasher hasher;
  hasher.add(text.data(), text.size());
  return hasher.value();
}

// Sixteen hexadecimal digits.
std::string hash_text(std::uint64_t hash);

}  // namespace volvox
