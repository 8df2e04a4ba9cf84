// What is there, now: every placed module and obstacle as bodies in a physics engine, and
// the docks between them. The description (model::WorldModel) never changes; all that a
// snapshot must hold is in World.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "volvox/model/world_model.h"
#include "volvox/physics/engine.h"
#include "volvox/world/dock_finder.h"
#include "volvox/world/dock_graph.h"

namespace volvox::world {

// Placements, links, joints and docks are numbered over the whole world, in the order of the
// description; a placement's own are contiguous and start where `Part` says.
struct Part {
  std::uint32_t first_link = 0, first_joint = 0, first_dock = 0;
};

enum class DockPhase : std::uint8_t { free, latching, engaged };

struct DockStatus {
  DockPhase phase = DockPhase::free;
  bool enabled = true;
  bool broken = false;   // it broke, and holds nothing until it is disabled and enabled again
  bool carrier = false;  // of the two docks of a pair, the one whose frame the joint's loads are in
  physics::JointId joint;
};

// The load of an engaged dock, in its own frame (x out of the module), averaged over its
// load_time: what the partner passes on to this dock's module.
struct DockLoad {
  double axial = 0;    // N, positive when pulled apart
  double shear = 0;    // N
  double bending = 0;  // N m
  double torsion = 0;  // N m
  // The largest of the four, each as a part of the dock's strength: 1 breaks it.
  double utilisation(const model::DockStrength& strength) const;
};

struct DockEvent {
  enum class Kind : std::uint8_t { captured, engaged, released, broken } kind = Kind::captured;
  std::uint32_t dock_a = 0, dock_b = 0;
  DockLoad load{};  // of a: what broke it, if it broke
};

class World {
 public:
  // The engine must be empty; the world owns it from here on.
  static Result<std::unique_ptr<World>> create(std::shared_ptr<const model::WorldModel> model,
                                               std::unique_ptr<physics::Engine> engine);

  const model::WorldModel& model() const { return *model_; }
  const physics::EngineInfo& engine_info() const { return engine_->info(); }
  // The engine's arrays: poses, velocities and forces by body().index, joints and loads by the engine's joints.
  const physics::StateArrays& engine_state() const { return engine_->state(); }
  const DockGraph& graph() const { return graph_; }

  std::size_t placements() const { return parts_.size(); }
  const Part& part(std::uint32_t placement) const { return parts_[placement]; }
  const model::ModuleModel& module_model(std::uint32_t placement) const { return *model_->placements[placement].model; }
  const std::string& name(std::uint32_t placement) const { return model_->placements[placement].name; }
  const std::vector<std::uint32_t>& modules() const { return modules_; }  // placements that have a mind

  std::size_t organism_count() const;  // connected components that have a module in them

  // Links.
  std::size_t links() const { return bodies_.size(); }
  physics::BodyId body(std::uint32_t link) const { return bodies_[link]; }
  Pose link_pose(std::uint32_t link) const { return engine_->poses()[bodies_[link].index]; }
  Twist link_velocity(std::uint32_t link) const { return engine_->velocities()[bodies_[link].index]; }
  // Puts a link somewhere else at once, with a velocity (of its centre of mass): for what is driven from outside.
  void place_link(std::uint32_t link, const Pose& pose, const Twist& velocity) {
    engine_->set_body(bodies_[link], pose, velocity);
  }
  // A force and a torque on a link at its centre of mass, in world axes, until the end of the next advance; added
  // to what others push with. Threads may push different links.
  void push(std::uint32_t link, const Wrench& wrench) { engine_->forces()[bodies_[link].index] += wrench; }
  // Where links touched in the last substep.
  void contacts(std::vector<physics::Contact>& out) const { engine_->contacts(out); }
  // The velocity before the last advance of the engine, and how long that was (s): for accelerometers.
  // An advance is a tick, or a substep where on-board controllers run.
  Twist last_velocity(std::uint32_t link) const { return last_velocities_[link]; }
  double last_advance() const { return last_advance_; }
  const model::Link& link_model(std::uint32_t link) const { return *link_models_[link]; }
  std::uint32_t link_of(physics::BodyId body) const {  // nobody: the world itself
    return body.valid() && body.index < link_of_body_.size() ? link_of_body_[body.index] : nobody;
  }
  std::uint32_t placement_of_link(std::uint32_t link) const { return placement_of_link_[link]; }
  std::uint32_t placement_of_body(physics::BodyId body) const;  // nobody: the world itself
  std::string body_name(physics::BodyId body) const;            // "s3.head"

  // Joints.
  physics::JointState joint_state(std::uint32_t joint) const { return engine_->joints()[joints_[joint].index]; }
  // Sets the command of a joint's motor; gains and limits come from the model.
  void command(std::uint32_t joint, physics::Control control, double target);

