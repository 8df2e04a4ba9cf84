#include "volvox/exchange/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "volvox/base/index.h"
#include "volvox/base/union_find.h"
#include "volvox/net/power.h"
#include "volvox/net/ts_ook.h"

namespace volvox::exchange {
namespace {

// --- descriptions become options -----------------------------------------------------------

net::WireOptions options_of(const model::Wire& wire) {
  return {wire.bit_rate,
          Time::seconds(wire.delay),
          wire.timing == model::WireTiming::delayed ? net::Timing::delayed : net::Timing::live,
          wire.capacity,
          wire.queue,
          wire.largest_payload,
          wire.overhead};
}

net::RadioOptions options_of(const model::Radio& radio) {
  net::RadioOptions options;
  options.power_w = radio.power;
  options.antenna_gain = radio.gain;
  options.bit_rate = radio.bit_rate;
  options.bandwidth_hz = radio.bandwidth;
  options.noise_factor = radio.noise_factor;
  options.receive_threshold_w = radio.receive_threshold;
  options.carrier_threshold_w = radio.carrier_threshold;
  options.capture_ratio = radio.capture_ratio;
  options.window = radio.window;
  options.largest_window = radio.largest_window;
  options.slot = Time::seconds(radio.slot);
  options.queue_limit = radio.queue;
  options.largest_payload = radio.largest_payload;
  options.overhead = radio.overhead;
  options.acknowledge = radio.acknowledge;
  options.turnaround = Time::seconds(radio.turnaround);
  options.acknowledgement_timeout = Time::seconds(radio.timeout);
  options.retry_limit = radio.retries;
  if (radio.modulation == model::Modulation::ts_ook) {
    options.pulse_fs = std::llround(radio.pulse * 1e15);
    options.spread = radio.spread;
    options.repairs = radio.repairs;
    options.bit_rate = net::TimeSpreadKeying{options.pulse_fs, options.spread}.bit_rate();
    options.carrier_threshold_w = std::numeric_limits<double>::infinity();  // they do not listen before they send
  }
  return options;
}

net::BusOptions options_of(const model::Bus& bus) {
  return {bus.kind == model::BusKind::can ? net::BusKind::can : net::BusKind::serial, bus.bit_rate,
          static_cast<net::BitStuffing>(bus.stuffing), bus.queue, bus.largest_payload};
}

bool same_bus(const model::Bus& a, const model::Bus& b) { return options_of(a) == options_of(b) && a.scope == b.scope; }

Diagnostic no_such_law(const model::Channel& channel, const PropagationRegistry& laws, const std::string& file) {
  std::vector<std::string> names = {"friis", "log_distance", "two_ray", "terahertz"};
  for (const std::string& name : laws.names()) names.push_back(name);
  const std::string nearest = nearest_name(channel.custom_law, names);
  return {file, channel.line, fmt::format("there is no law of propagation named '{}'", channel.custom_law),
          fmt::format("{}{}", nearest.empty() ? "use one of: " : fmt::format("did you mean '{}'? There are: ", nearest),
                      fmt::join(names, ", "))};
}

Result<std::unique_ptr<net::Propagation>> propagation_of(const model::Channel& channel, const PropagationRegistry& laws,
                                                         const std::string& file, std::uint64_t seed) {
  std::unique_ptr<net::Propagation> law;
  if (!channel.custom_law.empty()) {
    const auto factory = laws.find(channel.custom_law, file, channel.line);
    if (!factory.ok()) return no_such_law(channel, laws, file);
    const Parameters parameters(channel.custom_parameters, fmt::format("propagation '{}'", channel.custom_law), file,
                                channel.line);
    try {
      law = (**factory)(channel.frequency, parameters);
    } catch (const std::exception& error) {
      return Diagnostic{file, channel.line,
                        fmt::format("propagation '{}' cannot be made: {}", channel.custom_law, error.what()),
                        "correct the plugin that has it"};
    }
    if (auto checked = parameters.check(); !checked.ok()) return checked.error();
  } else switch (channel.law) {
      case model::PropagationLaw::friis: law = std::make_unique<net::Friis>(channel.frequency); break;
      case model::PropagationLaw::log_distance:
        law = std::make_unique<net::LogDistance>(channel.frequency, channel.exponent, channel.reference_distance);
        break;
      case model::PropagationLaw::two_ray: law = std::make_unique<net::TwoRay>(channel.frequency); break;
      case model::PropagationLaw::terahertz:
        law = std::make_unique<net::TerahertzAbsorption>(channel.frequency, channel.absorption);
        break;
    }
  if (channel.shadowing_db > 0) law = std::make_unique<net::Shadowing>(std::move(law), channel.shadowing_db, seed);
  if (channel.fading) law = std::make_unique<net::Rayleigh>(std::move(law), seed);
  return law;
}

// An error of the network, with the file and line of the description.
Error at(const std::string& file, int line, const std::string& what, const Error& error) {
  Error located;
  for (const Diagnostic& d : error.diagnostics()) located.add({file, line, what + ": " + d.what, d.fix});
  return located;
}

// --- payloads on the wire --------------------------------------------------------------------

constexpr std::size_t mark_size = sizeof(std::uint64_t);  // of the type, and of the count in front of Bytes
constexpr std::uint16_t unmarked = 0x8000;                // in a frame's port: Bytes, without a mark

std::vector<std::byte> to_frame(const Payload& payload, std::uint16_t& port) {
  if (payload.type() == type_of<Bytes>().key && payload.size() >= mark_size) {
    port |= unmarked;
    return {payload.bytes().begin() + mark_size, payload.bytes().end()};
  }
  std::vector<std::byte> bytes(mark_size + payload.size());
  const std::uint64_t mark = payload.type();
  std::memcpy(bytes.data(), &mark, mark_size);
  std::copy(payload.bytes().begin(), payload.bytes().end(), bytes.begin() + mark_size);
  return bytes;
}

Payload from_frame(std::span<const std::byte> frame, std::uint16_t port) {
  if ((port & unmarked) != 0) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(frame.data());
    return Payload::of(Bytes(begin, begin + frame.size()));
  }
  if (frame.size() < mark_size) return {};
  std::uint64_t mark = 0;
  std::memcpy(&mark, frame.data(), mark_size);
  return Payload::of(mark, {frame.begin() + mark_size, frame.end()});
}

}  // namespace

