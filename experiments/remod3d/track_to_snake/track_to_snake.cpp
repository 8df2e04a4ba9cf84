#include <algorithm>
#include <cmath>

#include "disturbance.h"
#include "experiments.h"
#include "remod3d/travel.h"
#include "volvox/base/index.h"
#include "volvox/sim/experiment.h"
#include "volvox/world/measures.h"

namespace volvox::experiments::remod3d {
namespace {

constexpr double straight = 0.15;  // rad: a chain is straight if all its joints bend less
constexpr double moved_on = 0.5;   // m
constexpr double some_way = 0.1;   // m: a track that rolled less has no direction yet

double over_ground(const Vec3& a, const Vec3& b) { return length(a.x - b.x, a.y - b.y); }

// The horizontal component of one displacement along another.
double along(const Vec3& way, const Vec3& other) {
  const double length = volvox::length(other.x, other.y);
  return length > 0 ? (way.x * other.x + way.y * other.y) / length : 0;
}

double largest_bend(const world::World& world) {
  double bend = 0;
  for (const world::PlacementIndex module : world.modules())
    for (const char* joint : {"yaw", "pitch"}) {
      const int number = world.module_model(module).joint_index(joint);
      bend = std::max(bend, std::fabs(world.joint_state(world.part(module).first_joint + number).position));
    }
  return bend;
}

// The ReMod3D paper, figure 5 (middle): a rolling track disables one dock and becomes a snake that moves on.
class TrackToSnake final : public sim::Experiment {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override {
    auto world = Experiment::init(setup);
    if (!world.ok()) return world;
    for (model::Placement& placement : world->placements)
      if (placement.name == "t" + setup.settings.at("opener")) placement.mind->parameters["opener"] = "true";
    if (setup.settings.at("disturbed") == "true") disturb(*world, setup.seed);
    if (setup.settings.at("messages") == "false") cut_messages(*world);
    return world;
  }

  void begin(const sim::Simulation& simulation) override { start_ = world::centre_of_mass(simulation.world()); }

  void observe(const sim::Simulation& simulation) override {
    const world::World& world = simulation.world();
    for (const world::PlacementIndex module : world.modules()) {
      const Vec3 axis = world.link_pose(world.part(module).first_link).rotation * Vec3{0, 0, 1};
      tilt_ = std::max(tilt_, std::fabs(volvox::asin(clamp(axis.z, -1, 1))));
    }
    if (opened_at_ < 0 && world.docks_released() > 0) {
      opened_at_ = simulation.now().seconds();
      opened_ = world::centre_of_mass(world);
    } else if (opened_at_ >= 0 && unrolled_at_ < 0 && largest_bend(world) < straight) {
      unrolled_at_ = simulation.now().seconds();
      unrolled_ = world::centre_of_mass(world);
    }
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    const world::World& world = simulation.world();
    const Vec3 now = world::centre_of_mass(world);
    const double rolled = over_ground(opened_at_ >= 0 ? opened_ : now, start_);
    const double crawled = unrolled_at_ < 0    ? 0
                           : rolled < some_way ? over_ground(now, unrolled_)
                                               : along(now - unrolled_, opened_ - start_);
    const double crawling = simulation.now().seconds() - unrolled_at_;
    const bool whole = world.organism_count() == 1 && world.docks_broken() == 0;
    metrics.set("rolled_m", rolled, "horizontal distance as a track, until the ring opened");
    metrics.set("opened_s", sim::measured_time(opened_at_), "when the ring opened; -: never");
    metrics.set("unrolled_s", sim::measured_time(unrolled_at_), "when the chain was straight; -: never");
    metrics.set("crawled_m", crawled, "distance as a snake, in the track's direction (in any, if rolled_m < 0.1)");
    metrics.set("crawl_speed_m_s", unrolled_at_ >= 0 ? sim::mean_of(crawled, crawling) : sim::not_measured,
                "mean speed as a snake, after unrolled_s");
    metrics.set("tilt_max_deg", degrees(tilt_), "largest tilt of the joints' plane from the vertical");
    metrics.set("reconfigured", opened_at_ >= 0 && whole && crawled > moved_on && tilt_ < toppled ? 1 : 0,
                "1: the ring opened, no dock broke, it stayed upright and crawled more than 0.5 m");
    metrics.set("docks_broken", real(world.docks_broken()));
  }

  void archive_state(Archive& ar) override {
    ar("start", start_);
    ar("opened", opened_);
    ar("unrolled", unrolled_);
    ar("opened at", opened_at_);
    ar("unrolled at", unrolled_at_);
    ar("tilt", tilt_);
  }

 private:
  Vec3 start_;                                // centre of mass at the start
  Vec3 opened_;                               // centre of mass when the ring opened
  Vec3 unrolled_;                             // centre of mass when the chain was straight
  double opened_at_ = -1, unrolled_at_ = -1;  // s; negative: not yet
  double tilt_ = 0;                           // rad, largest tilt of the joints' plane from the vertical
};

}  // namespace

sim::ExperimentFactory track_to_snake() { return make<TrackToSnake>(); }

}  // namespace volvox::experiments::remod3d
