// Modules with wires, radios and buses, for the tests of the exchange.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "fixture.h"
#include "volvox/base/index.h"
#include "volvox/net/power.h"
#include "volvox/net/propagation.h"

namespace volvox::mind {

struct Packet {  // 45 bytes; with the mark of its type 53, as in seed 001
  std::uint32_t number = 0;
  std::array<std::uint8_t, 41> filler{};
};
VOLVOX_TYPE(Packet, number, filler)

constexpr std::int64_t packet_ns = 70'666'667;  // 53 bytes at 6 kb/s

inline model::ModuleModel wired(double bit_rate = 6000) {
  model::ModuleModel model = actor();
  for (std::size_t d = 0; d < model.docks.size(); ++d) {
    model::Wire wire;
    wire.dock = narrow<int>(d);
    wire.bit_rate = bit_rate;
    wire.line = 7;
    model.wires.push_back(wire);
  }
  return model;
}

inline model::ModuleModel with_radio(model::ModuleModel model = actor()) {
  model::Radio radio;
  radio.name = "radio";
  radio.bit_rate = 6000;
  radio.window = 1;  // no backoff: times are exact
  radio.slot = 1e-3;
  radio.line = 9;
  // Heard up to 10 m at 2.4 GHz: far above the noise, so that only distance matters.
  radio.receive_threshold = 1e-3 * net::Friis(2.4e9).gain({}, {10, 0, 0});
  radio.carrier_threshold = radio.receive_threshold;
  model.radios.push_back(radio);
  return model;
}

inline model::ModuleModel with_bus(model::BusKind kind = model::BusKind::can, bool master = false) {
  model::ModuleModel model = actor();
  model::Bus bus;
  bus.name = "bus";
  bus.kind = kind;
  bus.master = master;
  bus.line = 11;
  model.buses.push_back(bus);
  return model;
}

inline model::WorldBuilder chain_of(int count, model::ModuleModel model) {
  model::WorldBuilder builder("chain");
  builder.set_gravity({});
  builder.add_chain(world::share(std::move(model)), count, "east", "west", 0, Pose{}, "m");
  return builder;
}

// Modules in a row along x that are not docked.
inline model::WorldBuilder spread(const std::vector<double>& places, model::ModuleModel model) {
  model::WorldBuilder builder("spread");
  builder.set_gravity({});
  const auto shared = world::share(std::move(model));
  for (std::size_t i = 0; i < places.size(); ++i)
    builder.add(shared, Pose{{places[i], 0, 0}, {}}, "m" + std::to_string(i));
  return builder;
}

struct Heard {
  std::string module;
  Time at;
  std::uint32_t number = 0;
  friend bool operator==(const Heard&, const Heard&) = default;
};
inline void PrintTo(const Heard& h, std::ostream* out) { *out << h.module << " at " << h.at.ns << " ns: " << h.number; }

}  // namespace volvox::mind
