#include "gradient.h"

#include <algorithm>

#include "volvox/base/random.h"
#include "volvox/lattice/programs/gradient.h"

namespace volvox::experiments::dprsim {

using lattice::nobody;

Result<std::vector<model::ParameterDesc>> Gradient::parameters(const std::filesystem::path&) const {
  return std::vector<model::ParameterDesc>{
      {"lattice", "fcc", {}, {}, {"square", "hex", "cubic", "bcc", "fcc"}, "the lattice of the catoms", 0},
      {"cells",
       "",
       {},
       {},
       {},
       "a box of cells such as 10x10x10, or a file with the cells of the catoms: a list (.csv), an image or a closed "
       "mesh in m; empty: a box with holes",
       0},
      {"pitch", "1", 1e-9, 1e9, {}, "distance of neighbours in m, for cells from a mesh", 0},
      {"side", "30", 1, 300, {}, "cells along each side of the box", 0, true},
      {"filled", "0.6", 0, 1, {}, "part of the cells that have a catom; where the others are, chance decides", 0},
      {"sources", "3", 1, 1000, {}, "catoms from which distances count; which, chance decides", 0, true},
      {"capacity", "0", 0, 1e6, {}, "of an adapter, in bytes a tick (a message has 4); 0: not limited", 0, true}};
}

Result<model::WorldModel> Gradient::init(sim::Setup& setup) {
  if (const auto made = make_world(setup); !made.ok()) return made.error();
  if (const auto done = world_->load<lattice::Gradient>(); !done.ok()) return done.error();
  if (const std::string& cells = setup.settings.at("cells"); !cells.empty()) {
    if (const auto done = add_cells(setup, cells, sizeof(lattice::Gradient)); !done.ok()) return done.error();
  } else if (const auto done = add_box_with_holes(setup, sizeof(lattice::Gradient)); !done.ok()) {
    return done.error();
  }
  RandomStream random(setup.seed, 0, "sources");
  std::vector<std::uint32_t> sources;
  for (int i = 0; i < truncated(number(setup, "sources")); ++i) {
    sources.push_back(narrow<std::uint32_t>(random.below(world_->ensemble().count())));
    if (auto* source = world_->state<lattice::Gradient>(sources.back())) source->source = true;
  }
  expected_ = distances(sources);
  if (const auto done = world_->start(); !done.ok()) return done.error();
  return empty_world("gradient", 5);
}

// Breadth-first search from all sources.
std::vector<std::uint32_t> Gradient::distances(const std::vector<std::uint32_t>& sources) const {
  const lattice::Ensemble& ensemble = world_->ensemble();
  std::vector<std::uint32_t> distance(ensemble.count(), nobody), found;
  for (const std::uint32_t source : sources)
    if (std::exchange(distance[source], 0) != 0) found.push_back(source);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto around = ensemble.around(found[i]);
    for (int port = 0; port < ensemble.lattice().ports(); ++port) {
      const std::uint32_t next = around.at(port);
      if (next == nobody || distance[next] != nobody) continue;
      distance[next] = distance[found[i]] + 1;
      found.push_back(next);
    }
  }
  return distance;
}

void Gradient::before_tick(sim::Simulation&) {
  tick();
  std::uint64_t right = 0;
  world_->each_state<lattice::Gradient>([&](std::uint32_t i, const lattice::Gradient& state) {
    right += state.distance == expected_[i] && expected_[i] != nobody ? 1 : 0;
  });
  right_.push_back(world_->region().sum(right));
}

// From yellow at a source to violet at the farthest catom.
std::array<std::uint8_t, 3> Gradient::color(std::uint32_t catom) const {
  const lattice::Gradient& state = *world_->state<lattice::Gradient>(catom);
  if (state.distance == lattice::Gradient::unknown) return sim::no_color;
  if (farthest_ == 0)
    for (const std::uint32_t distance : expected_)
      if (distance != nobody) farthest_ = std::max(farthest_, distance);
  return sim::ramp_color(1 - real(state.distance) / std::max(1u, farthest_));
}

void Gradient::shutdown(const sim::Simulation&, sim::Metrics& metrics) {
  std::uint64_t reachable = 0, wrong = 0;
  std::uint32_t farthest = 0;
  world_->each_state<lattice::Gradient>(
      [&](std::uint32_t i, const lattice::Gradient& state) { wrong += state.distance != expected_[i] ? 1 : 0; });
  wrong = world_->region().sum(wrong);
  for (const std::uint32_t distance : expected_)
    if (distance != nobody) ++reachable, farthest = std::max(farthest, distance);
  const auto all = std::find(right_.begin(), right_.end(), reachable);
  metrics.set("catoms", real(world_->ensemble().size()), "number of catoms");
  metrics.set("reachable", real(reachable), "catoms that a source can reach");
  metrics.set("wrong", real(wrong), "catoms that do not know their distance, or take another for it");
  metrics.set("farthest", farthest, "links from the nearest source: the least number of ticks");
  metrics.set("ticks_to_all", sim::measured_if(all != right_.end(), real(all - right_.begin())),
              "the tick in which the last catom knew its distance; sources send in tick 0");
  metrics.set("messages", real(world_->traffic().delivered), "delivered; one a link and direction if none is delayed");
  metrics.set("link_ends", real(2 * world_->ensemble().links()), "links, counted at both ends");
  measure_world(metrics);
}

Result<void> Gradient::write(const std::filesystem::path& folder) const {
  return write_counts(folder, {.name = "distances",
                               .column = "right",
                               .title = "Distances spread over the ensemble",
                               .label = "catoms that know their distance",
                               .unit = "catoms",
                               .counts = right_});
}

void Gradient::archive_state(Archive& ar) {
  CatomExperiment::archive_state(ar);
  ar.section("dprsim", "distances");
  ar("right", right_);
}

}  // namespace volvox::experiments::dprsim
