// A log of the events of a network, for people, tests and Wireshark. Off by default, and not part of the
// state. Times are integer nanoseconds.
// Whoever sets a log owns it (Network::set_log). The thread that runs the network writes into it; the same run gives
// the same entries.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "volvox/net/types.h"

namespace volvox::net {

enum class LogKind : std::uint8_t {
  queued,          // entered the queue of its interface
  backoff,         // contention starts; detail: number of slots drawn
  frozen,          // the medium is busy; detail: slots left
  resumed,         // the medium is idle again; detail: slots left
  transmit_start,  // with the payload; detail: attempt, or on a CAN bus the number of bytes already transmitted
  transmit_end,
  acknowledgement,  // its start; detail: low 32 bits of the id of the acknowledged frame
  received,
  collided,  // at this receiver
  aborted,   // lost: this receiver was transmitting or began to transmit
  dropped,   // the queue was full
  cut,       // the interface was unplugged, left its bus or was switched off
  clashed,
  timed_out,  // no acknowledgement; detail: attempt
};
std::string_view name(LogKind kind);

struct LogEntry {
  Time time;
  LogKind kind = LogKind::queued;
  InterfaceKind medium = InterfaceKind::wire;
  std::uint32_t interface = nothing;  // where it happened
  std::uint64_t frame = 0;
  std::uint32_t detail = 0;
  std::uint32_t destination = nothing;
  std::uint32_t identifier = 0;  // CAN
  bool acknowledge = false;      // the sender requests an acknowledgement
  std::size_t payload_begin = 0, payload_size = 0;
};

class FrameLog {
 public:
  explicit FrameLog(std::size_t largest_entries = 10'000'000) : limit_(largest_entries) {}

  void add(LogEntry entry, std::span<const std::byte> payload = {}) {
    if (entries_.size() >= limit_) {
      ++left_out_;
      return;
    }
    entry.payload_begin = bytes_.size();
    entry.payload_size = payload.size();
    bytes_.insert(bytes_.end(), payload.begin(), payload.end());
    entries_.push_back(entry);
  }

  const std::vector<LogEntry>& entries() const { return entries_; }
  std::span<const std::byte> payload(const LogEntry& entry) const {
    return std::span(bytes_).subspan(entry.payload_begin, entry.payload_size);
  }
  // The number of entries that were dropped because the log was full.
  std::size_t left_out() const { return left_out_; }
  void clear() { entries_.clear(), bytes_.clear(), left_out_ = 0; }

 private:
  std::size_t limit_;
  std::vector<LogEntry> entries_;
  std::vector<std::byte> bytes_;
  std::size_t left_out_ = 0;
};

}  // namespace volvox::net
