// The state of the world: the bodies of every placed module and obstacle in a physics engine, and the docks between
// them. The description (model::WorldModel) never changes during a run.
//
// Units are SI. Poses are those of link frames in the world frame; velocities are those of centres of mass, in world
// axes (physics/engine.h). The world owns the engine. Const functions may be called from several threads at once; the
// others by one, unless they say otherwise. The same calls give the same bits.
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
#include "volvox/world/indices.h"

namespace volvox::world {

class Latches;    // world/latches.h
class Magnets;    // world/magnets.h
class Matter;     // world/matter.h
class OpenDocks;  // world/open_docks.h

// Placements, links, joints and docks are numbered over the whole world, in the order of the description. The links,
// joints and docks of one placement are contiguous and begin with the numbers in its `Part`.
struct Part {
  LinkIndex first_link = 0;
  JointIndex first_joint = 0;
  DockIndex first_dock = 0;
};

enum class DockPhase : std::uint8_t { free, latching, engaged };

struct DockStatus {
  DockPhase phase = DockPhase::free;
  bool enabled = true;
  bool broken = false;   // it broke, and cannot connect until it is disabled and enabled again
  bool carrier = false;  // of the two docks of a pair, the one whose frame the joint's loads are in
  physics::JointId joint;
};

// The load that its partner exerts on an engaged dock, in the dock's own frame (x points out of the module), averaged
// over the dock's load_time.
struct DockLoad {
  double axial = 0;    // N, positive when pulled apart
  double shear = 0;    // N
  double bending = 0;  // N m
  double torsion = 0;  // N m
  // The largest of the four ratios of load to strength; the dock breaks at 1.
  double utilisation(const model::DockStrength& strength) const;
};

struct DockEvent {
  // jammed: jaws stand on a partner that was captured askew; slipped: it was pulled out of jaws.
  enum class Kind : std::uint8_t { captured, engaged, released, broken, jammed, slipped } kind = Kind::captured;
  DockIndex dock_a = 0, dock_b = 0;
  DockLoad load{};  // of dock_a when it broke or slipped; zero for other events
};

class World {
 public:
  ~World();  // in the .cpp: see Simulation
  // The engine must be empty; the world owns it from here on. `threads`, for its water, rubble and cloth, may be null.
  static Result<std::unique_ptr<World>> create(std::shared_ptr<const model::WorldModel> model,
                                               std::unique_ptr<physics::Engine> engine, ThreadPool* threads = nullptr);

  const model::WorldModel& model() const { return *model_; }
  const physics::EngineInfo& engine_info() const { return engine_->info(); }
  // s by the wall, spent on finding contacts since the engine was made; of engines that tell (native and ode). No part
  // of the state.
  std::optional<double> collision_time() const;
  // The engine's arrays: poses, velocities and forces by body().index, joints and loads by the engine's joints.
  const physics::StateArrays& engine_state() const { return engine_->state(); }
  // Goes on in another engine, which must be empty: it gets the same bodies and joints and the state that all engines
  // have in common. If that fails, nothing has changed.
  Result<void> change_engine(std::unique_ptr<physics::Engine> engine);
  const DockGraph& graph() const { return graph_; }
  const Matter* matter() const { return matter_.get(); }  // water, rubble and cloth; null: there is none

  std::size_t placements() const { return parts_.size(); }
  const Part& part(PlacementIndex placement) const { return parts_[placement]; }
  const model::ModuleModel& module_model(PlacementIndex placement) const {
    return *model_->placements[placement].model;
  }
  const std::string& name(PlacementIndex placement) const { return model_->placements[placement].name; }
  const std::vector<PlacementIndex>& modules() const { return modules_; }  // the placements that have a mind

  std::size_t organism_count() const;  // connected components with at least one module

