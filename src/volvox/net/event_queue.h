// The event queue of the network simulator.
//
// Events are ordered by (time, action, source, sequence). The source is the interface (or the
// node, for timers) that scheduled the event, and the sequence counts that source's own
// events, so the order depends only on the simulated history: there is no global counter, and no
// pointer or thread takes part. Events are not removed: a source remembers the sequence of the
// event that it waits for; an event with another sequence is stale and is ignored when it is popped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/base/time.h"

namespace volvox::net {

// The order of actions at one instant: frames end, then receivers are called, then transmissions
// start, then receivers detect them. A backoff that expires at t therefore transmits even if
// another transmission starts at t.
enum class Action : std::uint8_t {
  radio_frame_end,
  wire_frame_end,
  wire_arrival,
  bus_frame_end,
  bus_idle,
  callbacks,  // deliveries and reports of this instant, as one batch; never in the queue
  timer,
  deferred_send,
  acknowledgement_timeout,
  bus_arbitration,
  acknowledgement_start,
  backoff_expiry,
  reception_start,  // of all transmissions that started at this instant; never in the queue
};

struct Event {
  static constexpr int action_bits = 4, source_bits = 28;
  static constexpr std::uint32_t largest_source = (1u << source_bits) - 1;

  std::int64_t time_ns = 0;
  std::uint64_t key = 0;  // action, source and sequence, from the most significant bit

  static Event make(Time at, Action action, std::uint32_t source, std::uint32_t sequence) {
    VOLVOX_ASSERT(at.ns >= 0);
    VOLVOX_ASSERT(action != Action::callbacks && action != Action::reception_start);
    VOLVOX_ASSERT(source <= largest_source);
    return {at.ns, std::uint64_t(action) << 60 | std::uint64_t(source) << 32 | sequence};
  }
  Time time() const { return {time_ns}; }
  Action action() const { return static_cast<Action>(key >> 60); }
  std::uint32_t source() const { return high_word(key) & largest_source; }
  std::uint32_t sequence() const { return low_word(key); }

  // Bitwise, not short-circuit: the outcome is random, so a branch would be mispredicted half of
  // the time.
  friend bool operator<(const Event& a, const Event& b) {
    return (a.time_ns < b.time_ns) | ((a.time_ns == b.time_ns) & (a.key < b.key));
  }
  friend bool operator==(const Event&, const Event&) = default;

  template <class Archive>
  void archive(Archive& ar) {
    ar("time", time_ns);
    ar("key", key);
  }
};
static_assert(sizeof(Event) == 16);

// A heap with four children per node: half as deep as a binary heap, and the four children share
// a cache line.
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  const Event& top() const { return heap_.front(); }

  void push(const Event& event) {
    std::size_t place = heap_.size();
    heap_.push_back(event);
    while (place > 0) {
      const std::size_t parent = (place - 1) / 4;
      if (!(event < heap_[parent])) break;
      heap_[place] = heap_[parent];
      place = parent;
    }
    heap_[place] = event;
  }

  Event pop() {
    VOLVOX_ASSERT(!heap_.empty());
    const Event first = heap_.front();
    const Event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    VOLVOX_ASSERT(heap_.empty() || !(top() < first));
    return first;
  }

  // For snapshots.
  std::vector<Event> sorted() const {
    std::vector<Event> events = heap_;
    std::sort(events.begin(), events.end());
    return events;
  }
  void assign_sorted(std::vector<Event> events) { heap_ = std::move(events); }  // a sorted array is a heap

 private:
  // Fills the empty root with `event`.
  void sink(const Event& event) {
    VOLVOX_ASSERT(!heap_.empty());
    const std::size_t count = heap_.size();
    std::size_t place = 0;
    for (;;) {
      const std::size_t first = 4 * place + 1;
      if (first >= count) break;
      std::size_t least = first;
      const std::size_t end = std::min(first + 4, count);
      for (std::size_t child = first + 1; child < end; ++child) least = heap_[child] < heap_[least] ? child : least;
      if (!(heap_[least] < event)) break;
      heap_[place] = heap_[least];
      place = least;
    }
    heap_[place] = event;
  }

  std::vector<Event> heap_;
};

}  // namespace volvox::net