// --- setting up ------------------------------------------------------------------------------

Result<std::unique_ptr<Exchange>> Exchange::create(const world::World& world, const PropagationRegistry& laws,
                                                   std::uint64_t seed, Receiver& receiver) {
  const auto has_any = [&](PlacementIndex placement) {
    const model::ModuleModel& m = world.module_model(placement);
    return !m.wires.empty() || !m.radios.empty() || !m.buses.empty();
  };
  const std::vector<PlacementIndex>& modules = world.modules();
  if (std::none_of(modules.begin(), modules.end(), has_any)) return std::unique_ptr<Exchange>{};
  std::unique_ptr<Exchange> exchange(new Exchange(seed, receiver));
  if (auto added = exchange->add_channels(world, laws, seed); !added.ok()) return added.error();
  exchange->wire_of_dock_.assign(world.docks(), world::nobody);
  for (const AgentIndex agent : indices<AgentIndex>(modules))
    if (auto added = exchange->add_module(world, agent); !added.ok()) return added.error();
  exchange->tallies_.resize(exchange->network_.interfaces());
  exchange->network_.set_listener(exchange.get());
  exchange->update_links(world);
  return exchange;
}

Result<void> Exchange::add_channels(const world::World& world, const PropagationRegistry& laws, std::uint64_t seed) {
  std::map<std::string, model::Channel> channels;  // those that radios use
  for (const PlacementIndex placement : world.modules())
    for (const model::Radio& radio : world.module_model(placement).radios) channels[radio.channel].name = radio.channel;
  for (const model::Channel& channel : world.model().channels)
    if (const auto used = channels.find(channel.name); used != channels.end()) used->second = channel;
  for (const auto& [name, channel] : channels) {
    ChannelUse use{name, {}, nullptr};
    auto law = propagation_of(channel, laws, world.model().file, seed);
    if (!law.ok()) return law.error();
    std::unique_ptr<net::Propagation> propagation = std::move(*law);
    if (channel.passes_bodies < 1) {
      use.occlusion = std::make_shared<Occlusion>(channel.passes_bodies);
      propagation = dimmed(std::move(propagation), use.occlusion);
    }
    auto medium = network_.add_medium({channel.frequency, channel.cull_radius}, std::move(propagation));
    if (!medium.ok()) return at(world.model().file, channel.line, fmt::format("channel '{}'", name), medium.error());
    use.medium = *medium;
    channels_.push_back(std::move(use));
  }
  return {};
}

