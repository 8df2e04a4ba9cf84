// Time-spread on-off keying, the modulation of terahertz nano-radios: a one is a pulse of
// some 100 fs, a zero is silence, and bits follow each other `spread` pulse lengths apart, so
// that several senders fit between each other's pulses (Jornet and Akyildiz 2014).
//
// Below the resolution of the clock: a Network takes bit_rate() and the time of whole frames;
// what happens to single bits is computed here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace volvox::net {

struct TimeSpreadKeying {
  std::int64_t pulse_fs = 100;  // length of a pulse, femtoseconds
  std::int64_t spread = 1000;   // beta: the time of a bit over that of a pulse

  std::int64_t bit_fs() const { return pulse_fs * spread; }
  double bit_rate() const { return 1e15 / static_cast<double>(bit_fs()); }
  double frame_ns(std::size_t bytes) const { return static_cast<double>(bit_fs()) * 8e-6 * static_cast<double>(bytes); }

  // Bits of a frame that another frame, which starts `offset_fs` later at the same receiver,
  // spoils: both have a bit there at the same time, and only a pulse of the other disturbs.
  std::size_t spoiled_bits(std::span<const std::byte> frame, std::span<const std::byte> other,
                           std::int64_t offset_fs) const;
};

}  // namespace volvox::net
