// Writes a frame log as pcapng for Wireshark, with one capture interface for each kind of medium:
// 802.15.4 with FCS (link type 195) for radios, SocketCAN (227) for buses, USER0 (147) for wires.
//
// Radio frames get an 802.15.4 MAC header (data or acknowledgement frame, addresses from the interface
// numbers, PAN 0x566f). Bus frames become one SocketCAN frame for each segment. Addresses have 16 bits; if
// the number of one radio does not fit, all addresses of the capture are 64-bit extended addresses:
// 02:56:6f:6c and the number. Frames of wires have no standard header and are written as payload only.
// Times are those of the simulation, in ns. Not thread-safe; the same log gives the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/net/frame_log.h"

namespace volvox::net {

inline constexpr std::uint16_t capture_pan = 0x566f;

enum class AddressSize : std::uint8_t { short_16, extended_64 };
// 0xfffe means "no address" and 0xffff is broadcast.
inline constexpr std::uint32_t largest_short_address = 0xfffd;
inline constexpr std::uint64_t extended_address_prefix = 0x02566f6c00000000;  // locally administered

// One 802.15.4 frame with its FCS. The destination `nothing` is broadcast, which is always 0xffff.
std::vector<std::byte> ieee802154_data(std::uint32_t source, std::uint32_t destination, std::uint8_t sequence,
                                       bool wants_acknowledgement, std::span<const std::byte> payload,
                                       AddressSize addresses = AddressSize::short_16);
std::vector<std::byte> ieee802154_acknowledgement(std::uint8_t sequence);
// The ITU-T CRC-16 of 802.15.4: x^16 + x^12 + x^5 + 1, least significant bit first, initial value 0.
std::uint16_t ieee802154_fcs(std::span<const std::byte> frame);

// One SocketCAN frame with up to eight bytes of data.
std::vector<std::byte> socketcan_frame(std::uint32_t identifier, std::span<const std::byte> data);

std::vector<std::byte> pcapng(const FrameLog& log);
Result<void> write_pcapng(const FrameLog& log, const std::string& path);

// A capture that grows during a run, in whole packets: memory stays small, and a killed run leaves a capture up to
// then.
class PcapngFile {
 public:
  // Replaces what is there. An error means that the file cannot be made.
  static Result<std::unique_ptr<PcapngFile>> create(const std::string& path, AddressSize addresses);

  // Adds the frames of a log. Once the file could not be written, nothing more is added to it.
  void add(const FrameLog& log);
  // Writes what has been added. The error of this or any earlier attempt: the capture ends before it.
  Result<void> flush();
  bool ok() const { return ok_; }

 private:
  explicit PcapngFile(const std::string& path) : path_(path), file_(path, std::ios::binary) {}

  std::string path_;
  std::ofstream file_;
  AddressSize addresses_ = AddressSize::short_16;
  std::vector<std::byte> pending_;
  std::uintmax_t written_ = 0;  // bytes, all of them whole packets
  double last_flush_ = 0;
  bool ok_ = true;
};

}  // namespace volvox::net