void Exchange::add_interface(AgentIndex agent, int outlet, net::InterfaceId id) {
  VOLVOX_ASSERT(agent < first_outlet_.size() && outlet >= 0);
  VOLVOX_ASSERT(first_outlet_[agent] + outlet < interfaces_.size());
  VOLVOX_ASSERT(id.index == owners_.size());
  interfaces_[first_outlet_[agent] + outlet] = id;
  owners_.push_back({agent, outlet});
}

Result<void> Exchange::add_module(const world::World& world, AgentIndex agent) {
  VOLVOX_ASSERT(agent < world.modules().size() && agent == first_outlet_.size());
  const PlacementIndex placement = world.modules()[agent];
  const model::ModuleModel& model = world.module_model(placement);
  const net::NodeId node = network_.add_node();  // its number is the agent's
  first_outlet_.push_back(narrow<std::uint32_t>(interfaces_.size()));
  interfaces_.resize(interfaces_.size() + model.docks.size() + model.radios.size() + model.buses.size());
  for (const model::Wire& wire : model.wires) {
    const auto id = network_.add_wire(node, options_of(wire));
    if (!id.ok()) return at(model.file, wire.line, "<volvox:wire>", id.error());
    add_interface(agent, wire.dock, *id);
    const DockIndex dock = world.part(placement).first_dock + wire.dock;
    wire_of_dock_[dock] = narrow<std::uint32_t>(wires_.size());
    wires_.push_back({dock, *id, options_of(wire).timing});
  }
  int outlet = narrow<int>(model.docks.size());
  for (const model::Radio& radio : model.radios) {
    const auto channel =
        std::find_if(channels_.begin(), channels_.end(), [&](const ChannelUse& c) { return c.name == radio.channel; });
    const LinkIndex link = world.part(placement).first_link + radio.link;
    const auto id =
        network_.add_radio(node, channel->medium, options_of(radio), world.link_pose(link) * radio.pose.position);
    if (!id.ok()) return at(model.file, radio.line, fmt::format("radio '{}'", radio.name), id.error());
    add_interface(agent, outlet++, *id);
    if (channel->occlusion) {
      channel->occlusion->add(narrow<std::uint32_t>(antennas_.size()), placement);
      if (channel->occlusion->radios() > Occlusion::most_radios)
        return Diagnostic{model.file, radio.line,
                          fmt::format("channel '{}' is occluded by bodies and has more than {} radios", radio.channel,
                                      Occlusion::most_radios),
                          "leave passes_bodies= of the <volvox:channel> out, or use fewer radios"};
    }
    antennas_.push_back({*id, link, radio.pose.position});
  }
  for (const model::Bus& bus : model.buses)
    if (auto added = add_bus_port(world, agent, outlet++, bus); !added.ok()) return added;
  return {};
}

