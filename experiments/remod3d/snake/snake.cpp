#include <algorithm>
#include <cmath>

#include "chain_phase.h"
#include "disturbance.h"
#include "docks.h"
#include "experiments.h"
#include "volvox/base/index.h"
#include "volvox/sim/experiment.h"
#include "volvox/world/measures.h"

namespace volvox::experiments::remod3d {
namespace {

// The ReMod3D paper, figure 1(c): SuperBots docked front to back crawl by a sinusoidal gait.
class Snake final : public sim::Experiment {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override {
    auto world = Experiment::init(setup);
    if (!world.ok()) return world;
    if (setup.settings.at("breakable") == "false") make_docks_unbreakable(*world);
    // Each module knows its index in the chain, as with a gait control table. With sync="messages" no module uses it.
    int index = 0;
    for (model::Placement& placement : world->placements)
      if (placement.mind && placement.mind->behavior == "snake")
        placement.mind->parameters["index"] = std::to_string(index++);
    if (setup.settings.at("disturbed") == "true") disturb(*world, setup.seed);
    if (setup.settings.at("messages") == "false") cut_messages(*world);
    return world;
  }

  void begin(const sim::Simulation& simulation) override {
    const world::World& world = simulation.world();
    start_ = synced_ = world::centre_of_mass(world);
    for (const world::PlacementIndex module : world.modules())
      if (world.name(module) == "s0") forward_ = normalized(start_ - world::centre_of_mass(world, module));
  }

  void observe(const sim::Simulation& simulation) override {
    if (bool all_know = true; synced_at_ < 0 && synchrony(simulation, all_know) > 0.999 && all_know) {
      synced_at_ = simulation.now().seconds();
      synced_ = world::centre_of_mass(simulation.world());
    }
    // The amplitude of the waves rises during the first second, so the arches are measured after it.
    if (simulation.now() > Time::seconds(1)) lift_ = std::max(lift_, world::highest_link(simulation.world()));
    dock_errors_.observe(simulation.world());
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    const Vec3 moved = world::centre_of_mass(simulation.world()) - start_;
    const double distance = length(moved.x, moved.y);
    const double time = simulation.now().seconds();
    metrics.set("distance_m", distance, "horizontal distance of the centre of mass from its start");
    metrics.set("speed_m_s", sim::mean_of(distance, time), "distance_m over the run time");
    bool all_know = false;
    metrics.set("synchrony", synchrony(simulation, all_know),
                "agreement of the modules' phases at the end: 1 all agree, 0 random");
    metrics.set("sync_time_s", sim::measured_time(synced_at_), "when all modules knew the phase; -: never");
    const double since = time - std::max(synced_at_, 0.0);
    metrics.set("forward_speed_m_s",
                sim::mean_of(dot(world::centre_of_mass(simulation.world()) - synced_, forward_), since),
                "mean speed in the direction of the waves, after sync_time_s");
    metrics.set("lift_m", sim::measured_if(time > 1, lift_),
                "largest height of a link's centre after the first second");
    dock_errors_.report(metrics);
  }

  void archive_state(Archive& ar) override {
    ar("start", start_);
    ar("synced", synced_);
    ar("synced at", synced_at_);
    ar("forward", forward_);
    ar("lift", lift_);
    dock_errors_.archive(ar);
  }

 private:
  // The Kuramoto order parameter of the modules' phases: 1 if they agree, near 0 if they are random.
  double synchrony(const sim::Simulation& simulation, bool& all_know) const {
    double cosines = 0, sines = 0;
    all_know = true;
    for (std::size_t i = 0; i < simulation.minds().size(); ++i) {
      const auto* belief = simulation.minds().agent(i).find_model<robots::PhaseModel>();
      if (belief == nullptr) return 0;
      all_know = all_know && belief->known;
      cosines += volvox::cos(belief->phase);
      sines += volvox::sin(belief->phase);
    }
    return length(cosines, sines) / real(simulation.minds().size());
  }

  Vec3 start_, forward_;   // of the centre of mass; a unit vector the way that the waves go
  Vec3 synced_;            // of the centre of mass, when all modules had heard of the phase
  double synced_at_ = -1;  // s; negative: they have not
  double lift_ = 0;        // m
  DockErrors dock_errors_;
};

}  // namespace

sim::ExperimentFactory snake() { return make<Snake>(); }

}  // namespace volvox::experiments::remod3d
