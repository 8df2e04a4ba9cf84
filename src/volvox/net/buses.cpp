#include "volvox/net/buses.h"

#include <algorithm>

#include "volvox/base/index.h"
#include "volvox/net/can_bits.h"

namespace volvox::net {
namespace {

constexpr std::uint32_t highest_priority_value = ~0u;

// A start bit, nine bits for each byte (eight and an acknowledgement), a stop bit. The address is a byte, too.
double serial_bits(std::uint32_t bytes) { return 2.0 + 9.0 * (1.0 + bytes); }

}  // namespace

std::uint32_t Buses::add_bus(const BusOptions& options) {
  const std::uint32_t index = narrow<std::uint32_t>(buses_.size());
  Bus& bus = buses_.emplace_back();
  bus.options = options;
  bus.index = index;
  return index;
}

void Buses::add(std::uint32_t interface) {
  core_.interfaces[interface].local = narrow<std::uint32_t>(ports_.size());
  ports_.emplace_back();
}

void Buses::join(std::uint32_t interface, std::uint32_t bus, bool master) {
  VOLVOX_ASSERT(bus < buses_.size());
  VOLVOX_ASSERT(ports_[core_.interfaces[interface].local].bus == nothing);
  VOLVOX_ASSERT(std::is_sorted(buses_[bus].members.begin(), buses_[bus].members.end()));
  ports_[core_.interfaces[interface].local].bus = bus;
  auto& members = buses_[bus].members;
  members.insert(std::upper_bound(members.begin(), members.end(), interface), interface);
  if (master) buses_[bus].master = interface;
}

void Buses::lose(std::uint32_t frame, std::uint32_t interface) {
  ++core_.counters.unplugged;
  core_.record(LogKind::cut, interface, frame);
  core_.report(frame, Fate::unplugged);
}

void Buses::leave(std::uint32_t interface) {
  Port& port = ports_[core_.interfaces[interface].local];
  if (port.bus == nothing) return;
  Bus& bus = buses_[port.bus];
  // The bus stays busy until the end of the interrupted frame, which no member receives.
  if (bus.sender == interface || (bus.sender != nothing && bus.master == interface)) {
    if (bus.sending != nothing) core_.frames.release(bus.sending);
    bus.sender = bus.sending = nothing;
  }
  while (!queue(interface).empty()) lose(core_.frames.pop(queue(interface)), interface);
  std::erase(bus.members, interface);
  if (bus.master == interface) bus.master = nothing;
  port.bus = nothing;
}

void Buses::frame_queued(std::uint32_t interface) {
  Bus& bus = bus_at(interface);
  const bool may_start = bus.options.kind == BusKind::can || bus.master == interface;
  if (may_start && !bus.busy) contend(bus);
}

// Arbitration is an event after the callbacks, so that all members with a frame to send at this instant take part.
void Buses::contend(Bus& bus) {
  if (bus.arbitration == nothing) bus.arbitration = schedule(bus, core_.now, Action::bus_arbitration);
}

std::uint32_t Buses::schedule(Bus& bus, Time at, Action action) {
  VOLVOX_ASSERT(at >= core_.now);
  core_.events.push(Event::make(at, action, bus.index, bus.events_made));
  return bus.events_made++;
}

void Buses::arbitrate(std::uint32_t index, std::uint32_t sequence) {
  Bus& bus = buses_[index];
  if (bus.arbitration != sequence) return;
  ++core_.counters.events;
  bus.arbitration = nothing;
  if (bus.options.kind == BusKind::can) start_can(bus);
  else start_serial(bus);
}

void Buses::occupy(Bus& bus, double bits_to_end, double bits_to_idle) {
  VOLVOX_ASSERT(!bus.busy && bus.end == nothing && bus.idle == nothing);
  VOLVOX_ASSERT(bits_to_end <= bits_to_idle);
  bus.busy = true;
  // At least a nanosecond, so that a bus cannot repeat itself forever at one instant.
  const Time end = std::max(transmission_time(bits_to_end, bus.options.bit_rate), Time{1});
  const Time idle = std::max(transmission_time(bits_to_idle, bus.options.bit_rate), end);
  bus.end = schedule(bus, core_.now + end, Action::bus_frame_end);
  bus.idle = schedule(bus, core_.now + idle, Action::bus_idle);
}

void Buses::start_can(Bus& bus) {
  VOLVOX_ASSERT(!bus.busy && bus.sending == nothing);
  VOLVOX_ASSERT(bus.options.kind == BusKind::can);
  std::uint32_t best = highest_priority_value, winner = nothing, contenders = 0;
  for (const std::uint32_t member : bus.members) {
    if (queue(member).empty()) continue;
    const std::uint32_t priority = can_priority(core_.frames[queue(member).head].identifier);
    if (priority < best) best = priority, winner = member, contenders = 1;
    else if (priority == best) ++contenders;
  }
  if (winner == nothing) return;
  const std::uint32_t head = queue(winner).head;
  Frame& frame = core_.frames[head];
  if (contenders > 1) {
    clash(bus, frame.identifier);
    return;
  }
  bus.sender = winner;
  bus.sending = head;
  core_.frames.retain(head);
  ++core_.counters.transmissions;
  const auto data = core_.frames.payload(head).subspan(frame.moved);
  const auto segment = data.first(std::min(data.size(), largest_can_data));
  core_.record(LogKind::transmit_start, winner, head, frame.moved);
  const double bits = can_frame_bits(frame.identifier, segment, bus.options.stuffing);
  occupy(bus, bits, bits + interframe_space_bits);
}

void Buses::clash(Bus& bus, std::uint32_t identifier) {
  for (const std::uint32_t member : bus.members) {
    if (queue(member).empty() || core_.frames[queue(member).head].identifier != identifier) continue;
    const std::uint32_t frame = core_.frames.pop(queue(member));
    ++core_.counters.clashes;
    core_.record(LogKind::clashed, member, frame);
    core_.report(frame, Fate::clashed);
  }
  const double bits = can_clash_bits(identifier);
  occupy(bus, bits, bits + interframe_space_bits);
}

void Buses::start_serial(Bus& bus) {
  VOLVOX_ASSERT(!bus.busy && bus.sending == nothing);
  VOLVOX_ASSERT(bus.options.kind == BusKind::serial);
  if (bus.master == nothing || queue(bus.master).empty()) return;
  const std::uint32_t head = queue(bus.master).head;
  const Frame& request = core_.frames[head];
  const bool to_all = request.destination == nothing;
  const bool answers = to_all || std::binary_search(bus.members.begin(), bus.members.end(), request.destination);
  ++core_.counters.transmissions;
  bus.sender = bus.master;
  bus.sending = head;
  std::uint32_t bytes = request.size;
  if (request.poll && answers) {
    const Fifo& waiting = queue(request.destination);
    if (waiting.empty()) {
      bytes = 1;  // the idle bus reads as one byte of ones
    } else {
      bus.sender = request.destination;
      bus.sending = waiting.head;
      bytes = core_.frames[waiting.head].size;
    }
  }
  core_.frames.retain(bus.sending);
  core_.record(LogKind::transmit_start, bus.sender, bus.sending);
  const double bits = answers ? serial_bits(bytes) : serial_bits(0);
  occupy(bus, bits, bits);
}

// Delivers to the destination, or to all members except the sender.
void Buses::hand_out(Bus& bus, std::uint32_t frame, std::uint32_t sender) {
  VOLVOX_ASSERT(std::is_sorted(bus.members.begin(), bus.members.end()));
  const std::uint32_t destination = core_.frames[frame].destination;
  for (const std::uint32_t member : bus.members) {
    if (member == sender) continue;
    if (destination != nothing && destination != member) {
      ++core_.counters.overheard;
      continue;
    }
    core_.frames.retain(frame);
    core_.deliver(frame, member);
  }
}

void Buses::frame_end(std::uint32_t index, std::uint32_t sequence) {
  Bus& bus = buses_[index];
  if (bus.end != sequence) return;
  ++core_.counters.events;
  bus.end = nothing;
  if (bus.sending == nothing) return;  // there was a clash, or the sender left
  if (bus.options.kind == BusKind::can) finish_can(bus);
  else finish_serial(bus);
  core_.frames.release(bus.sending);
  bus.sender = bus.sending = nothing;
}

void Buses::finish_can(Bus& bus) {
  VOLVOX_ASSERT(bus.sender != nothing && bus.sending == queue(bus.sender).head);
  Frame& frame = core_.frames[bus.sending];
  const std::uint32_t left = frame.size - frame.moved;
  VOLVOX_ASSERT(frame.moved <= frame.size);
  frame.moved += std::min<std::uint32_t>(left, largest_can_data);
  core_.record(LogKind::transmit_end, bus.sender, bus.sending);
  if (frame.moved < frame.size) return;  // the remaining bytes contend again
  hand_out(bus, bus.sending, bus.sender);
  core_.report(core_.frames.pop(queue(bus.sender)), Fate::sent);
}

void Buses::finish_serial(Bus& bus) {
  VOLVOX_ASSERT(bus.master != nothing && !queue(bus.master).empty());
  const std::uint32_t request = core_.frames.pop(queue(bus.master));
  const Frame& asked = core_.frames[request];
  core_.record(LogKind::transmit_end, bus.sender, bus.sending);
  const bool present =
      asked.destination == nothing || std::binary_search(bus.members.begin(), bus.members.end(), asked.destination);
  if (!present) {
    ++core_.counters.unanswered;
    core_.report(request, Fate::unanswered);
  } else if (!asked.poll) {
    hand_out(bus, request, bus.master);
    core_.report(request, Fate::sent);
  } else {
    if (bus.sender != bus.master) {
      const std::uint32_t answer = core_.frames.pop(queue(bus.sender));
      core_.frames.retain(answer);
      core_.deliver(answer, bus.master);
      core_.report(answer, Fate::sent);
    }
    core_.frames.release(request);
  }
}

void Buses::idle(std::uint32_t index, std::uint32_t sequence) {
  Bus& bus = buses_[index];
  if (bus.idle != sequence) return;
  ++core_.counters.events;
  bus.idle = nothing;
  bus.busy = false;
  const auto waits = [&](std::uint32_t member) { return !queue(member).empty(); };
  const bool wanted = bus.options.kind == BusKind::serial ? bus.master != nothing && waits(bus.master)
                                                          : std::any_of(bus.members.begin(), bus.members.end(), waits);
  if (wanted) contend(bus);
}

bool Buses::waits_for(const Event& event) const {
  const Bus& bus = buses_[event.source()];
  switch (event.action()) {
    case Action::bus_arbitration: return bus.arbitration == event.sequence();
    case Action::bus_frame_end: return bus.end == event.sequence();
    default: return bus.idle == event.sequence();
  }
}

void Buses::archive(Archive& ar) {
  for (Bus& bus : buses_) {
    ar("members", bus.members), ar("master", bus.master), ar("events_made", bus.events_made);
    ar("arbitration", bus.arbitration), ar("end", bus.end), ar("idle", bus.idle);
    ar("sender", bus.sender);
    archive_flag(ar, bus.busy);
    if (!ar.loading()) continue;
    std::sort(bus.members.begin(), bus.members.end());
    const auto is_port = [&](std::uint32_t interface) {
      return interface < core_.interfaces.size() && core_.interfaces[interface].kind == InterfaceKind::bus;
    };
    const auto is_member = [&](std::uint32_t interface) {
      return interface == nothing || std::binary_search(bus.members.begin(), bus.members.end(), interface);
    };
    if (!std::all_of(bus.members.begin(), bus.members.end(), is_port) || !is_member(bus.master) ||
        !is_member(bus.sender)) {
      ar.fail("the snapshot names a bus member that does not exist");
      bus.members.clear();
      bus.master = bus.sender = nothing;
    }
  }
  if (ar.loading()) relink();
}

// After loading, restores the bus of each port and the frame on each bus.
void Buses::relink() {
  for (Port& port : ports_) port.bus = nothing;
  for (Bus& bus : buses_) {
    for (const std::uint32_t member : bus.members) ports_[core_.interfaces[member].local].bus = bus.index;
    bus.sending = bus.sender == nothing ? nothing : queue(bus.sender).head;
    if (bus.sending == nothing) bus.sender = nothing;
    else core_.frames.retain(bus.sending);
  }
}

}  // namespace volvox::net
