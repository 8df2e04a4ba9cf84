// The dock and break phases: seed 000's algorithm 1, lines 5 to 12, and its section IV.F.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/world/latches.h"
#include "volvox/world/open_docks.h"
#include "volvox/world/world.h"

namespace volvox::world {

double DockLoad::utilisation(const model::DockStrength& strength) const {
  return std::max(
      {axial / strength.axial, shear / strength.shear, bending / strength.bending, torsion / strength.torsion});
}

void World::enable_dock(DockIndex dock, bool enabled) {
  VOLVOX_ASSERT(dock < docks_.size());
  if (docks_[dock].enabled == enabled && (enabled || !docks_[dock].broken)) return;
  docks_[dock].enabled = enabled;
  if (!enabled) docks_[dock].broken = false;
  note_change(dock);
}

void World::note_change(DockIndex dock) {
  ++dock_changes_[graph_.owner(dock)];
  docks_changed_ = true;
}

namespace {

// Turns z, along which a joint slides, into x, which points out of a dock.
const Quat out_of_dock = Quat::axis_angle({0, 1, 0}, pi / 2);

}  // namespace

bool World::slides(DockIndex carrier) const { return latches_ && latches_->pair(carrier).grip == Latches::Grip::slide; }

// The joint of two docks, as their latches hold them. `b_in_a`: the pose of b's frame in a's when the dock is closed.
physics::JointDesc World::joint_of_docks(DockIndex a, DockIndex b, const Pose& b_in_a) const {
  physics::JointDesc desc;
  desc.type = physics::JointType::dock;
  desc.a = bodies_[dock_links_[a]];
  desc.b = bodies_[dock_links_[b]];
  desc.frame_a = dock_models_[a]->pose;
  desc.frame_b = dock_models_[b]->pose * b_in_a.inverse();
  desc.pull_speed = std::min(dock_models_[a]->pull_speed, dock_models_[b]->pull_speed);
  if (!latches_) return desc;
  const Latches::Pair& pair = latches_->pair(a);
  if (pair.grip == Latches::Grip::askew) desc.type = physics::JointType::fixed;
  if (pair.grip == Latches::Grip::slide) {
    desc.type = physics::JointType::prismatic;
    desc.frame_a = desc.frame_a * Pose{{}, out_of_dock};
    desc.frame_b = desc.frame_b * Pose{{}, out_of_dock};
    desc.lower = 0;  // they are flush
    desc.friction = pair.friction;
  }
  return desc;
}

void World::join(DockIndex a, DockIndex b, const Pose& b_in_a, double latch_time) {
  VOLVOX_ASSERT(a < docks_.size() && b < docks_.size() && a != b);
  VOLVOX_ASSERT(docks_[a].phase == DockPhase::free && docks_[b].phase == DockPhase::free);
  VOLVOX_ASSERT(dock_links_[a] != dock_links_[b]);
  VOLVOX_ASSERT(finite(b_in_a) && latch_time >= 0);
  physics::JointDesc desc = joint_of_docks(a, b, b_in_a);
  desc.latch_time = latch_time;
  const physics::JointId joint = engine_->add_joint(desc);
  for (const DockIndex dock : {a, b}) {
    docks_[dock].joint = joint;
    docks_[dock].phase = DockPhase::latching;
    docks_[dock].carrier = dock == a;
    note_change(dock);
  }
  graph_.join(a, b);
  carriers_.insert(std::lower_bound(carriers_.begin(), carriers_.end(), a), a);
  windows_[a] = {};
  dock_turns_[a] = b_in_a.rotation;
}

void World::part_docks(DockIndex dock) {
  VOLVOX_ASSERT(dock < docks_.size());
  VOLVOX_ASSERT(docks_[dock].phase != DockPhase::free);
  const DockIndex partner = graph_.partner(dock);
  const DockIndex carrier = docks_[dock].carrier ? dock : partner;
  VOLVOX_ASSERT(docks_[dock].carrier != docks_[partner].carrier);
  VOLVOX_ASSERT(std::binary_search(carriers_.begin(), carriers_.end(), carrier));
  VOLVOX_ASSERT(docks_[dock].joint == docks_[partner].joint);
  engine_->remove_joint(docks_[dock].joint);
  for (const DockIndex d : {dock, partner}) {
    docks_[d].joint = {};
    docks_[d].phase = DockPhase::free;
    docks_[d].carrier = false;
    note_change(d);
  }
  graph_.part(dock);
  carriers_.erase(std::lower_bound(carriers_.begin(), carriers_.end(), carrier));
  windows_[carrier] = {};
  if (latches_) latches_->pair(carrier) = {};
}

void World::update_docks(std::vector<DockEvent>& events) {
  VOLVOX_ASSERT(!docks_changed_ || (consistent() && joints_there()));
  release_disabled(events);
  finish_latching(events);
  if (latches_) hold_by_friction();
  capture(events);
  graph_.refresh();
}

void World::release_disabled(std::vector<DockEvent>& events) {
  std::vector<DockIndex> leaving;
  for (const DockIndex a : carriers_) {
    const DockIndex b = graph_.partner(a);
    // Jaws release their partner when they are open; the partner's dock cannot open them.
    const bool leaves =
        latches_ && latches_->any(a, b) ? latches_->let_go(*this, a, b) : !docks_[a].enabled || !docks_[b].enabled;
    if (leaves) leaving.push_back(a);
  }
  for (const DockIndex a : leaving) {
    events.push_back({DockEvent::Kind::released, a, graph_.partner(a)});
    part_docks(a);
    ++docks_released_;
  }
}

void World::finish_latching(std::vector<DockEvent>& events) {
  for (const DockIndex a : carriers_) {
    if (docks_[a].phase != DockPhase::latching || !engine_->latched()[docks_[a].joint.index]) continue;
    const DockIndex b = graph_.partner(a);
    if (latches_ && latches_->any(a, b) &&
        (latches_->pair(a).grip == Latches::Grip::askew || !latches_->closed(a) || !latches_->closed(b)))
      continue;
    docks_[a].phase = docks_[b].phase = DockPhase::engaged;
    note_change(a), note_change(b);
    events.push_back({DockEvent::Kind::engaged, a, b});
  }
}

namespace {

// The pose of b in a when the dock is closed, if b lies within the capture tolerances of a.
std::optional<Pose> closed_pose(const model::Dock& a, const Pose& pose_a, const model::Dock& b, const Pose& pose_b) {
  const double reach = std::min(a.capture_distance, b.capture_distance);
  if (length_squared(pose_b.position - pose_a.position) > reach * reach) return std::nullopt;
  const double widest = std::min(a.capture_angle, b.capture_angle);
  // With opposed x axes, the remaining difference between the frames is a rotation about x.
  const Quat apart = model::engaged_dock(1, 0).rotation.conjugate() * (pose_a.rotation.conjugate() * pose_b.rotation);
  const double turn = 2 * volvox::atan2(apart.x, apart.w);
  const double step = a.symmetry > 0 ? 2 * pi / a.symmetry : 0;
  const double closed_turn = a.symmetry > 0 ? step * std::round(turn / step) : turn;
  Pose closed = model::engaged_dock(1, 0);
  closed.rotation = closed.rotation * Quat::axis_angle({1, 0, 0}, closed_turn);
  const Quat residual = (pose_a.rotation * closed.rotation).conjugate() * pose_b.rotation;
  if (angle(residual) > widest) return std::nullopt;
  return closed;
}

// Whether two docks look at each other as closed_pose asks at least; far cheaper, and true where rounding could decide.
bool face_each_other(const model::Dock& a, const Quat& rotation_a, const model::Dock& b, const Quat& rotation_b) {
  const Vec3 axis{1, 0, 0};
  const double widest = std::min(a.capture_angle, b.capture_angle) + 1e-3;
  const double cosine = -dot(rotation_a * (a.pose.rotation * axis), rotation_b * (b.pose.rotation * axis));
  return cosine >= 1 - widest * widest / 2;  // not more than the cosine of the angle
}

}  // namespace

// A pair that only friction holds along x slides while its load exceeds the friction. When it stops, its joint becomes
// rigid again: a joint that holds by friction creeps (0.1 mm/s in native, physics/native/drive.h), so that jaws would
// lose their load in half a minute. Sliding begins like breakage: at the end of a tick, by the mean load of the window.
void World::hold_by_friction() {
  constexpr double still = 2e-4;  // m/s: faster than joints creep
  constexpr double flush = 1e-5;  // m
  for (const DockIndex a : carriers_) {
    const DockIndex b = graph_.partner(a);
    if (docks_[a].phase != DockPhase::engaged || !latches_->any(a, b) || latches_->form(a, b)) continue;
    Latches::Pair& pair = latches_->pair(a);
    const double held = latches_->held_by_friction(a, b);
    const bool slid = slides(a), sticks = slid && std::fabs(engine_->joints()[docks_[a].joint.index].velocity) < still;
    // A pull slides it out. A push slides it back, but only as far as it has slid out.
    const double axial = dock_load(a).axial;
    const bool slide = slid ? !sticks : (pair.slip > flush ? std::fabs(axial) : axial) > held;
    if (slide == slid && (!slide || pair.friction == held)) continue;
    pair.slip = dock_slip(a);
    pair.friction = held;
    pair.grip = slide ? Latches::Grip::slide : Latches::Grip::firm;
    engine_->remove_joint(docks_[a].joint);
    docks_[a].joint = docks_[b].joint =
        engine_->add_joint(joint_of_docks(a, b, {{slide ? 0 : pair.slip, 0, 0}, dock_turns_[a]}));
  }
}

double World::dock_slip(DockIndex dock) const {
  VOLVOX_ASSERT(dock < docks_.size());
  if (docks_[dock].phase == DockPhase::free) return 0;
  const DockIndex carrier = docks_[dock].carrier ? dock : graph_.partner(dock);
  if (!latches_ || !slides(carrier)) return latches_ ? latches_->pair(carrier).slip : 0;
  return std::max(0.0, engine_->joints()[docks_[carrier].joint.index].position);
}

// Lists the docks that may connect.
void World::list_open_docks() {
  open_docks_->clear();
  for (const DockIndex d : indices<DockIndex>(docks_)) {
    const DockStatus& dock = docks_[d];
    if (dock.phase != DockPhase::free || !dock.enabled || dock.broken) continue;
    open_docks_->add(d, graph_.owner(d), bodies_[dock_links_[d]].index, length(dock_models_[d]->pose.position));
  }
  open_docks_->finish();
  docks_changed_ = false;
}

void World::capture(std::vector<DockEvent>& events) {
  if (docks_changed_) list_open_docks();
  const std::span<const Pose> poses = engine_->poses();
  finder_.clear();
  for (const std::uint32_t owner : open_docks_->owners_within(largest_capture_, poses))
    for (const DockIndex d : open_docks_->docks_of(owner)) {
      if (latches_ && !latches_->ready(d)) continue;
      finder_.add(d, graph_.owner(d), poses[bodies_[dock_links_[d]].index] * dock_models_[d]->pose.position);
    }
  const auto may_join = [&](DockIndex a, DockIndex b) {
    return graph_.owner(a) != graph_.owner(b) &&
           face_each_other(*dock_models_[a], poses[bodies_[dock_links_[a]].index].rotation, *dock_models_[b],
                           poses[bodies_[dock_links_[b]].index].rotation);
  };
  // The nearest pairs come first; pairs whose dock is already taken are skipped.
  for (const DockFinder::Pair& pair : finder_.find(largest_capture_, std::cref(may_join))) {
    if (docks_[pair.a].phase != DockPhase::free || docks_[pair.b].phase != DockPhase::free) continue;
    const model::Dock &a = *dock_models_[pair.a], &b = *dock_models_[pair.b];
    if (!model::fit(a, b)) continue;
    const auto closed = closed_pose(a, dock_pose(pair.a), b, dock_pose(pair.b));
    if (!closed) continue;
    Pose joined = *closed;
    double latch_time = std::max(a.latch_time, b.latch_time);
    if (latches_ && latches_->any(pair.a, pair.b)) {
      const Pose apart = dock_pose(pair.a).inverse() * dock_pose(pair.b);
      const double misfit = latches_->misfit(pair.a, pair.b, length(apart.position.y, apart.position.z),
                                             angle(closed->rotation.conjugate() * apart.rotation));
      latch_time = latches_->close_time(pair.a, pair.b);
      // The larger the misalignment, the earlier the jaws jam.
      latches_->pair(pair.a) =
          misfit > 1 ? Latches::Pair{.grip = Latches::Grip::askew, .stop = 1 - 1 / misfit} : Latches::Pair{};
      if (misfit > 1) joined = apart;
    }
    join(pair.a, pair.b, joined, latch_time);
    events.push_back({DockEvent::Kind::captured, pair.a, pair.b});
    ++docks_formed_;
  }
}

void World::record_load(DockIndex carrier, double dt) {
  VOLVOX_ASSERT(carrier < docks_.size() && docks_[carrier].carrier);
  VOLVOX_ASSERT(dt > 0);
  LoadWindow& window = windows_[carrier];
  if (window.impulses.empty()) {
    const double ticks = std::round(dock_models_[carrier]->load_time / dt);
    window.impulses.assign(truncated<std::size_t>(clamp(ticks, 1, 10'000)), {});
    window.span = dt * real(window.impulses.size());
  }
  Wrench load = engine_->loads()[docks_[carrier].joint.index];
  if (slides(carrier)) load = {out_of_dock * load.force, out_of_dock * load.torque};
  window.impulses[window.next] = load * dt;
  VOLVOX_ASSERT(finite(window.impulses[window.next].force) && finite(window.impulses[window.next].torque));
  window.next = (window.next + 1) % narrow<std::uint32_t>(window.impulses.size());
}

DockLoad World::dock_load(DockIndex dock) const {
  VOLVOX_ASSERT(dock < docks_.size());
  DockLoad load;
  if (docks_[dock].phase == DockPhase::free) return load;
  const LoadWindow& window = windows_[docks_[dock].carrier ? dock : graph_.partner(dock)];
  if (window.span <= 0) return load;
  Wrench sum;
  for (const Wrench& impulse : window.impulses) sum += impulse;
  const Wrench mean = sum * (1 / window.span);
  // The partner is on the carrier's +x side: a force on it towards -x means that the dock is pulled apart.
  load.axial = -mean.force.x;
  load.shear = length(mean.force.y, mean.force.z);
  load.bending = length(mean.torque.y, mean.torque.z);
  load.torsion = std::fabs(mean.torque.x);
  return load;
}

// Reports jaws that have jammed, and disconnects pairs that were pulled apart.
void World::check_latches(std::vector<DockEvent>& events) {
  std::vector<DockIndex> slipping;
  for (const DockIndex a : carriers_) {
    const DockIndex b = graph_.partner(a);
    if (!latches_->any(a, b)) continue;
    Latches::Pair& pair = latches_->pair(a);
    const bool jammed = latches_->jammed(a, b);
    if (jammed && !pair.told) events.push_back({DockEvent::Kind::jammed, a, b});
    pair.told = jammed;
    const DockLoad load = dock_load(a);
    bool slips = false;
    if (docks_[a].phase == DockPhase::latching) {
      // Jaws that have not closed hold no more than their pressing force, and jammed ones no more than their friction,
      // in any direction. A moment counts as a force at the capture distance, which is the reach of the jaws.
      const double held = jammed ? latches_->held_by_friction(a, b) : latches_->force(a, b);
      const double lever = std::min(dock_models_[a]->capture_distance, dock_models_[b]->capture_distance);
      slips = length(std::max(0.0, load.axial), load.shear) + length(load.bending, load.torsion) / lever > held;
    } else {
      slips = dock_slip(a) > latches_->depth(a, b);
    }
    if (slips) slipping.push_back(a);
  }
  for (const DockIndex a : slipping) {
    events.push_back({DockEvent::Kind::slipped, a, graph_.partner(a), dock_load(a)});
    part_docks(a);
    ++docks_released_;
  }
}

void World::break_docks(std::vector<DockEvent>& events) {
  VOLVOX_ASSERT(!docks_changed_ || consistent());
  if (latches_) check_latches(events);
  std::vector<DockIndex> breaking;
  for (const DockIndex a : carriers_) {
    const DockIndex b = graph_.partner(a);
    // Docks with jaws break while they still close, or are jammed, too.
    if (docks_[a].phase != DockPhase::engaged && !(latches_ && latches_->any(a, b))) continue;
    const DockLoad load = dock_load(a);
    if (std::max(load.utilisation(dock_models_[a]->strength), load.utilisation(dock_models_[b]->strength)) >= 1)
      breaking.push_back(a);
  }
  for (const DockIndex a : breaking) {
    const DockIndex b = graph_.partner(a);
    events.push_back({DockEvent::Kind::broken, a, b, dock_load(a)});
    part_docks(a);
    docks_[a].broken = docks_[b].broken = true;
    note_change(a), note_change(b);
    ++docks_broken_;
  }
  graph_.refresh();
}

World::DockError World::largest_dock_error() const {
  DockError worst;
  for (const DockIndex a : carriers_) {
    if (docks_[a].phase != DockPhase::engaged) continue;
    const DockIndex b = graph_.partner(a);
    Pose apart = dock_pose(a).inverse() * dock_pose(b);
    apart.position.x -= dock_slip(a);  // sliding is not an error of the joint
    worst.distance = std::max(worst.distance, length(apart.position));
    worst.angle = std::max(worst.angle, angle(dock_turns_[a].conjugate() * apart.rotation));
  }
  return worst;
}

}  // namespace volvox::world
