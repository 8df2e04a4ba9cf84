#include "script.h"

#include <cmath>

namespace volvox::experiments::roles {
namespace {

constexpr double held_height = 0.12, standing_height = 0.08;  // m, of the held module
constexpr double above = 0.25, before = 0.04, aside = 0.7;    // m
constexpr const char* hand_names[] = {"hand0", "hand1"};
constexpr double patience = 6, rest = 2,
                 pressing = 1.6;  // s, time limits of a stage, of lifting the receiver, of a push

world::PlacementIndex find(const world::World& world, const std::string& module) {
  for (world::PlacementIndex p = 0; p < world.placements(); ++p)
    if (world.name(p) == module) return p;
  return world::nobody;
}
world::DockIndex dock_of(const world::World& world, world::PlacementIndex module, const std::string& dock) {
  const int index = world.module_model(module).dock_index(dock);
  return index < 0 ? world::nobody : world.part(module).first_dock + index;
}
world::LinkIndex link_of_dock(const world::World& world, world::PlacementIndex module, const std::string& dock) {
  const model::ModuleModel& model = world.module_model(module);
  return world.part(module).first_link + model.docks[model.dock_index(dock)].link;
}
// The same place and heading, but horizontal and at this height.
Pose level(const Pose& pose, double height) {
  const Vec3 forward = pose.rotation * Vec3{1, 0, 0};
  return {{pose.position.x, pose.position.y, height}, Quat::axis_angle({0, 0, 1}, volvox::atan2(forward.y, forward.x))};
}
Pose moved(Pose pose, const Vec3& by) {
  pose.position += by;
  return pose;
}
// The pose of the link with dock s when s is docked to the target.
Pose closed_base(const world::World& world, world::PlacementIndex module, world::DockIndex target) {
  const model::Dock& s = world.dock_model(dock_of(world, module, "s"));
  return world.dock_pose(target) * model::engaged_dock(s.symmetry, 0) * s.pose.inverse();
}

}  // namespace

// Looks up the modules and the dock of the next move.
Result<void> Script::begin_move(sim::Simulation& simulation) {
  world::World& world = simulation.world();
  const Move& move = moves_[next_];
  module_ = find(world, move.module);
  receiver_ = world::nobody;
  target_ = world::nobody;
  if (!move.to.empty()) {
    const std::size_t point = move.to.find('.');
    receiver_ = find(world, move.to.substr(0, point));
    if (receiver_ != world::nobody) target_ = dock_of(world, receiver_, move.to.substr(point + 1));
  }
  if (module_ == world::nobody || (!move.to.empty() && target_ == world::nobody))
    return Error("the hands cannot move " + move.module + " to " + move.to, "name modules and docks that exist");
  return {};
}

void Script::add_hands(model::WorldModel& world, double force, double torque) {
  const auto model = std::make_shared<const model::ModuleModel>(world::hand_model(force, torque));
  for (const char* name : hand_names) {
    model::Placement hand;
    hand.name = name;
    hand.model = model;
    hand.positions = {0, 0, 0.4, 0, 0, 0};
    world.placements.push_back(std::move(hand));
  }
}

Result<void> Script::before_tick(sim::Simulation& simulation) {
  for (const world::Hand& hand : hands_)
    if (hand.link() != world::nobody && hand.link() >= simulation.world().links())
      return Error("a hand is to hold a link that does not exist", "use another snapshot: this one is damaged");
  // First, so that a dock opens in the same tick in which a hand takes hold beside it.
  for (std::size_t k = 0; k < std::size(hands_); ++k)
    hands_[k].move(simulation.world(), find(simulation.world(), hand_names[k]), simulation.settings().dt.seconds());
  return plan(simulation);
}

Result<void> Script::plan(sim::Simulation& simulation) {
  if (done()) return {};
  if (next_ < moves_.size())
    if (auto found = begin_move(simulation); !found.ok()) return found;
  while (advance(simulation)) {
    if (next_ < moves_.size())
      if (auto found = begin_move(simulation); !found.ok()) return found;
    if (done()) break;
  }
  return {};
}

bool Script::late(double now) const { return now - since_ > patience; }

// After the last move.
void Script::set_down(world::World& world, double now) {
  if (stage_ != Stage::down) {
    holder().carry(level(world.link_pose(holder().link()), standing_height), 0.1);
    return enter(Stage::down, now);
  }
  if (!holder().arrived() && !late(now)) return;
  holder().let_go(world);
  enter(Stage::hold, now);
}

// Holds the receiving module up. A hand that held another lets go when the other hand has taken this one.
void Script::hold(world::World& world, double now) {
  const world::LinkIndex head = receiver_ == world::nobody ? holder().link() : link_of_dock(world, receiver_, "n");
  if (holder().link() == head) {
    // The rest of the robot winds on and shakes the hand.
    if (holder().holds() && !holder().arrived() && now - since_ < rest) return;
    carrier().reach(world, link_of_dock(world, module_, "s"));
    return enter(Stage::grip, now);
  }
  since_ = now;
  if (carrier().link() != head) carrier().reach(world, head);
  if (!carrier().holds()) return;
  holder().let_go(world);
  swapped_ = !swapped_;
  holder().carry(level(world.link_pose(head), held_height), 0.15);
}

world::DockIndex Script::leaving_dock(const world::World& world) const {
  return dock_of(world, module_, by_north_ ? "n" : "s");
}

// Takes hold of the module and undocks it in the same tick: two hands on one chain pull it apart. The module comes with
// its children, unless it is the root of the robot that it will join.
void Script::grip(world::World& world, double now) {
  if (!carrier().holds()) return;
  const auto organisms = world.graph().organisms();
  by_north_ = world.graph().partner(dock_of(world, module_, "s")) == world::nobody && receiver_ != world::nobody &&
              organisms[module_] == organisms[receiver_];
  world.enable_dock(leaving_dock(world), false);
  enter(Stage::free, now);
}

void Script::lift(world::World& world, double now) {
  if (!carrier().arrived() && !late(now)) return;
  const world::LinkIndex base = link_of_dock(world, module_, "s");
  // A broken dock can dock again after it was disabled.
  if (target_ != world::nobody) world.enable_dock(target_, false), world.enable_dock(target_, true);
  world.enable_dock(dock_of(world, module_, "s"), true);
  world.enable_dock(dock_of(world, module_, "n"), true);
  const Vec3 out = target_ == world::nobody ? Vec3{} : world.dock_pose(target_).rotation * Vec3{before, 0, 0};
  const Pose over = target_ == world::nobody
                        ? moved(world.link_pose(base), world.link_pose(base).rotation * Vec3{0, aside, 0})
                        : moved(closed_base(world, module_, target_), out + Vec3{0, 0, above});
  carrier().carry(over);
  enter(Stage::over, now);
}

// Returns whether the dock has closed.
bool Script::push(world::World& world, double now) {
  const world::DockIndex own = dock_of(world, module_, "s");
  // A captured dock pulls by itself: the hand lets go so as not to pull against it.
  const world::DockPhase phase = world.dock_status(own).phase;
  if (phase == world::DockPhase::latching) carrier().let_go(world);
  else if (phase == world::DockPhase::engaged) return true;
  else if (carrier().link() == world::nobody)  // it has let go of a dock that did not close
    carrier().reach(world, link_of_dock(world, module_, "s"));
  // The other hand gives way, too: what it holds is no longer where this one began to push.
  if (carrier().arrived()) carrier().carry(closed_base(world, module_, target_), 0.05);
  if (carrier().holds() && now - since_ > pressing) {  // something is in the way: try again from above
    ++retries_;
    carrier().carry(moved(closed_base(world, module_, target_),
                          world.dock_pose(target_).rotation * Vec3{before, 0, 0} + Vec3{0, 0, above}));
    enter(Stage::over, now);
  }
  return false;
}

// Goes to the next stage if this one is over. Returns whether a new move begins.
bool Script::advance(sim::Simulation& simulation) {
  world::World& world = simulation.world();
  const double now = simulation.now().seconds();
  if (next_ >= moves_.size()) return set_down(world, now), false;
  const world::LinkIndex base = link_of_dock(world, module_, "s");
  switch (stage_) {
    case Stage::hold: return hold(world, now), false;
    case Stage::grip: return grip(world, now), false;
    case Stage::free:
      if (world.graph().partner(leaving_dock(world)) != world::nobody) return false;
      // Straight out, so that its plate does not catch on the one that it leaves.
      carrier().carry(moved(world.link_pose(base), world.dock_pose(leaving_dock(world)).rotation * Vec3{-before, 0, 0}),
                      0.1);
      enter(Stage::draw, now);
      return false;
    case Stage::draw:
      if (!carrier().arrived() && !late(now)) return false;
      carrier().carry(moved(level(world.link_pose(base), held_height), {0, 0, above}));
      enter(Stage::lift, now);
      return false;
    case Stage::lift: return lift(world, now), false;
    case Stage::over:
      if (!carrier().arrived() && !late(now)) return false;
      if (target_ == world::nobody) {
        carrier().carry(level(world.link_pose(base), 0.04));
        enter(Stage::drop, now);
      } else {
        carrier().carry(
            moved(closed_base(world, module_, target_), world.dock_pose(target_).rotation * Vec3{before, 0, 0}), 0.2);
        enter(Stage::align, now);
      }
      return false;
    case Stage::align:
      if (!carrier().arrived() && !late(now)) return false;
      carrier().carry(closed_base(world, module_, target_), 0.05);
      enter(Stage::push, now);
      return false;
    case Stage::push:
      if (!push(world, now)) return false;
      break;
    case Stage::drop:
      if (!carrier().arrived() && !late(now)) return false;
      break;
    case Stage::down: return false;
  }
  carrier().let_go(world);
  ++next_;
  enter(Stage::hold, now);
  return next_ < moves_.size();
}

}  // namespace volvox::experiments::roles