Result<void> Exchange::add_bus_port(const world::World& world, AgentIndex agent, int outlet, const model::Bus& bus) {
  const PlacementIndex placement = world.modules()[agent];
  const std::string& file = world.module_model(placement).file;
  auto use = std::find_if(buses_.begin(), buses_.end(), [&](const BusUse& b) { return b.options.name == bus.name; });
  if (use == buses_.end()) {
    buses_.emplace_back().options = bus;
    use = buses_.end() - 1;
    use->file = file;
  }
  if (!same_bus(use->options, bus))
    return Diagnostic{
        file, bus.line,
        fmt::format("bus '{}' differs from the one of that name at {}:{}", bus.name, use->file, use->options.line),
        "give both the same kind, scope, bit rate, stuffing and sizes, or another name"};
  // A bus of the world is one; organisms may come apart into as many as there are modules.
  if (use->buses.empty() || bus.scope == model::BusScope::organism) {
    const auto added = network_.add_bus(options_of(bus));
    if (!added.ok()) return at(file, bus.line, fmt::format("bus '{}'", bus.name), added.error());
    use->buses.push_back(*added);
  }
  const auto id = network_.add_bus_port({agent, 0});
  if (!id.ok()) return at(file, bus.line, fmt::format("bus '{}'", bus.name), id.error());
  add_interface(agent, outlet, *id);
  use->ports.push_back(*id);
  use->placements.push_back(placement);
  use->masters.push_back(bus.master);
  return {};
}

// --- the phases of a tick ----------------------------------------------------------------------

void Exchange::begin_tick(const world::World& world) {
  frames_.clear();
  network_.begin_tick();
  for (const Antenna& antenna : antennas_) {
    const Vec3 position = world.link_pose(antenna.link) * antenna.place;
    // The engine stops at positions that are not finite, so the network accepts all of them.
    if (!(network_.position(antenna.id) == position))
      VOLVOX_CHECK(network_.move_radio(antenna.id, position).ok(), "a radio that cannot be moved");
  }
}

void Exchange::all_sent(const world::World& world, Sight& sight) {
  if (network_.quiet()) return;  // no frame will be sent in this tick
  const auto occluded = [](const ChannelUse& channel) { return channel.occlusion != nullptr; };
  if (std::any_of(channels_.begin(), channels_.end(), occluded)) sight.update(world);
  for (const ChannelUse& channel : channels_) {
    if (!channel.occlusion) continue;
    std::vector<Vec3> positions;
    for (std::size_t number = 0; number < antennas_.size(); ++number)
      if (channel.occlusion->has(narrow<std::uint32_t>(number)))
        positions.push_back(network_.position(antennas_[number].id));
    channel.occlusion->look(world, sight, positions);
  }
}

// The interface by which that module can be reached from this outlet.
Result<net::InterfaceId> Exchange::destination(AgentIndex agent, int outlet, int address) const {
  VOLVOX_ASSERT(carries(agent, outlet));
  if (address == everyone) return net::everyone;
  if (address < 0 || address >= std::ssize(first_outlet_))
    return Error(fmt::format("it sent to the address {}; the modules have the addresses 0 to {}", address,
                             first_outlet_.size() - 1),
                 "use the address() of a module, or mind::everyone");
  const net::InterfaceId from = interface(agent, outlet);
  const auto reaches = [&](net::InterfaceId id) {
    if (network_.kind(id) != network_.kind(from)) return false;
    if (network_.kind(id) == net::InterfaceKind::radio) return network_.medium_of(id) == network_.medium_of(from);
    for (const BusUse& use : buses_)
      if (std::find(use.ports.begin(), use.ports.end(), from) != use.ports.end())
        return std::find(use.ports.begin(), use.ports.end(), id) != use.ports.end();
    return true;  // a wire has only its other end
  };
  for (const net::InterfaceId id : network_.interfaces_of({narrow<std::uint32_t>(address), 0}))
    if (reaches(id)) return id;
  return Error(
      fmt::format("it sent to the address {}, but that module has no {} there", address, name(network_.kind(from))),
      "send to modules that have the same radio channel or bus");
}

