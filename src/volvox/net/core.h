// The state that wires, buses and radios share: the clock, events, frames and pending callbacks. Internal.
// Owned by the network; one thread. Times are integer nanoseconds, powers whole units, so that sums are exact.
#pragma once

#include <string_view>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/base/check.h"
#include "volvox/net/event_queue.h"
#include "volvox/net/frame_log.h"
#include "volvox/net/frame_store.h"
#include "volvox/net/power.h"
#include "volvox/net/types.h"

namespace volvox::net {

struct Interface {
  std::uint32_t node = nothing;
  std::uint32_t local = nothing;         // index among the interfaces of its kind
  std::uint32_t next_of_node = nothing;  // linked list of the node's interfaces
  Fifo queue;
  std::uint32_t frames_made = 0;
  std::uint32_t events_made = 0;
  InterfaceKind kind = InterfaceKind::wire;
};

// A pending call of the listener at this instant.
struct Callback {
  std::uint32_t interface = nothing;  // the node of this interface is called
  std::uint32_t frame = nothing;      // owns a reference
  PowerUnits power = 0;
  Fate fate = Fate::sent;
  bool report = false;  // a send report; otherwise a delivery
};

struct Core {
  Time now;
  EventQueue events;
  FrameStore frames;
  std::vector<Interface> interfaces;
  std::vector<Callback> callbacks;  // due at `now`, after the frames that end at `now`
  Counters counters;
  FrameLog* log = nullptr;
  std::uint64_t seed = 1;

  // Returns the sequence number by which the source later tells a pending event from a stale one.
  std::uint32_t schedule(Time at, Action action, std::uint32_t interface) {
    VOLVOX_ASSERT(interface < interfaces.size());
    VOLVOX_ASSERT(at >= now);
    const std::uint32_t sequence = interfaces[interface].events_made++;
    events.push(Event::make(at, action, interface, sequence));
    return sequence;
  }

  // deliver and report take over one reference to the frame.
  void deliver(std::uint32_t frame, std::uint32_t interface, PowerUnits power = 0) {
    VOLVOX_ASSERT(interface < interfaces.size());
    VOLVOX_ASSERT(frames[frame].references > 0);
    VOLVOX_ASSERT(power >= 0);
    ++counters.deliveries;
    record(LogKind::received, interface, frame);
    callbacks.push_back({interface, frame, power, Fate::sent, false});
  }
  void report(std::uint32_t frame, Fate fate) {
    VOLVOX_ASSERT(frames[frame].references > 0);
    VOLVOX_ASSERT(frames[frame].source < interfaces.size());
    if (fate == Fate::sent && !frames[frame].report) return frames.release(frame);
    callbacks.push_back({frames[frame].source, frame, 0, fate, true});
  }

  void record(LogKind kind, std::uint32_t interface, std::uint32_t frame, std::uint32_t detail = 0) {
    if (log != nullptr) [[unlikely]]
      record_in_log(kind, interface, frame, detail);
  }

 private:
  void record_in_log(LogKind kind, std::uint32_t interface, std::uint32_t frame, std::uint32_t detail);
};

// Stores a bool as a byte: a damaged snapshot may contain a byte that is neither 0 nor 1.
inline void archive_flag(Archive& ar, bool& flag) {
  std::uint8_t byte = flag ? 1 : 0;
  ar("flag", byte);
  if (ar.loading()) flag = byte != 0;
}

inline constexpr double longest_seconds = 1e9;                 // the longest single transmission
inline constexpr Time end_of_time{4'000'000'000'000'000'000};  // 126 years; adding durations to it cannot overflow

// Rounded to the nearest nanosecond.
inline Time transmission_time(double bits, double bit_rate) {
  VOLVOX_ASSERT(bits >= 0 && bit_rate > 0);
  const double seconds = bits / bit_rate;
  return Time::seconds(seconds < longest_seconds ? seconds : longest_seconds);
}

}  // namespace volvox::net
