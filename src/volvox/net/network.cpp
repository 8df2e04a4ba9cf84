#include "volvox/net/network.h"

#include <fmt/format.h>

#include <cmath>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/base/platform/memory.h"
#include "volvox/net/can_bits.h"
#include "volvox/net/checks.h"
#include "volvox/net/network_state.h"

namespace volvox::net {
namespace {

// The index of an id for messages; -1 if the id is not valid.
template <class Tag>
std::int32_t shown(Id<Tag> id) {
  return id.index;
}

Error no_such_node(NodeId id) {
  return Error(fmt::format("there is no node {}", shown(id)), "use an id that add_node() returned");
}
Error no_such_interface(InterfaceId id, std::string_view kind) {
  return Error(fmt::format("interface {} does not exist or is not a {}", shown(id), kind),
               fmt::format("use an id that add_{}() of this network returned", kind == "bus" ? "bus_port" : kind));
}

}  // namespace

std::string_view name(InterfaceKind kind) {
  constexpr std::string_view names[] = {"wire", "bus", "radio"};
  return names[number_of(kind)];
}

std::string_view name(Fate fate) {
  constexpr std::string_view names[] = {"sent", "unplugged", "unacknowledged", "clashed", "unanswered", "switched off"};
  return names[number_of(fate)];
}

std::string_view name(LogKind kind) {
  constexpr std::string_view names[] = {
      "queued",   "backoff", "frozen",  "resumed", "transmit start", "transmit end", "acknowledgement", "received",
      "collided", "aborted", "dropped", "cut",     "clashed",        "timed out"};
  return names[number_of(kind)];
}

Network::Network(const NetworkOptions& options) : state_(std::make_unique<State>(options)) {}
Network::~Network() = default;
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;

// --- nodes and interfaces -----------------------------------------------------------------------

NodeId Network::add_node() {
  state_->nodes.emplace_back();
  return {narrow<std::uint32_t>(state_->nodes.size() - 1), 0};
}

InterfaceId Network::State::add_interface(NodeId node, InterfaceKind kind) {
  VOLVOX_ASSERT(has(node));
  const std::uint32_t index = narrow<std::uint32_t>(core.interfaces.size());
  Interface& interface = core.interfaces.emplace_back();
  interface.node = node.index;
  interface.kind = kind;
  interface.next_of_node = nodes[node.index].first_interface;
  nodes[node.index].first_interface = index;
  return {index, 0};
}

Result<MediumId> Network::add_medium(const MediumOptions& options, std::unique_ptr<Propagation> propagation) {
  if (const auto checked = check(options); !checked) return checked.error();
  if (state_->radios.media() >= 65535)
    return Error("there are 65535 media already", "share a medium between radios of one channel");
  if (propagation == nullptr) propagation = std::make_unique<Friis>(options.frequency_hz);
  return MediumId{state_->radios.add_medium(options, std::move(propagation)), 0};
}

Result<BusId> Network::add_bus(const BusOptions& options) {
  if (const auto checked = check(options); !checked) return checked.error();
  return BusId{state_->buses.add_bus(options), 0};
}

Result<InterfaceId> Network::add_wire(NodeId node, const WireOptions& options) {
  if (!state_->has(node)) return no_such_node(node);
  if (const auto checked = check(options); !checked) return checked.error();
  const InterfaceId id = state_->add_interface(node, InterfaceKind::wire);
  state_->wires.add(id.index, options);
  return id;
}

Result<InterfaceId> Network::add_bus_port(NodeId node) {
  if (!state_->has(node)) return no_such_node(node);
  const InterfaceId id = state_->add_interface(node, InterfaceKind::bus);
  state_->buses.add(id.index);
  return id;
}

Result<InterfaceId> Network::add_radio(NodeId node, MediumId medium, const RadioOptions& options,
                                       const Vec3& position) {
  if (!state_->has(node)) return no_such_node(node);
  if (medium.index >= state_->radios.media())
    return Error("the radio has no medium", "add one with add_medium() and pass its id");
  if (const auto checked = check(options); !checked) return checked.error();
  if (!finite(position)) return Error("the position of the radio is not finite", "give x, y and z in m");
  if (!state_->radios.may_share(medium.index, options))
    return Error("radios with other pulses, or with a carrier, are on this medium already",
                 "give all radios of a channel the same modulation, pulse and spread");
  const InterfaceId id = state_->add_interface(node, InterfaceKind::radio);
  state_->radios.add(id.index, medium.index, options, position);
  return id;
}

void Network::reserve(std::size_t nodes, std::size_t interfaces) {
  state_->nodes.reserve(nodes);
  state_->core.interfaces.reserve(interfaces);
  platform::prefer_huge_pages(state_->core.interfaces);
}
void Network::reserve_wires(std::size_t wires) { state_->wires.reserve(wires); }
void Network::reserve_radios(MediumId medium, std::size_t radios) { state_->radios.reserve(medium.index, radios); }

std::size_t Network::nodes() const { return state_->nodes.size(); }
std::size_t Network::interfaces() const { return state_->core.interfaces.size(); }
InterfaceId Network::interface(std::size_t index) const { return {narrow<std::uint32_t>(index), 0}; }
InterfaceKind Network::kind(InterfaceId interface) const { return state_->core.interfaces[interface.index].kind; }
NodeId Network::node_of(InterfaceId interface) const { return {state_->core.interfaces[interface.index].node, 0}; }

std::vector<InterfaceId> Network::interfaces_of(NodeId node) const {
  std::vector<InterfaceId> all;
  VOLVOX_ASSERT(state_->has(node));
  std::uint32_t index = state_->nodes[node.index].first_interface;
  for (; index != nothing; index = state_->core.interfaces[index].next_of_node) all.insert(all.begin(), {index, 0});
  return all;
}

// --- links and positions ------------------------------------------------------------------------

Result<void> Network::plug(InterfaceId a, InterfaceId b) {
  for (const InterfaceId id : {a, b}) {
    if (!state_->has(id, InterfaceKind::wire)) return no_such_interface(id, "wire");
    if (state_->wires.peer(id.index) != nothing)
      return Error(fmt::format("wire {} is already plugged", id.index), "unplug() it first");
  }
  if (a == b) return Error(fmt::format("wire {} cannot be plugged into itself", a.index), "give two interfaces");
  if (state_->wires.options(a.index).timing != state_->wires.options(b.index).timing)
    return Error("one end of the wire is live and the other delayed", "give both the same timing");
  state_->wires.plug(a.index, b.index);
  return {};
}

Result<void> Network::unplug(InterfaceId interface) {
  if (!state_->has(interface, InterfaceKind::wire)) return no_such_interface(interface, "wire");
  state_->wires.unplug(interface.index);
  return {};
}

InterfaceId Network::peer(InterfaceId wire) const {
  const std::uint32_t other = state_->has(wire, InterfaceKind::wire) ? state_->wires.peer(wire.index) : nothing;
  return {other, 0};
}

Result<void> Network::join_bus(InterfaceId port, BusId bus, bool master) {
  if (!state_->has(port, InterfaceKind::bus)) return no_such_interface(port, "bus");
  if (bus.index >= state_->buses.count()) return Error("there is no such bus", "use an id that add_bus() returned");
  if (state_->buses.bus_of(port.index) != nothing)
    return Error(fmt::format("port {} is already on a bus", port.index), "leave_bus() first");
  if (master && state_->buses.options(bus.index).kind != BusKind::serial)
    return Error("a CAN bus has no master", "join it as any other member");
  if (master && state_->buses.master(bus.index) != nothing)
    return Error("the bus already has a master", "join it as a slave");
  state_->buses.join(port.index, bus.index, master);
  return {};
}

Result<void> Network::leave_bus(InterfaceId port) {
  if (!state_->has(port, InterfaceKind::bus)) return no_such_interface(port, "bus");
  state_->buses.leave(port.index);
  return {};
}

BusId Network::bus_of(InterfaceId port) const {
  return {state_->has(port, InterfaceKind::bus) ? state_->buses.bus_of(port.index) : nothing, 0};
}
bool Network::is_master(InterfaceId port) const { return bus_of(port).valid() && state_->buses.is_master(port.index); }

std::size_t Network::bus_members(InterfaceId port) const {
  return bus_of(port).valid() ? state_->buses.members(bus_of(port).index) : 0;
}

Result<void> Network::switch_radio(InterfaceId radio, bool on) {
  if (!state_->has(radio, InterfaceKind::radio)) return no_such_interface(radio, "radio");
  state_->radios.switch_to(radio.index, on);
  return {};
}

Result<void> Network::move_radio(InterfaceId radio, const Vec3& position) {
  if (!state_->has(radio, InterfaceKind::radio)) return no_such_interface(radio, "radio");
  if (!finite(position))
    return Error(fmt::format("the position of radio {} is not finite", radio.index), "give x, y and z in m");
  state_->radios.move(radio.index, position);
  return {};
}

MediumId Network::medium_of(InterfaceId radio) const { return {state_->radios.medium_index(radio.index), 0}; }
Vec3 Network::position(InterfaceId radio) const { return state_->radios.position(radio.index); }

// --- use ---------------------------------------------------------------------------------

void Network::set_listener(Listener* listener) { state_->listener = listener; }
void Network::set_log(FrameLog* log) { state_->core.log = log; }

std::uint32_t Network::State::largest_payload(std::uint32_t interface) const {
  switch (core.interfaces[interface].kind) {
    case InterfaceKind::wire: return wires.options(interface).largest_payload;
    case InterfaceKind::bus:
      return buses.bus_of(interface) == nothing ? nothing : buses.options(buses.bus_of(interface)).largest_payload;
    case InterfaceKind::radio: return radios.options(interface).largest_payload;
  }
  return 0;
}

std::uint32_t Network::State::queue_limit(std::uint32_t interface) const {
  switch (core.interfaces[interface].kind) {
    case InterfaceKind::wire: return wires.options(interface).queue_limit;
    case InterfaceKind::bus: return buses.options(buses.bus_of(interface)).queue_limit;
    case InterfaceKind::radio: return radios.options(interface).queue_limit;
  }
  return 0;
}

bool Network::State::connected(std::uint32_t interface) const {
  switch (core.interfaces[interface].kind) {
    case InterfaceKind::wire: return wires.peer(interface) != nothing;
    case InterfaceKind::bus: return buses.bus_of(interface) != nothing;
    case InterfaceKind::radio: return radios.on(interface);
  }
  return false;
}

Result<void> Network::State::check_message(InterfaceId from, const Outgoing& message) const {
  if (!has(from))
    return Error(fmt::format("there is no interface {} to send from", shown(from)),
                 "use an id that add_wire(), add_bus_port() or add_radio() returned");
  if (message.destination.valid() && !has(message.destination))
    return Error(fmt::format("the destination, interface {}, does not exist", message.destination.index),
                 "use an interface of this network, or net::everyone");
  if (message.payload.size() > largest_payload(from.index))
    return Error(fmt::format("a payload of {} bytes is over the limit of interface {}, {} bytes",
                             message.payload.size(), from.index, largest_payload(from.index)),
                 "send less, or raise largest_payload");
  if (message.identifier > largest_extended_identifier)
    return Error(fmt::format("the identifier {} has more than 29 bits", message.identifier), "give at most 0x1fffffff");
  if (message.at.ns >= 0 && (message.at < core.now || message.at > end_of_time))
    return Error(
        fmt::format("a message cannot be sent at {} s when it is {} s", message.at.seconds(), core.now.seconds()),
        "give a time from now on, or none for now");
  return {};
}

std::uint32_t Network::State::make_frame(std::uint32_t source, const Outgoing& message) {
  // The payload that is just being received is forwarded without a copy.
  const bool forwards = receiving != nothing && core.frames.payload(receiving).data() == message.payload.data() &&
                        core.frames.payload(receiving).size() == message.payload.size() && !message.payload.empty();
  const std::uint32_t index = forwards
                                  ? core.frames.add_sharing(core.frames[receiving].payload, core.frames[receiving].size)
                                  : core.frames.add(message.payload);
  Frame& frame = core.frames[index];
  frame.id = std::uint64_t{source} << 32 | core.interfaces[source].frames_made++;
  frame.queued = std::max(core.now, message.at);
  frame.source = source;
  frame.destination = message.destination.index;
  frame.identifier = message.identifier;
  frame.port = message.port;
  frame.report = message.report;
  frame.acknowledge = message.destination.valid() && core.interfaces[source].kind == InterfaceKind::radio &&
                      radios.options(source).acknowledge;
  return index;
}

SendStatus Network::State::enqueue(std::uint32_t frame) {
  VOLVOX_ASSERT(core.frames[frame].references == 1);
  VOLVOX_ASSERT(core.frames[frame].queued <= core.now);
  const std::uint32_t source = core.frames[frame].source;
  Interface& interface = core.interfaces[source];
  const auto refuse = [&](LogKind kind, std::uint64_t& counter, SendStatus status) {
    ++counter;
    core.record(kind, source, frame);
    core.frames.release(frame);
    return status;
  };
  if (!connected(source)) {
    if (interface.kind == InterfaceKind::radio)
      return refuse(LogKind::cut, core.counters.switched_off, SendStatus::off);
    return refuse(LogKind::cut, core.counters.unplugged, SendStatus::unplugged);
  }
  if (interface.queue.length >= queue_limit(source))
    return refuse(LogKind::dropped, core.counters.queue_drops, SendStatus::queue_full);
  core.frames.push(interface.queue, frame);
  ++core.counters.frames;
  core.record(LogKind::queued, source, frame);
  switch (interface.kind) {
    case InterfaceKind::wire: wires.frame_queued(source); break;
    case InterfaceKind::bus: buses.frame_queued(source); break;
    case InterfaceKind::radio: radios.frame_queued(source); break;
  }
  return SendStatus::accepted;
}

Result<Sent> Network::send(InterfaceId from, const Outgoing& message) {
  if (const auto checked = state_->check_message(from, message); !checked) return checked.error();
  const std::uint32_t frame = state_->make_frame(from.index, message);
  const std::uint64_t id = state_->core.frames[frame].id;
  if (message.at <= state_->core.now) return Sent{id, state_->enqueue(frame)};
  const std::uint32_t sequence = state_->core.schedule(message.at, Action::deferred_send, from.index);
  state_->deferred.emplace(std::uint64_t{from.index} << 32 | sequence, frame);
  return Sent{id, SendStatus::accepted};
}

Result<Sent> Network::poll(InterfaceId master, InterfaceId slave) {
  if (!state_->has(master, InterfaceKind::bus) || state_->buses.bus_of(master.index) == nothing ||
      !state_->buses.is_master(master.index))
    return Error(fmt::format("interface {} is not the master of a serial bus", shown(master)),
                 "join_bus(port, bus, true) makes it one");
  if (!state_->has(slave, InterfaceKind::bus)) return no_such_interface(slave, "bus");
  const std::uint32_t frame = state_->make_frame(master.index, {.payload = {}, .destination = slave});
  state_->core.frames[frame].poll = true;
  const std::uint64_t id = state_->core.frames[frame].id;
  return Sent{id, state_->enqueue(frame)};
}

Result<void> Network::set_timer(NodeId node, Time at, std::uint64_t token) {
  if (!state_->has(node)) return no_such_node(node);
  if (at < now() || at > end_of_time)
    return Error(fmt::format("a timer cannot be set for {} s when it is {} s", at.seconds(), now().seconds()),
                 "give a time from now on");
  const std::uint32_t sequence = state_->nodes[node.index].events_made++;
  state_->core.events.push(Event::make(at, Action::timer, node.index, sequence));
  state_->timers.emplace(std::uint64_t{node.index} << 32 | sequence, Timer{token, now()});
  return {};
}

void Network::begin_tick() { state_->wires.begin_tick(); }

Time Network::now() const { return state_->core.now; }
bool Network::quiet() const {
  return state_->core.events.empty() && state_->core.callbacks.empty() && !state_->wires.waits_for_tick();
}
const Counters& Network::counters() const { return state_->core.counters; }
std::size_t Network::queued(InterfaceId interface) const {
  return state_->core.interfaces[interface.index].queue.length;
}
double Network::heard_w(InterfaceId radio) const { return state_->radios.heard_w(radio.index); }
bool Network::carrier(InterfaceId radio) const { return state_->radios.carrier(radio.index); }

}  // namespace volvox::net