Result<bool> Exchange::send(AgentIndex agent, const Outgoing& message, Time at) {
  VOLVOX_ASSERT(carries(agent, message.outlet));
  VOLVOX_ASSERT(tallies_.size() == network_.interfaces() && owners_.size() == tallies_.size());
  const net::InterfaceId from = interface(agent, message.outlet);
  const net::InterfaceKind kind = network_.kind(from);
  Tally& tally = tallies_[from.index];
  const auto to = kind == net::InterfaceKind::wire ? Result<net::InterfaceId>(net::everyone)
                                                   : destination(agent, message.outlet, message.options.to);
  if (!to.ok()) return to.error();
  Result<net::Sent> sent = net::Sent{};
  if (message.poll) {
    if (kind != net::InterfaceKind::bus || !to->valid())
      return Error("it polled something that is not a slave of a serial bus",
                   "poll the address of one slave, on a bus of kind=\"serial\"");
    if (!network_.is_master(from)) {
      ++tally.lost;
      return false;
    }
    sent = network_.poll(from, *to);
  } else {
    std::uint16_t port = message.options.mailbox;
    const std::vector<std::byte> payload = to_frame(message.payload, port);
    sent = network_.send(from, {.payload = payload,
                                .destination = *to,
                                .port = port,
                                .identifier = message.options.priority,
                                .at = at,
                                .report = message.options.report});
  }
  if (!sent.ok()) return sent.error();
  if (sent->status == net::SendStatus::accepted) return true;
  ++tally.lost;
  return false;
}

void Exchange::received(net::Network&, const net::Reception& reception) {
  VOLVOX_ASSERT(reception.interface.index < owners_.size() && reception.from.index < owners_.size());
  VOLVOX_ASSERT(reception.queued <= reception.arrived);
  VOLVOX_ASSERT(reception.power_w >= 0);
  const Owner to = owners_[reception.interface.index];
  const net::InterfaceKind kind = network_.kind(reception.interface);
  Message message;
  message.outlet = to.outlet;
  message.mailbox = reception.port & largest_mailbox;
  if (kind != net::InterfaceKind::wire) message.from = narrow<int>(owners_[reception.from.index].agent);
  message.power = reception.power_w;
  message.sent = reception.queued;
  message.arrived = reception.arrived;
  message.payload = from_frame(reception.payload, reception.port);
  Tally& tally = tallies_[reception.interface.index];
  ++tally.received;
  tally.last_from = message.from;
  tally.last_power = reception.power_w;
  receiver_.received(to.agent, owners_[reception.from.index].agent, std::move(message));
}

void Exchange::send_finished(net::Network&, const net::SendReport& report) {
  VOLVOX_ASSERT(report.interface.index < owners_.size());
  if (report.fate != net::Fate::sent) ++tallies_[report.interface.index].lost;
  const Owner sender = owners_[report.interface.index];
  receiver_.sent(sender.agent, {sender.outlet, report.fate, narrow<int>(report.attempts)});
}

// --- links -------------------------------------------------------------------------------------

// The wire at the other end of an engaged dock, if both have the same timing.
net::InterfaceId Exchange::wanted_peer(DockIndex dock) const {
  VOLVOX_ASSERT(dock < partners_.size() && wire_of_dock_.size() == partners_.size());
  VOLVOX_ASSERT(wire_of_dock_[dock] < wires_.size());
  const DockIndex partner = partners_[dock];
  if (partner == world::nobody || wire_of_dock_[partner] == world::nobody) return {};
  const DockWire& other = wires_[wire_of_dock_[partner]];
  return other.timing == wires_[wire_of_dock_[dock]].timing ? other.id : net::InterfaceId{};
}

void Exchange::switch_radios_off(AgentIndex agent) {
  for (std::uint32_t i = 0; i < owners_.size(); ++i) {
    if (const net::InterfaceId id = network_.interface(i);
        owners_[i].agent == agent && network_.kind(id) == net::InterfaceKind::radio)
      VOLVOX_CHECK(network_.switch_radio(id, false).ok(), "a radio that cannot be switched off");
  }
}

