#include "volvox/record/traffic.h"

#include <algorithm>
#include <cmath>

#include "volvox/net/power.h"
#include "volvox/record/recording_format.h"

namespace volvox::record {
namespace {

constexpr std::size_t most_arrivals = 20'000;  // between two calls of take(); a viewer could not show more

double frequency_of(const world::World& world, const std::string& channel) {
  const auto& channels = world.model().channels;
  const auto found =
      std::find_if(channels.begin(), channels.end(), [&](const model::Channel& c) { return c.name == channel; });
  return found == channels.end() ? model::Channel{}.frequency : found->frequency;
}

}  // namespace

double free_space_range(const model::Radio& radio, double frequency_hz) {
  const double wavelength = net::speed_of_light / frequency_hz;
  return wavelength / (4 * pi) * std::sqrt(radio.power * radio.gain * radio.gain / radio.receive_threshold);
}

void TrafficWatch::prepare(sim::Simulation& simulation) {
  simulation.minds().watch_arrivals();
  simulation.minds().keep_frames(true);
}

void TrafficWatch::look(const sim::Simulation& simulation) {
  const world::World& world = simulation.world();
  const mind::Minds& minds = simulation.minds();
  for (const mind::Minds::Arrival& arrival : minds.arrivals()) {
    if (arrived_.size() >= most_arrivals) break;
    const world::PlacementIndex placement = minds.agent(arrival.agent).placement();
    const std::uint32_t outlet = arrival.outlet;
    if (outlet >= world.module_model(placement).docks.size()) continue;  // by bus or radio
    const world::DockIndex to = world.part(placement).first_dock + outlet;
    const world::DockIndex from = world.graph().partner(to);
    if (from != world::nobody) arrived_.emplace_back(from, to);
  }
  const exchange::Exchange* exchange = minds.exchange();
  if (exchange == nullptr) return;
  for (const net::LogEntry& entry : exchange->frames().entries()) {
    switch (entry.kind) {
      case net::LogKind::transmit_start:
      case net::LogKind::acknowledgement:
        sending_.insert(entry.interface);
        sent_[entry.interface] = entry.time;
        break;
      case net::LogKind::transmit_end:
      case net::LogKind::cut:
        if (sending_.erase(entry.interface) > 0) sent_[entry.interface] = entry.time;
        break;
      default: break;
    }
  }
}

Traffic TrafficWatch::take(const sim::Simulation& simulation) {
  Traffic traffic{std::exchange(arrived_, {}), {}};
  const exchange::Exchange* exchange = simulation.minds().exchange();
  if (exchange == nullptr) return traffic;
  const world::World& world = simulation.world();
  for (const auto& [interface, last_heard] : sent_) {
    const exchange::Exchange::Owner owner = exchange->owner(interface);
    const world::PlacementIndex placement = simulation.minds().agent(owner.agent).placement();
    const model::ModuleModel& module = world.module_model(placement);
    const std::uint32_t outlet = owner.outlet;
    const std::size_t docks = module.docks.size();
    if (outlet < docks) {
      const world::DockIndex from = world.part(placement).first_dock + outlet;
      const world::DockIndex to = world.graph().partner(from);
      if (to != world::nobody) traffic.wires.emplace_back(from, to);
    } else if (outlet < docks + module.radios.size()) {
      const model::Radio& radio = module.radios[outlet - docks];
      const Vec3 at = exchange->network().position({interface, 0});
      const double range = free_space_range(radio, frequency_of(world, radio.channel));
      const double age = sending_.contains(interface) ? 0 : std::max(0.0, (simulation.now() - last_heard).seconds());
      traffic.rings.push_back({to_float(at.x), to_float(at.y), to_float(at.z), to_float(range), to_float(age)});
    }
  }
  sent_.clear();
  for (const std::uint32_t interface : sending_) sent_[interface] = simulation.now();
  return traffic;
}

}  // namespace volvox::record
