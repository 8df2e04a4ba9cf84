#include "synchrony.h"

#include <cmath>

#include "volvox/sim/metrics.h"

namespace volvox::experiments::roles {

void Synchrony::observe(const sim::Simulation& simulation) {
  const world::World& world = simulation.world();
  const mind::Minds& minds = simulation.minds();
  const double now = simulation.now().seconds();
  std::vector<const mind::RolePlayed*> played(world.placements(), nullptr);
  for (std::size_t i = 0; i < minds.size(); ++i)
    if (!minds.is_off(i)) played[minds.agent(i).placement()] = minds.agent(i).find_model<mind::RolePlayed>();

  children_ = in_step_ = 0;
  largest_error_ = 0;
  for (world::PlacementIndex p = 0; p < world.placements(); ++p) {
    if (played[p] == nullptr) continue;
    const model::ModuleModel& model = world.module_model(p);
    const world::DockIndex dock = world.part(p).first_dock + model.dock_index(book_.parent);
    const world::DockIndex at = world.graph().partner(dock);
    const world::PlacementIndex parent = world.graph().neighbor(dock);
    if (parent == world::nobody) continue;
    if (played[parent] == nullptr) continue;  // the child of a dead parent is a root
    ++children_;
    const mind::Role& leading = book_.roles[book_.role_index(played[parent]->role)];
    const auto delay = leading.delays.find(world.dock_model(at).name);
    double error = leading.period / 2;
    if (delay != leading.delays.end()) {
      const double off = played[p]->t - (played[parent]->t - delay->second);
      error = std::abs(off - leading.period * std::round(off / leading.period));
    }
    largest_error_ = std::max(largest_error_, error);
    if (error <= tolerance(simulation)) ++in_step_;
  }
  if (!all_in_step()) last_out_ = now;
}

double Synchrony::since() const { return sim::measured_if(children_ > 0 && all_in_step(), last_out_); }

}  // namespace volvox::experiments::roles
