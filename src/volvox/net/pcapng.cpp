#include "volvox/net/pcapng.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/text.h"
#include "volvox/net/can_bits.h"

namespace volvox::net {
namespace {

constexpr std::uint32_t section_header = 0x0A0D0D0A, interface_description = 1, enhanced_packet = 6;
constexpr std::uint16_t link_802154_with_fcs = 195, link_socketcan = 227, link_user0 = 147;
constexpr std::uint16_t option_end = 0, option_name = 2, option_time_resolution = 9;
constexpr std::uint32_t capture_radio = 0, capture_bus = 1, capture_wire = 2;

// Writes little-endian numbers on every machine.
class Bytes {
 public:
  void u8(std::uint32_t value) { data_.push_back(std::byte(value & 0xff)); }
  void u16(std::uint32_t value) { u8(value), u8(value >> 8); }
  void u32(std::uint32_t value) { u16(value), u16(value >> 16); }
  void add(std::span<const std::byte> bytes) { data_.insert(data_.end(), bytes.begin(), bytes.end()); }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  void pad() { data_.resize((data_.size() + 3) / 4 * 4); }
  std::size_t size() const { return data_.size(); }
  std::vector<std::byte> take() { return std::move(data_); }
  const std::vector<std::byte>& get() const { return data_; }

 private:
  std::vector<std::byte> data_;
};

// A block is its type, its length, a body padded to 32-bit words, and its length again.
void add_block(Bytes& file, std::uint32_t type, Bytes body) {
  body.pad();
  const std::uint32_t length = narrow<std::uint32_t>(body.size() + 12);
  VOLVOX_ASSERT(length % 4 == 0);
  file.u32(type), file.u32(length), file.add(body.get()), file.u32(length);
}

void add_interface(Bytes& file, std::uint16_t link, std::string_view name) {
  Bytes body;
  body.u16(link), body.u16(0), body.u32(0);
  body.u16(option_name), body.u16(narrow<std::uint32_t>(name.size())), body.add(name), body.pad();
  body.u16(option_time_resolution), body.u16(1), body.u8(9), body.pad();  // nanoseconds
  body.u16(option_end), body.u16(0);
  add_block(file, interface_description, std::move(body));
}

void add_packet(Bytes& file, std::uint32_t capture, Time time, std::span<const std::byte> data) {
  VOLVOX_ASSERT(time >= Time{});
  Bytes body;
  const std::uint32_t size = narrow<std::uint32_t>(data.size());
  body.u32(capture), body.u32(high_word(time.ns)), body.u32(low_word(time.ns));
  body.u32(size), body.u32(size);
  body.add(data);
  add_block(file, enhanced_packet, std::move(body));
}

std::vector<std::byte> with_fcs(Bytes frame) {
  const std::uint16_t fcs = ieee802154_fcs(frame.get());
  frame.u16(fcs);
  return frame.take();
}

}  // namespace

std::uint16_t ieee802154_fcs(std::span<const std::byte> frame) {
  std::uint32_t crc = 0;
  for (const std::byte byte : frame) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0x8408 : crc >> 1;
  }
  return narrow<std::uint16_t>(crc);
}

std::vector<std::byte> ieee802154_data(std::uint32_t source, std::uint32_t destination, std::uint8_t sequence,
                                       bool wants_acknowledgement, std::span<const std::byte> payload,
                                       AddressSize addresses) {
  const bool extended = addresses == AddressSize::extended_64, broadcast = destination == nothing;
  constexpr std::uint32_t short_mode = 2, extended_mode = 3;
  const std::uint32_t to_mode = extended && !broadcast ? extended_mode : short_mode;
  const std::uint32_t from_mode = extended ? extended_mode : short_mode;
  const auto add_address = [](Bytes& bytes, std::uint32_t number, std::uint32_t mode) {
    if (mode == short_mode) return bytes.u16(number);
    bytes.u32(number), bytes.u32(high_word(extended_address_prefix));
  };
  Bytes frame;
  // Data frame, PAN id compression, version 2003.
  frame.u16(0x0041u | (wants_acknowledgement ? 0x20u : 0u) | to_mode << 10 | from_mode << 14);
  frame.u8(sequence);
  frame.u16(capture_pan);
  add_address(frame, broadcast ? 0xffff : destination, to_mode);
  add_address(frame, source, from_mode);
  frame.add(payload);
  return with_fcs(std::move(frame));
}

std::vector<std::byte> ieee802154_acknowledgement(std::uint8_t sequence) {
  Bytes frame;
  frame.u16(0x0002);
  frame.u8(sequence);
  return with_fcs(std::move(frame));
}

