#include "volvox/net/can_bits.h"

#include "volvox/base/check.h"
#include "volvox/base/index.h"

namespace volvox::net {
namespace {

// Takes the part of a frame that is subject to bit stuffing; counts the stuff bits and computes the CRC-15.
class BitStream {
 public:
  void add(std::uint32_t value, int bits) {
    VOLVOX_ASSERT(bits >= 1 && bits < 32 && value >> bits == 0);
    for (int i = bits - 1; i >= 0; --i) add_bit(value >> i & 1);
  }
  std::uint32_t crc() const { return crc_; }
  std::uint32_t stuffed() const { return stuffed_; }

 private:
  void add_bit(std::uint32_t bit) {
    const std::uint32_t feedback = bit ^ (crc_ >> 14 & 1);
    crc_ = (crc_ << 1 & 0x7fff) ^ (feedback != 0 ? 0x4599 : 0);
    run_ = bit == last_ ? run_ + 1 : 1;
    last_ = bit;
    if (run_ < 5) return;
    // Five equal bits are followed by a stuff bit of the other value, which starts a new run.
    ++stuffed_;
    last_ = 1 - bit;
    run_ = 1;
  }

  std::uint32_t crc_ = 0, last_ = 2, run_ = 0, stuffed_ = 0;
};

std::uint32_t exact_stuff_bits(std::uint32_t identifier, std::span<const std::byte> data) {
  BitStream stream;
  stream.add(0, 1);  // start of frame
  if (identifier <= largest_standard_identifier) {
    stream.add(identifier, 11);
    stream.add(0, 3);  // RTR, IDE, r0
  } else {
    stream.add(identifier >> 18, 11);
    stream.add(3, 2);  // SRR, IDE
    stream.add(identifier & 0x3ffff, 18);
    stream.add(0, 3);  // RTR, r1, r0
  }
  stream.add(narrow<std::uint32_t>(data.size()), 4);
  for (const std::byte byte : data) stream.add(std::to_integer<std::uint32_t>(byte), 8);
  stream.add(stream.crc(), 15);
  return stream.stuffed();
}

}  // namespace

std::uint32_t can_frame_bits(std::uint32_t identifier, std::span<const std::byte> data, BitStuffing stuffing) {
  VOLVOX_ASSERT(data.size() <= 8 && identifier >> 29 == 0);
  // Header, data and CRC are subject to stuffing. CRC delimiter, ACK slot, ACK delimiter and EOF are not.
  const bool extended = identifier > largest_standard_identifier;
  const std::uint32_t open = (extended ? 54u : 34u) + 8u * narrow<std::uint32_t>(data.size());
  const std::uint32_t closing = 10;
  switch (stuffing) {
    case BitStuffing::none: return open + closing;
    case BitStuffing::worst: return open + closing + (open - 1) / 4;
    case BitStuffing::exact: return open + closing + exact_stuff_bits(identifier, data);
  }
  return open + closing;
}

std::uint32_t can_clash_bits(std::uint32_t identifier) {
  const std::uint32_t header = identifier > largest_standard_identifier ? 39 : 19;
  return header + 6 + 8;
}

std::uint32_t can_priority(std::uint32_t identifier) {
  VOLVOX_ASSERT(identifier >> 29 == 0);
  if (identifier <= largest_standard_identifier) return identifier << 19;
  return (identifier >> 18) << 19 | 1u << 18 | (identifier & 0x3ffff);
}

}  // namespace volvox::net