  // Links.
  std::size_t links() const { return bodies_.size(); }
  physics::BodyId body(LinkIndex link) const { return bodies_[link]; }
  Pose link_pose(LinkIndex link) const { return engine_->poses()[bodies_[link].index]; }
  Twist link_velocity(LinkIndex link) const { return engine_->velocities()[bodies_[link].index]; }
  // Moves a link to a pose at once and sets its velocity: for modules that are driven from outside.
  void place_link(LinkIndex link, const Pose& pose, const Twist& velocity) {
    engine_->set_body(bodies_[link], pose, velocity);
  }
  // Adds a force and a torque at the link's centre of mass, in world axes, until the end of the next advance. Several
  // threads may push different links.
  void push(LinkIndex link, const Wrench& wrench) { engine_->forces()[bodies_[link].index] += wrench; }
  // The contacts of the last substep.
  void contacts(std::vector<physics::Contact>& out) const { engine_->contacts(out); }
  // The velocity before the last advance of the engine, and the length of that advance (s): for accelerometers. An
  // advance is a tick, or a substep if controllers run on board.
  Twist last_velocity(LinkIndex link) const { return last_velocities_[link]; }
  double last_advance() const { return last_advance_; }
  const model::Link& link_model(LinkIndex link) const { return *link_models_[link]; }
  LinkIndex link_of(physics::BodyId body) const {  // nobody: the world itself
    return body.valid() && body.index < link_of_body_.size() ? link_of_body_[body.index] : nobody;
  }
  PlacementIndex placement_of_link(LinkIndex link) const { return placement_of_link_[link]; }
  PlacementIndex placement_of_body(physics::BodyId body) const;  // nobody: the world itself
  std::string body_name(physics::BodyId body) const;             // "s3.head"

  // Joints.
  physics::JointState joint_state(JointIndex joint) const { return engine_->joints()[joints_[joint].index]; }
  // Sets the command of a joint's motor; gains and limits come from the model.
  void command(JointIndex joint, physics::Control control, double target);

  // Magnets.
  const Magnets* magnets() const { return magnets_.get(); }  // null: no module has one
  // Switches the magnet of a module: from -1, south pole, to 1, north pole; 0 is off. It stays so until it is switched
  // again. Several threads may switch magnets of different modules.
  void switch_magnet(PlacementIndex placement, int magnet, double pole);

  // Docks.
  std::size_t docks() const { return dock_models_.size(); }
  const model::Dock& dock_model(DockIndex dock) const { return *dock_models_[dock]; }
  std::string dock_name(DockIndex dock) const;  // "s3.front"
  Pose dock_pose(DockIndex dock) const { return link_pose(dock_links_[dock]) * dock_models_[dock]->pose; }
  const DockStatus& dock_status(DockIndex dock) const { return docks_[dock]; }
  DockLoad dock_load(DockIndex dock) const;
  // Another number whenever the status or the partner of one of its docks has changed.
  std::uint32_t dock_changes(PlacementIndex placement) const { return dock_changes_[placement]; }
  const std::vector<DockIndex>& carriers() const { return carriers_; }  // one dock of every connected pair, in order
  void enable_dock(DockIndex dock, bool enabled);
  const Latches* latches() const { return latches_.get(); }  // null: no dock has one
  double dock_slip(DockIndex dock) const;                    // m, that its partner has slid out of its jaws

  // The deviation of two engaged docks from their closed pose.
  struct DockError {
    double distance = 0;  // m
    double angle = 0;     // rad
  };
  DockError largest_dock_error() const;  // over all pairs that are fully engaged

  // Fixes a link to a hand (world/hand.h), as the two lie to each other now.
  physics::JointId grip(LinkIndex hand, LinkIndex link);
  void release(physics::JointId grip);  // does nothing if the joint no longer exists

  // The colour of a module's lamp actuator: viewers draw the module in it. None: the colours of the model.
  void set_color(PlacementIndex placement, const model::Color& color) { colors_[placement] = color; }
  std::optional<model::Color> color(PlacementIndex placement) const {
    const auto found = colors_.find(placement);
    return found == colors_.end() ? std::nullopt : std::optional(found->second);
  }

