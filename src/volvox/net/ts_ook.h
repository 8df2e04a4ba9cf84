// Time-spread on-off keying (TS-OOK), the modulation of terahertz nano-radios: a one is a pulse of about
// 100 fs, a zero is silence. Bits are `spread` pulse lengths apart, so that the pulses of several senders
// interleave (Jornet and Akyildiz 2014).
//
// Pulses are shorter than the resolution of the network's clock: it has the duration of whole frames, and collisions of
// single bits are computed here, in femtoseconds. Pure functions of integers, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/index.h"

namespace volvox::net {

struct TimeSpreadKeying {
  std::int64_t pulse_fs = 100;  // length of a pulse, femtoseconds
  std::int64_t spread = 1000;   // beta: duration of a bit over duration of a pulse

  std::int64_t bit_fs() const { return pulse_fs * spread; }
  double bit_rate() const { return 1e15 / real(bit_fs()); }
  double frame_ns(std::size_t bytes) const { return real(bit_fs()) * 8e-6 * real(bytes); }

  // The number of bits of `frame` that are destroyed by `other`, which starts `offset_fs` later at the same
  // receiver. A zero is destroyed if a pulse of the other frame overlaps it.
  std::size_t spoiled_bits(std::span<const std::byte> frame, std::span<const std::byte> other,
                           std::int64_t offset_fs) const;
  // Appends their numbers, in the order of the other frame's pulses.
  void spoil(std::span<const std::byte> frame, std::span<const std::byte> other, std::int64_t offset_fs,
             std::vector<std::uint32_t>& bits) const;
};

}  // namespace volvox::net