  // Docks.
  std::size_t docks() const { return dock_models_.size(); }
  const model::Dock& dock_model(std::uint32_t dock) const { return *dock_models_[dock]; }
  std::string dock_name(std::uint32_t dock) const;  // "s3.front"
  Pose dock_pose(std::uint32_t dock) const { return link_pose(dock_links_[dock]) * dock_models_[dock]->pose; }
  const DockStatus& dock_status(std::uint32_t dock) const { return docks_[dock]; }
  DockLoad dock_load(std::uint32_t dock) const;
  void enable_dock(std::uint32_t dock, bool enabled);

  // How far two engaged docks are from where they should be.
  struct DockError {
    double distance = 0;  // m
    double angle = 0;     // rad
  };
  DockError largest_dock_error() const;  // over all pairs that are fully engaged

  // A hold from outside (world/hand.h): pulls a link to a pose of its frame and keeps it there, by a joint to the
  // world that takes `latch_time` (s) to close and pulls no faster than `speed` (m/s).
  physics::JointId hold(std::uint32_t link, const Pose& at, double latch_time, double speed);
  void release(physics::JointId hold);  // nothing, where it has gone already
  bool arrived(physics::JointId hold) const { return engine_->latched()[hold.index] != 0; }

  // What a module shows (a lamp actuator sets it): viewers draw it in this colour instead of its
  // own. None: as its model says.
  void set_color(std::uint32_t placement, const model::Color& color) { colors_[placement] = color; }
  std::optional<model::Color> color(std::uint32_t placement) const {
    const auto found = colors_.find(placement);
    return found == colors_.end() ? std::nullopt : std::optional(found->second);
  }

  // The phases of a tick (docs/step.md). Events come in a fixed order.
  void update_docks(std::vector<DockEvent>& events);  // dock
  StepStatus move(Time begin, Time end);              // move
  // The same, substep by substep: `control` is called at the beginning of each with its time and
  // length (s), and adds forces and commands for this substep alone to those of the tick. If it
  // fails, the tick ends there with its status.
  using Control = std::function<StepStatus(Time begin, double step)>;
  StepStatus move(Time begin, Time end, double max_substep, const Control& control);
  void break_docks(std::vector<DockEvent>& events);  // break

  std::int64_t docks_broken() const { return docks_broken_; }  // connections, since the start
  std::int64_t docks_formed() const { return docks_formed_; }  // captures, since the start
  std::int64_t docks_released() const { return docks_released_; }

  // Snapshot and hash.
  void archive(Archive& ar);
  std::size_t memory_bytes() const;  // of this object, the engine's own apart

 private:
  World() = default;
  Result<void> build();
  Result<void> add_placement(std::uint32_t placement);
  void add_initial_connections();
  void join(std::uint32_t a, std::uint32_t b, const Pose& b_in_a, double latch_time);
  void part_docks(std::uint32_t dock);
  void release_disabled(std::vector<DockEvent>& events);
  void finish_latching(std::vector<DockEvent>& events);
  void capture(std::vector<DockEvent>& events);
  StepStatus advance(Time begin, Time end);
  void record_load(std::uint32_t carrier, double dt);
  bool consistent() const;
  bool joints_there() const;
  void hash_bodies(Archive& ar);

  std::shared_ptr<const model::WorldModel> model_;
  std::unique_ptr<physics::Engine> engine_;

  // Fixed once built.
  std::vector<Part> parts_;
  std::vector<std::uint32_t> modules_;
  std::vector<physics::BodyId> bodies_;
  std::vector<const model::Link*> link_models_;
  std::vector<std::uint32_t> placement_of_link_;
  std::vector<std::uint32_t> link_of_body_;  // by body index
  std::vector<physics::JointId> joints_;
  std::vector<const model::Joint*> joint_models_;
  std::vector<const model::Dock*> dock_models_;
  std::vector<std::uint32_t> dock_links_;
  double largest_capture_ = 0;

  // What a snapshot holds.
  std::vector<Twist> last_velocities_;
  double last_advance_ = 1;
  std::vector<DockStatus> docks_;
  DockGraph graph_;
  std::vector<std::uint32_t> carriers_;  // sorted: one dock of every pair that holds
  // The impulses of the last ticks, by carrier dock: a window as long as the dock's load_time,
  // so that what breaks does not depend on the length of a tick.
  struct LoadWindow {
    std::vector<Wrench> impulses;  // N s, N m s, in the carrier's frame
    std::uint32_t next = 0;
    double span = 0;  // s
    template <class A>
    void archive(A& ar) {
      ar("impulses", impulses);
      ar("next", next);
      ar("span", span);
      if (ar.loading() && next >= impulses.size() && next > 0) ar.fail("a window of loads is damaged");
    }
  };
  std::vector<LoadWindow> windows_;
  std::vector<Quat> dock_turns_;  // by carrier: the partner's rotation in its frame, once closed
  std::int64_t docks_broken_ = 0, docks_formed_ = 0, docks_released_ = 0;
  std::map<std::uint32_t, model::Color> colors_;  // by placement

  DockFinder finder_;                // scratch of the dock phase
  std::vector<Wrench> tick_forces_;  // scratch of the move phase
};

}  // namespace volvox::world