void Exchange::update_links(const world::World& world) {
  VOLVOX_ASSERT(wire_of_dock_.size() == world.docks());
  seen_.assign(world.docks(), world::nobody);
  for (const DockIndex d : indices<DockIndex>(seen_))
    if (world.dock_status(d).phase == world::DockPhase::engaged) seen_[d] = world.graph().partner(d);
  if (looked_ && seen_ == partners_) return;
  looked_ = true;
  partners_.swap(seen_);
  // All disconnections come first, then all connections: a dock may change its partner in one tick.
  for (const DockWire& wire : wires_)
    if (network_.peer(wire.id).valid() && network_.peer(wire.id) != wanted_peer(wire.dock))
      VOLVOX_CHECK(network_.unplug(wire.id).ok(), "a wire that cannot be unplugged");
  for (const DockWire& wire : wires_) {
    const net::InterfaceId peer = wanted_peer(wire.dock);
    if (peer.valid() && !network_.peer(wire.id).valid())
      VOLVOX_CHECK(network_.plug(wire.id, peer).ok(), "a wire that cannot be plugged");
  }
  for (BusUse& use : buses_) update_buses(world, use);
}

// Assigns ports to buses. An organism keeps the bus that most of its ports already use, so that docking and undocking
// disturb as few frames as possible.
void Exchange::update_buses(const world::World& world, BusUse& use) {
  VOLVOX_ASSERT(use.placements.size() == use.ports.size() && use.masters.size() == use.ports.size());
  VOLVOX_ASSERT(!use.buses.empty());
  const std::size_t ports = use.ports.size();
  std::vector<std::uint32_t> component = components(world);
  std::map<std::uint32_t, std::size_t> organisms;  // component -> its number, in the order of its first port
  std::vector<std::size_t> organism(ports);
  for (std::size_t p = 0; p < ports; ++p) {
    const std::uint32_t key = use.options.scope == model::BusScope::world ? 0 : component[use.placements[p]];
    organism[p] = organisms.emplace(key, organisms.size()).first->second;
  }

  // The number of ports of an organism on a bus: the largest numbers choose first.
  std::map<std::pair<std::size_t, std::size_t>, int> on;  // (organism, bus)
  for (std::size_t p = 0; p < ports; ++p) {
    const auto now = std::find(use.buses.begin(), use.buses.end(), network_.bus_of(use.ports[p]));
    if (now != use.buses.end()) ++on[{organism[p], narrow<std::size_t>(now - use.buses.begin())}];
  }
  std::vector<std::pair<std::pair<std::size_t, std::size_t>, int>> claims(on.begin(), on.end());
  std::stable_sort(claims.begin(), claims.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  constexpr std::size_t none = SIZE_MAX;
  std::vector<std::size_t> bus_of(organisms.size(), none);
  std::vector<std::uint8_t> taken(use.buses.size());
  for (const auto& [claim, count] : claims) {
    if (bus_of[claim.first] != none || taken[claim.second]) continue;
    bus_of[claim.first] = claim.second;
    taken[claim.second] = 1;
  }
  std::size_t free = 0;
  for (std::size_t& bus : bus_of) {
    if (bus != none) continue;
    while (taken[free]) ++free;
    bus = free;
    taken[free] = 1;
  }

  for (std::size_t p = 0; p < ports; ++p) {
    const net::BusId now = network_.bus_of(use.ports[p]);
    if (now.valid() && now != use.buses[bus_of[organism[p]]])
      VOLVOX_CHECK(network_.leave_bus(use.ports[p]).ok(), "a port that cannot leave");
  }
  for (std::size_t p = 0; p < ports; ++p) {
    if (network_.bus_of(use.ports[p]).valid()) continue;
    const net::BusId bus = use.buses[bus_of[organism[p]]];
    const bool master = use.masters[p] && network_.join_bus(use.ports[p], bus, true).ok();
    if (!master) VOLVOX_CHECK(network_.join_bus(use.ports[p], bus).ok(), "a port that cannot join");
  }
}

// By placement: the lowest number among the placements that engaged docks connect.
std::vector<std::uint32_t> Exchange::components(const world::World& world) const {
  UnionFind joined(world.placements());
  for (const DockIndex d : indices<DockIndex>(partners_))
    if (partners_[d] != world::nobody) joined.join(world.graph().owner(d), world.graph().owner(partners_[d]));
  return joined.roots();
}

// --- percepts ----------------------------------------------------------------------------------

LinkState Exchange::link(AgentIndex agent, int outlet) const {
  VOLVOX_ASSERT(carries(agent, outlet));
  const net::InterfaceId id = interface(agent, outlet);
  const Tally& tally = tallies_[id.index];
  LinkState state;
  state.up = network_.kind(id) == net::InterfaceKind::wire ? network_.peer(id).valid() : network_.bus_members(id) > 1;
  state.queued = narrow<int>(network_.queued(id));
  state.received = tally.received;
  state.lost = tally.lost;
  return state;
}

Signal Exchange::signal(AgentIndex agent, int outlet) const {
  const net::InterfaceId id = interface(agent, outlet);
  const Tally& tally = tallies_[id.index];
  Signal signal;
  signal.busy = network_.carrier(id);
  signal.level_dbm = net::dbm(network_.heard_w(id));
  if (tally.last_power > 0) signal.last_dbm = net::dbm(tally.last_power);
  signal.last_from = tally.last_from;
  signal.queued = narrow<int>(network_.queued(id));
  signal.received = tally.received;
  signal.lost = tally.lost;
  return signal;
}

std::vector<std::string> Exchange::warnings(const world::World& world) const {
  std::vector<std::string> all = network_.warnings();
  std::vector<std::string> used;
  for (const ChannelUse& channel : channels_) used.push_back(channel.name);
  const std::vector<model::Channel>& described = world.model().channels;
  const auto describes = [](const std::string& name) {
    return [&name](const model::Channel& channel) { return channel.name == name; };
  };
  for (const ChannelUse& use : channels_)
    if (std::none_of(described.begin(), described.end(), describes(use.name)))
      all.push_back(Diagnostic{
          world.model().file, 0,
          fmt::format(
              "radios use the channel '{}', which the world does not describe: it is free space (friis) at 2.4 GHz",
              use.name),
          fmt::format("write what the air is like into the <world>: <volvox:channel name=\"{}\" frequency=\"2.4e9\" "
                      "propagation=\"friis\"/>",
                      use.name)}
                        .text());
  for (const model::Channel& channel : described) {
    if (!channel.custom_law.empty() || channel.law != model::PropagationLaw::two_ray) continue;
    const auto on_the_ground = std::count_if(antennas_.begin(), antennas_.end(), [&](const Antenna& antenna) {
      const auto use =
          std::find_if(channels_.begin(), channels_.end(), [&](const ChannelUse& c) { return c.name == channel.name; });
      return use != channels_.end() && network_.medium_of(antenna.id) == use->medium &&
             network_.position(antenna.id).z == 0;
    });
    if (on_the_ground > 0)
      all.push_back(Diagnostic{
          world.model().file, channel.line,
          fmt::format(
              "channel '{}': {} radios start at z = 0, the ground of two_ray, where it has no second ray and is friis",
              channel.name, on_the_ground),
          "lift the antennas with a <pose> in <volvox:radio>, or say propagation=\"friis\""}
                        .text());
  }
  for (const model::Channel& channel : world.model().channels) {
    if (std::find(used.begin(), used.end(), channel.name) != used.end()) continue;
    all.push_back(Diagnostic{world.model().file, channel.line,
                             fmt::format("no radio uses the channel '{}'", channel.name),
                             used.empty() ? "leave it out" : fmt::format("the radios use: {}", fmt::join(used, ", "))}
                      .text());
  }
  return all;
}

void Exchange::keep_frames(bool keep) {
  frames_.clear();
  network_.set_log(keep ? &frames_ : nullptr);
}

void Exchange::archive(Archive& ar) {
  network_.archive(ar);
  for (Tally& tally : tallies_) tally.archive(ar);
  if (ar.loading()) looked_ = false, partners_.clear();  // the network's links came with the snapshot
}

std::size_t Exchange::memory_bytes() const {
  return sizeof *this + interfaces_.capacity() * sizeof(net::InterfaceId) + tallies_.capacity() * sizeof(Tally) +
         owners_.capacity() * sizeof(Owner) + antennas_.capacity() * sizeof(Antenna) +
         wires_.capacity() * sizeof(DockWire);
}

}  // namespace volvox::exchange
