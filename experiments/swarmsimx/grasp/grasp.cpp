#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "volvox/base/index.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::swarmsimx {
namespace {

world::PlacementIndex placement_named(const world::World& world, std::string_view name) {
  for (world::PlacementIndex p = 0; p < world.placements(); ++p)
    if (world.name(p) == name) return p;
  return world::nobody;
}

world::JointIndex joint_named(const world::World& world, world::PlacementIndex placement, std::string_view name) {
  const auto& joints = world.module_model(placement).joints;
  const auto found = std::find_if(joints.begin(), joints.end(), [&](const model::Joint& j) { return j.name == name; });
  return world.part(placement).first_joint + (found - joints.begin());
}

// The SwarmSimX paper, figure 3 (middle) and section 2: a quadrotor and a ground robot grasp a bar and carry it through
// an automatic door.
class Grasp final : public sim::Experiment {
 public:
  void begin(const sim::Simulation& simulation) override {
    const world::World& world = simulation.world();
    const world::PlacementIndex bar = placement_named(world, "bar");
    bar_ = world.part(bar).first_link;
    dock_front_ = world.part(bar).first_dock;
    dock_rear_ = dock_front_ + 1;
    door_ = joint_named(world, placement_named(world, "door"), "slide");
    start_ = world.link_pose(bar_).position;
    last_x_ = start_.x;
  }

  void observe(const sim::Simulation& simulation) override {
    const world::World& world = simulation.world();
    const Vec3 place = world.link_pose(bar_).position;
    const auto held = [&](world::DockIndex dock) { return world.dock_status(dock).phase == world::DockPhase::engaged; };
    if (held(dock_front_) && held(dock_rear_)) carried_ += place.x - last_x_;
    last_x_ = place.x;
    lifted_ = std::max(lifted_, place.z - start_.z);
    door_open_ = std::max(door_open_, world.joint_state(door_).position);
    for (const world::DockIndex dock : {dock_front_, dock_rear_}) {
      if (!held(dock)) continue;
      const world::DockIndex gripper = world.graph().partner(dock);
      load_ = std::max(load_, world.dock_load(gripper).utilisation(world.dock_model(gripper).strength));
    }
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    const world::World& world = simulation.world();
    const Vec3 moved = world.link_pose(bar_).position - start_;
    metrics.set("grasps", real(world.docks_formed()), "number of docks that engaged");
    metrics.set("lifted_m", lifted_, "largest lift of the bar's middle");
    metrics.set("carried_m", carried_, "distance of the bar along x while both robots held it");
    metrics.set("moved_m", moved.x, "distance of the bar along x, from start to end");
    metrics.set("aside_m", std::fabs(moved.y), "distance of the bar from the straight line, at the end");
    metrics.set("gripper_load", load_, "largest load of a gripper, as a fraction of its strength");
    metrics.set("door_open_m", door_open_, "largest opening of the door");
    metrics.set("door_end_m", world.joint_state(door_).position, "opening of the door at the end");
  }

  void archive_state(Archive& ar) override {
    ar("start", start_);
    ar("lifted", lifted_);
    ar("carried", carried_);
    ar("last x", last_x_);
    ar("door", door_open_);
    ar("load", load_);
  }

 private:
  world::LinkIndex bar_ = 0;
  world::JointIndex door_ = 0;
  world::DockIndex dock_front_ = 0, dock_rear_ = 0;
  Vec3 start_;
  double lifted_ = 0;   // m, largest lift of the bar's middle
  double carried_ = 0;  // m, while both robots held it
  double last_x_ = 0;
  double door_open_ = 0;  // m, largest opening
  double load_ = 0;       // largest load of a gripper, as a fraction of its strength
};

}  // namespace

sim::ExperimentFactory grasp() { return make<Grasp>(); }

}  // namespace volvox::experiments::swarmsimx