std::vector<std::byte> socketcan_frame(std::uint32_t identifier, std::span<const std::byte> data) {
  VOLVOX_ASSERT(data.size() <= largest_can_data && identifier >> 29 == 0);
  Bytes frame;
  const std::uint32_t word = identifier | (identifier > largest_standard_identifier ? 0x80000000u : 0u);
  for (int shift = 24; shift >= 0; shift -= 8) frame.u8(word >> shift);  // network byte order
  frame.u8(narrow<std::uint32_t>(data.size()));
  frame.u8(0), frame.u8(0), frame.u8(0);
  frame.add(data);
  return frame.take();
}

namespace {

void add_head(Bytes& file) {
  Bytes header;
  header.u32(0x1A2B3C4D), header.u16(1), header.u16(0), header.u32(0xffffffff), header.u32(0xffffffff);
  add_block(file, section_header, std::move(header));
  add_interface(file, link_802154_with_fcs, "radio");
  add_interface(file, link_socketcan, "bus");
  add_interface(file, link_user0, "wire");
}

void add_packets(Bytes& file, const FrameLog& log, AddressSize addresses) {
  for (const LogEntry& entry : log.entries()) {
    const std::uint8_t sequence = entry.frame & 0xff;
    if (entry.kind == LogKind::acknowledgement) {
      // It repeats the sequence number of the acknowledged frame, which the log has as detail.
      add_packet(file, capture_radio, entry.time, ieee802154_acknowledgement(entry.detail & 0xff));
    }
    if (entry.kind != LogKind::transmit_start) continue;
    const auto payload = log.payload(entry);
    if (entry.medium == InterfaceKind::radio) {
      add_packet(file, capture_radio, entry.time,
                 ieee802154_data(entry.interface, entry.destination, sequence, entry.acknowledge, payload, addresses));
    } else if (entry.medium == InterfaceKind::bus) {
      const auto rest = payload.subspan(std::min<std::size_t>(entry.detail, payload.size()));
      const auto segment = rest.first(std::min(rest.size(), largest_can_data));
      add_packet(file, capture_bus, entry.time, socketcan_frame(entry.identifier, segment));
    } else {
      add_packet(file, capture_wire, entry.time, payload);
    }
  }
}

Error not_written(const std::string& path) {
  return Error(fmt::format("the capture could not be written to {}", path),
               "check the folder and the space on the disk");
}

}  // namespace

std::vector<std::byte> pcapng(const FrameLog& log) {
  Bytes file;
  add_head(file);
  const bool fit = std::all_of(log.entries().begin(), log.entries().end(), [](const LogEntry& entry) {
    return entry.medium != InterfaceKind::radio || entry.interface <= largest_short_address;
  });
  add_packets(file, log, fit ? AddressSize::short_16 : AddressSize::extended_64);
  return file.take();
}

Result<void> write_pcapng(const FrameLog& log, const std::string& path) {
  const std::vector<std::byte> bytes = pcapng(log);
  if (!write_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}).ok()) return not_written(path);
  return {};
}

Result<std::unique_ptr<PcapngFile>> PcapngFile::create(const std::string& path, AddressSize addresses) {
  std::unique_ptr<PcapngFile> made(new PcapngFile(path));
  if (!made->file_)
    return Diagnostic{path, 0, "the capture cannot be written", "give --pcap a path that can be written"};
  made->addresses_ = addresses;
  Bytes head;
  add_head(head);
  made->pending_ = head.take();
  (void)made->flush();  // a disk that is full may have room later, but the capture has no head then: it says so
  return made;
}

void PcapngFile::add(const FrameLog& log) {
  if (!ok_) return;
  Bytes packets;
  add_packets(packets, log, addresses_);
  pending_.insert(pending_.end(), packets.get().begin(), packets.get().end());
  constexpr std::size_t most_pending = 1 << 20;
  constexpr double flush_interval = 0.25;  // s of wall time
  if (pending_.size() > most_pending || platform::monotonic_seconds() - last_flush_ > flush_interval) (void)flush();
}

Result<void> PcapngFile::flush() {
  last_flush_ = platform::monotonic_seconds();
  if (ok_ && !pending_.empty()) {
    file_.write(reinterpret_cast<const char*>(pending_.data()), std::ssize(pending_));
    file_.flush();
    ok_ = file_.good();
    if (ok_) {
      written_ += pending_.size();
    } else {
      std::error_code ignored;  // a pipe cannot be cut
      file_.close();
      std::filesystem::resize_file(path_, written_, ignored);  // half a packet
    }
    pending_.clear();
  }
  if (!ok_) return not_written(path_);
  return {};
}

}  // namespace volvox::net
