#include "flood.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/lattice/programs/flood.h"
#include "volvox/lattice/scenes.h"

namespace volvox::experiments::dprsim {
namespace {

using lattice::nobody;

}  // namespace

Result<std::vector<model::ParameterDesc>> Flood::parameters(const std::filesystem::path&) const {
  return std::vector<model::ParameterDesc>{
      {"lattice", "cubic", {}, {}, {"square", "hex", "cubic", "bcc", "fcc"}, "the lattice of the catoms", 0},
      {"cells",
       "",
       {},
       {},
       {},
       "a box of cells such as 10x10x10, or a file with the cells of the catoms, the source first: a list (.csv), an "
       "image or a "
       "closed mesh in m; empty: a box with holes",
       0},
      {"pitch", "1", 1e-9, 1e9, {}, "distance of neighbours in m, for cells from a mesh", 0},
      {"side", "30", 1, 300, {}, "cells along each side of the box", 0, true},
      {"filled", "0.8", 0, 1, {}, "part of the cells that have a catom; where the others are, chance decides", 0},
      {"capacity", "0", 0, 1e6, {}, "of an adapter, in bytes a tick (a message has 4); 0: not limited", 0, true}};
}

Result<model::WorldModel> Flood::init(sim::Setup& setup) {
  if (const auto made = make_world(setup); !made.ok()) return made.error();
  if (const auto done = world_->load<lattice::Flood>(); !done.ok()) return done.error();
  if (const std::string& cells = setup.settings.at("cells"); !cells.empty()) {
    if (const auto done = add_cells(setup, cells, sizeof(lattice::Flood)); !done.ok()) return done.error();
  } else {
    if (const auto done = add_box_with_holes(setup, sizeof(lattice::Flood)); !done.ok()) return done.error();
  }
  if (auto* source = world_->state<lattice::Flood>(source_)) source->source = true;
  if (const auto done = world_->start(); !done.ok()) return done.error();
  return empty_world("flood", 5);
}

void Flood::before_tick(sim::Simulation&) {
  tick();
  std::uint64_t reached = 0;
  world_->each_state<lattice::Flood>(
      [&](std::uint32_t, const lattice::Flood& state) { reached += state.hops != lattice::Flood::unreached ? 1 : 0; });
  reached_.push_back(world_->region().sum(reached));
}

// From yellow at the source to violet at the farthest catom. A catom's colour stays, so that recordings are small.
std::array<std::uint8_t, 3> Flood::color(std::uint32_t catom) const {
  const std::uint32_t hops = world_->state<lattice::Flood>(catom)->hops;
  if (hops == lattice::Flood::unreached) return sim::no_color;
  if (!farthest_) farthest_ = std::max<std::uint32_t>(1, expected().farthest);
  return sim::ramp_color(1 - real(hops) / *farthest_);
}

// What is connected with the source, found by breadth-first search.
Flood::Expected Flood::expected() const {
  const lattice::Ensemble& ensemble = world_->ensemble();
  std::vector<std::uint32_t> distance(ensemble.count(), nobody), found = {source_};
  distance[source_] = 0;
  Expected e;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto around = ensemble.around(found[i]);
    e.farthest = std::max(e.farthest, distance[found[i]]);
    for (int port = 0; port < ensemble.lattice().ports(); ++port) {
      const std::uint32_t next = around.at(port);
      if (next == nobody) continue;
      ++e.links;
      if (distance[next] != nobody) continue;
      distance[next] = distance[found[i]] + 1;
      found.push_back(next);
    }
  }
  e.links /= 2;
  e.catoms = found.size();
  return e;
}

void Flood::shutdown(const sim::Simulation&, sim::Metrics& metrics) {
  const Expected e = expected();
  const bool complete = !reached_.empty() && reached_.back() == e.catoms;
  const auto all = std::find(reached_.begin(), reached_.end(), e.catoms);
  metrics.set("catoms", real(world_->ensemble().size()), "number of catoms");
  metrics.set("connected", real(e.catoms), "catoms that the source can reach");
  metrics.set("reached", reached_.empty() ? 0 : real(reached_.back()), "catoms that the wave has reached");
  metrics.set("ticks_to_all", sim::measured_if(complete, real(all - reached_.begin())),
              "the tick in which the last of them was reached; the source sends in tick 0");
  metrics.set("eccentricity", e.farthest, "links from the source to the farthest of them: the least number of ticks");
  metrics.set("messages", real(world_->traffic().delivered), "delivered");
  metrics.set("messages_expected", real(2 * e.links - (e.catoms - 1)), "2 E - (N - 1), once all have been read");
  measure_world(metrics);
}

Result<void> Flood::write(const std::filesystem::path& folder) const {
  return write_counts(folder, {.name = "reached",
                               .column = "reached",
                               .title = "A wave floods the ensemble",
                               .label = "catoms reached",
                               .unit = "catoms",
                               .counts = reached_});
}

void Flood::archive_state(Archive& ar) {
  CatomExperiment::archive_state(ar);
  ar.section("dprsim", "reached");
  ar("reached", reached_);
}

}  // namespace volvox::experiments::dprsim
