#include <cmath>

#include "disturbance.h"
#include "experiments.h"
#include "volvox/sim/experiment.h"
#include "volvox/world/measures.h"

namespace volvox::experiments::remod3d {
namespace {

// An ATRON with a beacon at one dock; real ones have infrared at every connector.
std::shared_ptr<const model::ModuleModel> with_beacon(const model::ModuleModel& atron, const std::string& name) {
  auto seeing = std::make_shared<model::ModuleModel>(atron);
  const model::Dock& dock = seeing->docks[seeing->dock_index(name)];
  seeing->sensors.push_back({name + "_beacon", "dock_beacon", dock.link, dock.pose, {{"max_range", "0.6"}}, 0});
  return seeing;
}

world::PlacementIndex find(const world::World& world, const std::string& name) {
  for (world::PlacementIndex p = 0; p < world.placements(); ++p)
    if (world.name(p) == name) return p;
  VOLVOX_CHECK(false, "a module of car_dock is missing");
}

// The ReMod3D paper, figure 5, bottom: two ATRON cars dock into one of fifteen modules; then a car of three undocks at
// the rear and drives away.
class CarDock final : public sim::Experiment {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override {
    auto world = Experiment::init(setup);
    if (!world.ok()) return world;
    for (model::Placement& placement : world->placements)
      if (placement.name == "b_hub") placement.model = with_beacon(*placement.model, "n3");
    if (setup.settings.at("disturbed") == "true") disturb(*world, setup.seed);
    return world;
  }

  void observe(const sim::Simulation& simulation) override {
    const world::World& world = simulation.world();
    if (docked_at_ < 0 && world.organism_count() == 1) docked_at_ = simulation.now().seconds();
    if (docked_at_ >= 0 && parted_at_ < 0 && world.organism_count() == 2) parted_at_ = simulation.now().seconds();
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    const world::World& world = simulation.world();
    const Vec3 way =
        world::centre_of_mass(world, find(world, "b_rear_hub")) - world::centre_of_mass(world, find(world, "b_hub"));
    const double gap = length(way.x, way.y);
    const bool away = parted_at_ >= 0 && gap > 0.25 && world.organism_count() == 2;
    metrics.set("docked", docked_at_ >= 0, "1: fifteen modules became one robot");
    metrics.set("docked_at_s", sim::measured_time(docked_at_), "when the cars docked; -: never");
    metrics.set("parted_at_s", sim::measured_time(parted_at_), "when the last three modules undocked; -: never");
    metrics.set("gap_m", gap, "at the end, from the last hub to the one before; 0.158 while docked");
    metrics.set("succeeded", away, "1: the cars docked, and the last three modules undocked and drove away");
  }

  void archive_state(Archive& ar) override {
    ar("docked", docked_at_);
    ar("parted", parted_at_);
  }

 private:
  double docked_at_ = -1, parted_at_ = -1;  // s; -1: not yet
};

}  // namespace

sim::ExperimentFactory car_dock() { return make<CarDock>(); }

}  // namespace volvox::experiments::remod3d
