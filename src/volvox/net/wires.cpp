#include "volvox/net/wires.h"

#include <algorithm>

#include "volvox/base/index.h"

namespace volvox::net {

void Wires::add(std::uint32_t interface, const WireOptions& options) {
  VOLVOX_ASSERT(interface < core_.interfaces.size() && core_.interfaces[interface].kind == InterfaceKind::wire);
  End end;
  end.interface = interface;
  end.profile = profiles_.intern(options);
  end.capacity_left = options.capacity;
  if (options.timing == Timing::delayed) delayed_.push_back(narrow<std::uint32_t>(ends_.size()));
  core_.interfaces[interface].local = narrow<std::uint32_t>(ends_.size());
  ends_.push_back(end);
}

void Wires::plug(std::uint32_t a, std::uint32_t b) {
  VOLVOX_ASSERT(a != b);
  VOLVOX_ASSERT(end_of(a).peer == nothing && end_of(b).peer == nothing);
  end_of(a).peer = b;
  end_of(b).peer = a;
}

void Wires::unplug(std::uint32_t interface) {
  End& end = end_of(interface);
  if (end.peer == nothing) return;
  End& other = end_of(end.peer);
  VOLVOX_ASSERT(other.peer == interface);
  lose_all(end);
  lose_all(other);
  end.peer = other.peer = nothing;
}

void Wires::lose(std::uint32_t frame, std::uint32_t interface) {
  ++core_.counters.unplugged;
  core_.record(LogKind::cut, interface, frame);
  core_.report(frame, Fate::unplugged);
}

void Wires::lose_all(End& end) {
  const bool delayed = profiles_[end.profile].timing == Timing::delayed;
  // With delayed timing, frames in `flying` are already transmitted; they are still delivered.
  while (!delayed && !end.flying.empty()) lose(core_.frames.pop(end.flying), end.interface);
  if (end.sending != nothing) lose(end.sending, end.interface);
  end.sending = end.sequence = nothing;
  Fifo& queue = core_.interfaces[end.interface].queue;
  while (!queue.empty()) lose(core_.frames.pop(queue), end.interface);
}

void Wires::report_sent(std::uint32_t frame) {
  if (!core_.frames[frame].report) return;
  core_.frames.retain(frame);
  core_.report(frame, Fate::sent);
}

void Wires::frame_queued(std::uint32_t interface) {
  End& end = end_of(interface);
  if (profiles_[end.profile].timing == Timing::delayed) move_bytes(end);
  else if (end.sending == nothing) start_next(end);
}

void Wires::start_next(End& end) {
  VOLVOX_ASSERT(end.sending == nothing && end.sequence == nothing);
  Fifo& queue = core_.interfaces[end.interface].queue;
  if (queue.empty()) return;
  const WireOptions& options = profiles_[end.profile];
  end.sending = core_.frames.pop(queue);
  ++core_.counters.transmissions;
  core_.record(LogKind::transmit_start, end.interface, end.sending);
  const double bits = 8.0 * (core_.frames[end.sending].size + options.overhead);
  end.sequence =
      core_.schedule(core_.now + transmission_time(bits, options.bit_rate), Action::wire_frame_end, end.interface);
}

void Wires::frame_end(std::uint32_t interface, std::uint32_t sequence) {
  End& end = end_of(interface);
  if (end.sequence != sequence) return;
  ++core_.counters.events;
  const Time delay = profiles_[end.profile].delay;
  const std::uint32_t frame = end.sending;
  VOLVOX_ASSERT(frame != nothing && end.peer != nothing);
  end.sending = end.sequence = nothing;
  core_.record(LogKind::transmit_end, interface, frame);
  report_sent(frame);
  if (delay.ns == 0) {
    core_.deliver(frame, end.peer);
  } else {
    core_.frames[frame].sequence = core_.schedule(core_.now + delay, Action::wire_arrival, interface);
    core_.frames.push(end.flying, frame);
  }
  start_next(end);
}

void Wires::arrival(std::uint32_t interface, std::uint32_t sequence) {
  End& end = end_of(interface);
  if (end.flying.empty() || core_.frames[end.flying.head].sequence != sequence) return;
  ++core_.counters.events;
  core_.deliver(core_.frames.pop(end.flying), end.peer);
}

void Wires::move_bytes(End& end) {
  VOLVOX_ASSERT(profiles_[end.profile].timing == Timing::delayed);
  const WireOptions& options = profiles_[end.profile];
  Fifo& queue = core_.interfaces[end.interface].queue;
  while (!queue.empty() && end.capacity_left > 0) {
    Frame& frame = core_.frames[queue.head];
    VOLVOX_ASSERT(frame.moved <= frame.size + options.overhead);
    if (frame.moved == 0) {
      ++core_.counters.transmissions;
      core_.record(LogKind::transmit_start, end.interface, queue.head);
    }
    const std::uint32_t step = std::min(frame.size + options.overhead - frame.moved, end.capacity_left);
    frame.moved += step;
    end.capacity_left -= step;
    if (frame.moved < frame.size + options.overhead) break;
    // Delivered to the current peer, even if the wire is plugged elsewhere by then.
    frame.destination = end.peer;
    core_.record(LogKind::transmit_end, end.interface, queue.head);
    report_sent(queue.head);
    core_.frames.push(end.flying, core_.frames.pop(queue));
  }
}

bool Wires::waits_for_tick() const {
  return std::any_of(delayed_.begin(), delayed_.end(), [&](std::uint32_t local) {
    const End& end = ends_[local];
    return !end.flying.empty() || !core_.interfaces[end.interface].queue.empty();
  });
}

void Wires::begin_tick() {
  for (const std::uint32_t local : delayed_) {
    End& end = ends_[local];
    while (!end.flying.empty()) {
      const std::uint32_t frame = core_.frames.pop(end.flying);
      core_.deliver(frame, core_.frames[frame].destination);
    }
    end.capacity_left = profiles_[end.profile].capacity;
    move_bytes(end);
  }
}

bool Wires::waits_for(const Event& event) const {
  const End& end = end_of(event.source());
  if (event.action() == Action::wire_frame_end) return end.sequence == event.sequence();
  for (std::uint32_t frame = end.flying.head; frame != nothing; frame = core_.frames[frame].next)
    if (core_.frames[frame].sequence == event.sequence()) return true;
  return false;
}

void Wires::archive(Archive& ar) {
  for (End& end : ends_) {
    ar("peer", end.peer), ar("sequence", end.sequence), ar("capacity", end.capacity_left);
    if (ar.loading() && end.peer != nothing &&
        (end.peer >= core_.interfaces.size() || core_.interfaces[end.peer].kind != InterfaceKind::wire)) {
      ar.fail("the snapshot plugs a wire into an interface that is not a wire");
      end.peer = nothing;
    }
    core_.frames.archive_frame(ar, end.sending);
    core_.frames.archive_fifo(ar, end.flying);
  }
  for (End& end : ends_) {
    if (!ar.loading() || end.peer == nothing || end_of(end.peer).peer == end.interface) continue;
    ar.fail("the snapshot plugs a wire into a wire that is plugged elsewhere");
    end.peer = nothing;
  }
}

}  // namespace volvox::net
