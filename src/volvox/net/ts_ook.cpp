#include "volvox/net/ts_ook.h"

#include <algorithm>

#include "volvox/base/check.h"

namespace volvox::net {
namespace {

bool bit(std::span<const std::byte> bytes, std::int64_t index) {
  VOLVOX_ASSERT(index >= 0 && index / 8 < std::ssize(bytes));
  const auto byte = std::to_integer<unsigned>(bytes[index / 8]);
  return (byte >> (7 - index % 8) & 1) != 0;
}

}  // namespace

std::size_t TimeSpreadKeying::spoiled_bits(std::span<const std::byte> frame, std::span<const std::byte> other,
                                           std::int64_t offset_fs) const {
  std::vector<std::uint32_t> bits;
  spoil(frame, other, offset_fs, bits);
  return bits.size();
}

void TimeSpreadKeying::spoil(std::span<const std::byte> frame, std::span<const std::byte> other, std::int64_t offset_fs,
                             std::vector<std::uint32_t>& spoiled) const {
  const std::int64_t bits = frame.size() * 8;
  const std::int64_t other_bits = other.size() * 8;
  const std::size_t before = spoiled.size();
  for (std::int64_t k = 0; k < other_bits; ++k) {
    if (!bit(other, k)) continue;
    // The pulse covers [start, start + pulse). It overlaps the window of bit i of the frame, [i T, i T + pulse), for at
    // most one i, or, where pulses follow without a gap (spread 1), for two: then those beside the nearest count, too.
    const std::int64_t start = offset_fs + k * bit_fs();
    const std::int64_t nearest = (start + bit_fs() / 2) / bit_fs() - (start + bit_fs() / 2 < 0 ? 1 : 0);
    for (std::int64_t i = std::max<std::int64_t>(nearest - 1, 0); i <= std::min(nearest + 1, bits - 1); ++i) {
      const std::int64_t gap = start - i * bit_fs();
      const bool overlaps = gap > -pulse_fs && gap < pulse_fs;
      // A pulse over a one changes nothing; a pulse over a zero makes it a one.
      const bool known = spoiled.size() > before && spoiled.back() >= i;
      if (overlaps && !known && !bit(frame, i)) spoiled.push_back(narrow<std::uint32_t>(i));
    }
  }
}

}  // namespace volvox::net
