// The length in bits and the priority of CAN 2.0 data frames.
// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "volvox/net/types.h"

namespace volvox::net {

inline constexpr std::uint32_t largest_standard_identifier = 0x7ff;
inline constexpr std::uint32_t largest_extended_identifier = 0x1fffffff;
inline constexpr std::size_t largest_can_data = 8;  // bytes
inline constexpr std::uint32_t interframe_space_bits = 3;

// From the start of frame to the end of frame, without the inter-frame space.
std::uint32_t can_frame_bits(std::uint32_t identifier, std::span<const std::byte> data, BitStuffing stuffing);

// Bits lost when two members send the same identifier: the header, the error flag and its delimiter.
std::uint32_t can_clash_bits(std::uint32_t identifier);

// Lower wins. A standard frame beats an extended one with the same first eleven bits,
// because its next bit (RTR) is dominant and the other's (SRR) is not.
std::uint32_t can_priority(std::uint32_t identifier);

}  // namespace volvox::net