  // The phases of a tick (docs/step.md). The order of events is deterministic.
  void update_docks(std::vector<DockEvent>& events);  // dock
  StepStatus move(Time begin, Time end);              // move
  // The same in single substeps. `control` is called at the beginning of each with its time and length (s); its forces
  // and commands hold for this substep only and add to those of the tick. If it fails, the move ends with its status.
  // It may be null. Where there is matter, both move it beside the bodies, substep by substep; magnets pull anew in
  // each.
  using Control = std::function<StepStatus(Time begin, double step)>;
  StepStatus move(Time begin, Time end, double max_substep, const Control& control);
  bool moves_in_substeps() const { return matter_ != nullptr || magnets_ != nullptr; }
  // The move phase of a world that does not move in substeps, in two halves: between them somebody else moves its
  // engine, which begin_move() returns, through the tick (sim::Population). `moved`: how that went.
  physics::Engine& begin_move();
  StepStatus end_move(Time begin, Time end, StepStatus moved);
  // Whether the friction of joints follows their load, in every advance.
  bool joints_rub() const { return !flush_joints_.empty(); }
  void break_docks(std::vector<DockEvent>& events);  // break

  std::int64_t docks_broken() const { return docks_broken_; }  // connections, since the start
  std::int64_t docks_formed() const { return docks_formed_; }  // captures, since the start
  std::int64_t docks_released() const { return docks_released_; }

  // Snapshot and hash.
  void archive(Archive& ar);
  std::size_t memory_bytes() const;  // without the memory of the engine

 private:
  World();
  Result<void> build();
  Result<void> add_placement(PlacementIndex placement);
  void add_initial_connections();
  void join(DockIndex a, DockIndex b, const Pose& b_in_a, double latch_time);
  physics::JointDesc joint_of_docks(DockIndex a, DockIndex b, const Pose& b_in_a) const;
  bool slides(DockIndex carrier) const;
  void part_docks(DockIndex dock);
  void note_change(DockIndex dock);
  void list_open_docks();
  void hold_by_friction();
  void check_latches(std::vector<DockEvent>& events);
  void release_disabled(std::vector<DockEvent>& events);
  void finish_latching(std::vector<DockEvent>& events);
  void capture(std::vector<DockEvent>& events);
  StepStatus move_in_parts(Time begin, Time end, double max_substep, const Control& control);
  StepStatus advance(Time begin, Time end);
  void record_load(DockIndex carrier, double dt);
  void rub_flush_faces();
  bool hand_over(SaveArchive& state, bool to_one_that_follows_loads);
  bool consistent() const;
  bool joints_there() const;
  void hash_bodies(Archive& ar);

  std::shared_ptr<const model::WorldModel> model_;
  std::unique_ptr<physics::Engine> engine_;
  std::unique_ptr<Matter> matter_;
  std::unique_ptr<Magnets> magnets_;
  std::unique_ptr<Latches> latches_;

  // Fixed once built.
  std::vector<Part> parts_;
  std::vector<PlacementIndex> modules_;
  std::vector<physics::BodyId> bodies_;
  std::vector<const model::Link*> link_models_;
  std::vector<PlacementIndex> placement_of_link_;
  std::vector<LinkIndex> link_of_body_;  // by body index
  std::vector<physics::JointId> joints_;
  std::vector<const model::Joint*> joint_models_;
  std::vector<JointIndex> flush_joints_;  // whose friction grows with their load
  std::vector<const model::Dock*> dock_models_;
  std::vector<LinkIndex> dock_links_;
  double largest_capture_ = 0;

  // The state that a snapshot holds.
  std::vector<Twist> last_velocities_;
  double last_advance_ = 1;
  std::vector<DockStatus> docks_;
  DockGraph graph_;
  std::vector<DockIndex> carriers_;  // sorted: one dock of every connected pair
  // The impulses of the last ticks, by carrier dock. The window is as long as the dock's load_time, so that breakage
  // does not depend on the length of a tick.
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
  std::map<PlacementIndex, model::Color> colors_;  // by placement

  DockFinder finder_;                // scratch of the dock phase
  std::vector<Wrench> tick_forces_;  // scratch of the move phase

  // What follows from the docks.
  std::vector<std::uint32_t> dock_changes_;  // by placement
  bool docks_changed_ = true;                // since open_docks_ was made
  std::unique_ptr<OpenDocks> open_docks_;
};

}  // namespace volvox::world
