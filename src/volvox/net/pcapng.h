// The frame log as a file that Wireshark opens: pcapng with one capture interface for each
// kind of medium, 802.15.4 with FCS (link type 195) and SocketCAN (227).
//
// Radio frames get the MAC header that such a radio would send (data or acknowledgement
// frame, 16-bit addresses from the interface numbers, PAN 0x566f), bus frames one SocketCAN
// frame for each segment. Wires have no header anybody would recognise: their frames are
// written as link type USER0 (147), payload only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/net/frame_log.h"

namespace volvox::net {

inline constexpr std::uint16_t capture_pan = 0x566f;

// One 802.15.4 frame with its FCS. Interfaces are cut to 16 bits; `nothing` is broadcast.
std::vector<std::byte> ieee802154_data(std::uint32_t source, std::uint32_t destination, std::uint8_t sequence,
                                       bool wants_acknowledgement, std::span<const std::byte> payload);
std::vector<std::byte> ieee802154_acknowledgement(std::uint8_t sequence);
// The ITU-T CRC-16 of 802.15.4: x^16 + x^12 + x^5 + 1, least significant bit first, start 0.
std::uint16_t ieee802154_fcs(std::span<const std::byte> frame);

// One frame of up to eight bytes as SocketCAN sees it.
std::vector<std::byte> socketcan_frame(std::uint32_t identifier, std::span<const std::byte> data);

std::vector<std::byte> pcapng(const FrameLog& log);
Result<void> write_pcapng(const FrameLog& log, const std::string& path);

}  // namespace volvox::net
