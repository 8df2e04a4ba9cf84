#include "volvox/world/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "volvox/base/archive_plain.h"
#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/physics/joint_friction.h"
#include "volvox/physics/stage_times.h"
#include "volvox/physics/system.h"
#include "volvox/world/latches.h"
#include "volvox/world/magnets.h"
#include "volvox/world/matter.h"
#include "volvox/world/open_docks.h"

namespace volvox::world {

namespace {

double friction_without_load(const model::Joint& joint) {
  return joint.friction + (joint.flush ? model::flush_friction(joint, {}, {}) : 0);
}

}  // namespace

World::World() : open_docks_(std::make_unique<OpenDocks>()) {}
World::~World() = default;

Result<std::unique_ptr<World>> World::create(std::shared_ptr<const model::WorldModel> model,
                                             std::unique_ptr<physics::Engine> engine, ThreadPool* threads) {
  std::unique_ptr<World> world(new World);
  world->model_ = std::move(model);
  world->engine_ = std::move(engine);
  if (Result<void> built = world->build(); !built.ok()) return built.error();
  if (world->model_->matter != nullptr) {
    auto matter = Matter::create(*world, world->model_->matter, threads);
    if (!matter.ok()) return matter.error();
    world->matter_ = std::move(*matter);
  }
  return world;
}

Result<void> World::build() {
  VOLVOX_ASSERT(model_ != nullptr && engine_ != nullptr && parts_.empty());
  engine_->set_gravity(model_->gravity);
  std::vector<PlacementIndex> dock_owner;
  for (const PlacementIndex p : indices<PlacementIndex>(model_->placements)) {
    if (Result<void> added = add_placement(p); !added.ok()) return added;
    dock_owner.resize(dock_models_.size(), p);
    if (model_->placements[p].is_module()) modules_.push_back(p);
  }
  graph_.reset(std::move(dock_owner), parts_.size());
  dock_changes_.resize(parts_.size());
  windows_.resize(docks_.size());
  dock_turns_.resize(docks_.size());
  last_velocities_.resize(bodies_.size());
  for (const LinkIndex l : indices<LinkIndex>(bodies_)) last_velocities_[l] = link_velocity(l);
  add_initial_connections();
  latches_ = Latches::create(*this);
  graph_.refresh();
  magnets_ = Magnets::create(*this);
  return {};
}

Result<void> World::change_engine(std::unique_ptr<physics::Engine> engine) {
  World there;  // made by the same calls, so that bodies and joints get the same ids
  there.model_ = model_;
  there.engine_ = std::move(engine);
  if (Result<void> built = there.build(); !built.ok()) return built;
  const std::string from = engine_info().name, to = there.engine_info().name;
  const auto cannot = [&](const std::string& why) {
    return Error(fmt::format("the engine '{}' cannot go on from the state of '{}': {}", to, from, why),
                 "go on with the same engine, or use one that is built in (volvox list engines)");
  };
  if (matter_ && engine_info().moves != there.engine_info().moves)
    return cannot("in one of them bodies move, in the other they do not, and there are particles beside them");
  if (there.bodies_ != bodies_ || there.joints_ != joints_) return cannot("it numbers bodies or joints otherwise");
  SaveArchive state;
  if (!hand_over(state, dynamic_cast<physics::JointFriction*>(there.engine_.get()) != nullptr))
    return cannot(fmt::format("'{}' does not hand it over", from));
  LoadArchive taken(state.bytes());
  if (!there.engine_->archive_common(taken)) return cannot(fmt::format("'{}' does not take it over", to));
  if (!taken.ok()) return cannot(taken.failure());
  engine_ = std::move(there.engine_);
  return {};
}

// The state from which another engine continues. An engine that cannot change the friction of a joint gets the friction
// of unloaded flush faces; otherwise the load of this moment would determine it for the rest of the run.
bool World::hand_over(SaveArchive& state, bool to_one_that_follows_loads) {
  auto* rubbing = dynamic_cast<physics::JointFriction*>(engine_.get());
  if (rubbing == nullptr || to_one_that_follows_loads) return engine_->archive_common(state);
  std::vector<double> loaded;
  for (const JointIndex j : flush_joints_) {
    loaded.push_back(rubbing->joint_friction(joints_[j]));
    rubbing->set_joint_friction(joints_[j], friction_without_load(*joint_models_[j]));
  }
  const bool handed = engine_->archive_common(state);
  for (std::size_t i = 0; i < loaded.size(); ++i) rubbing->set_joint_friction(joints_[flush_joints_[i]], loaded[i]);
  return handed;
}

namespace {

// `pose`: of the link in the frame of its module.
physics::BodyDesc body_of(const model::Placement& placement, const model::Link& link, const Pose& pose,
                          PlacementIndex number) {
  const model::ModuleModel& module = *placement.model;
  physics::BodyDesc body;
  body.motion = module.fixed_in_place ? physics::Motion::fixed
                : module.driven       ? physics::Motion::kinematic
                                      : physics::Motion::dynamic;
  body.pose = placement.pose * pose;
  body.mass = link.mass;
  body.inertial = link.inertial;
  body.moments = link.moments;
  body.geometry = link.geometry;
  body.gravity = link.gravity;
  body.owner = number + 1;
  body.quiet = !module.self_collide;
  if (!module.fixed_in_place) {
    const Vec3 arm = body.pose * link.inertial.position - placement.pose.position;
    body.velocity = {placement.velocity.linear + cross(placement.velocity.angular, arm), placement.velocity.angular};
  }
  return body;
}

// `bodies`: those of the links of the module.
physics::JointDesc joint_of(const model::Placement& placement, const model::Joint& joint,
                            std::span<const physics::BodyId> bodies) {
  physics::JointDesc desc;
  switch (joint.type) {
    case model::JointType::revolute: desc.type = physics::JointType::revolute; break;
    case model::JointType::prismatic: desc.type = physics::JointType::prismatic; break;
    case model::JointType::fixed: desc.type = physics::JointType::fixed; break;
    case model::JointType::ball: desc.type = physics::JointType::ball; break;
  }
  if (joint.parent >= 0) {
    desc.a = bodies[joint.parent];
    desc.frame_a = joint.parent_frame;
  } else {
    desc.frame_a = placement.pose * joint.parent_frame;
  }
  desc.b = bodies[joint.child];
  desc.frame_b = joint.child_frame;
  desc.lower = joint.lower;
  desc.upper = joint.upper;
  desc.damping = joint.damping;
  desc.friction = friction_without_load(joint);
  return desc;
}

}  // namespace

Result<void> World::add_placement(PlacementIndex p) {
  VOLVOX_ASSERT(p < model_->placements.size() && p == parts_.size());
  VOLVOX_ASSERT(model_->placements[p].model != nullptr);
  const model::Placement& placement = model_->placements[p];
  const model::ModuleModel& module = *placement.model;
  const Part part{bodies_.size(), joints_.size(), dock_models_.size()};
  parts_.push_back(part);

  const std::vector<Pose> link_poses = model::forward_kinematics(module, placement.positions);
  VOLVOX_ASSERT(link_poses.size() == module.links.size());
  for (std::size_t i = 0; i < module.links.size(); ++i) {
    const model::Link& link = module.links[i];
    Result<physics::BodyId> id = engine_->add_body(body_of(placement, link, link_poses[i], p));
    if (!id.ok()) {
      Error error(Diagnostic{placement.file, placement.line,
                             fmt::format("link '{}' of '{}' cannot be built", link.name, placement.name), ""});
      error.add(id.error());
      return error;
    }
    if (link_of_body_.size() <= id->index) link_of_body_.resize(id->index + 1, nobody);
    link_of_body_[id->index] = bodies_.size();
    bodies_.push_back(*id);
    link_models_.push_back(&link);
    placement_of_link_.push_back(p);
  }

  for (const model::Joint& joint : module.joints) {
    joints_.push_back(engine_->add_joint(joint_of(placement, joint, std::span(bodies_).subspan(part.first_link))));
    joint_models_.push_back(&joint);
    if (joint.flush) flush_joints_.push_back(JointIndex(joints_.size() - 1));
  }

  for (const model::Dock& dock : module.docks) {
    dock_models_.push_back(&dock);
    dock_links_.push_back(part.first_link + dock.link);
    docks_.emplace_back().enabled = dock.enabled;
    largest_capture_ = std::max(largest_capture_, dock.capture_distance);
  }
  return {};
}

void World::add_initial_connections() {
  for (const model::Connection& c : model_->connections) {
    VOLVOX_ASSERT(std::cmp_less(std::max(c.a, c.b), parts_.size()) && c.a != c.b);
    const DockIndex a = parts_[c.a].first_dock + c.dock_a;
    const DockIndex b = parts_[c.b].first_dock + c.dock_b;
    // Engaged docks are enabled even if the model disables free docks: a disabled dock would release in the first tick.
    docks_[a].enabled = docks_[b].enabled = true;
    join(a, b, model::engaged_dock(dock_models_[b]->symmetry, c.turn), 0);
    docks_[a].phase = docks_[b].phase = DockPhase::engaged;
  }
}

std::size_t World::organism_count() const {
  VOLVOX_ASSERT(graph_.organisms().size() == parts_.size());
  // An obstacle without a connected module is a component of the graph, but not an organism.
  const std::span<const std::uint32_t> organism = graph_.organisms();
  std::vector<std::uint32_t> seen;
  for (const PlacementIndex module : modules_) seen.push_back(organism[module]);
  std::sort(seen.begin(), seen.end());
  return std::unique(seen.begin(), seen.end()) - seen.begin();
}

PlacementIndex World::placement_of_body(physics::BodyId body) const {
  const LinkIndex link = link_of(body);
  return link == nobody ? nobody : placement_of_link_[link];
}

std::string World::body_name(physics::BodyId body) const {
  const PlacementIndex placement = placement_of_body(body);
  if (placement == nobody) return "the world";
  return name(placement) + "." + link_models_[link_of_body_[body.index]]->name;
}

std::string World::dock_name(DockIndex dock) const {
  VOLVOX_ASSERT(dock < dock_models_.size());
  return name(graph_.owner(dock)) + "." + dock_models_[dock]->name;
}

void World::command(JointIndex joint, physics::Control control, double target) {
  VOLVOX_ASSERT(joint < joints_.size());
  VOLVOX_ASSERT(engine_->has(joints_[joint]));
  const model::Joint& j = *joint_models_[joint];
  physics::MotorCommand& motor = engine_->motors()[joints_[joint].index];
  motor.control = j.motor ? control : physics::Control::off;
  motor.target = target;
  motor.kp = j.motor ? j.motor->kp : 0;
  motor.kd = j.motor ? j.motor->kd : 0;
  motor.max_velocity = j.velocity;
  motor.max_torque = j.effort;
}

physics::JointId World::grip(LinkIndex hand, LinkIndex link) {
  VOLVOX_ASSERT(hand < bodies_.size() && link < bodies_.size() && hand != link);
  physics::JointDesc desc;
  desc.type = physics::JointType::fixed;
  desc.a = bodies_[hand];
  desc.b = bodies_[link];
  desc.frame_a = link_pose(hand).inverse() * link_pose(link);
  return engine_->add_joint(desc);
}

void World::release(physics::JointId grip) {
  if (engine_->has(grip)) engine_->remove_joint(grip);
}

void World::switch_magnet(PlacementIndex placement, int magnet, double pole) {
  VOLVOX_ASSERT(magnets_ != nullptr);
  magnets_->set(placement, magnet, pole);
}

StepStatus World::move(Time begin, Time end) {
  constexpr double substep = 1.0 / 240;  // s, of the exchange with matter, and between forces of magnets
  return moves_in_substeps() ? move(begin, end, substep, {}) : advance(begin, end);
}

// Engines divide an advance into substeps, and an advance of one substep stays whole. So this works for every engine,
// at the cost of one contact detection per substep instead of per tick.
StepStatus World::move(Time begin, Time end, double max_substep, const Control& control) {
  VOLVOX_ASSERT(begin < end && max_substep > 0);
  const std::span<Wrench> forces = engine_->forces();
  tick_forces_.assign(forces.begin(), forces.end());
  if (!matter_) return move_in_parts(begin, end, max_substep, control);
  StepStatus status = matter_->begin_tick(begin);
  if (status.ok()) status = move_in_parts(begin, end, max_substep, control);
  matter_->end_tick();  // also of a tick that failed: its state is hashed, too
  return status;
}

StepStatus World::move_in_parts(Time begin, Time end, double max_substep, const Control& control) {
  const int count = physics::substep_count((end - begin).seconds(), max_substep);
  const auto start_of = [&](int substep) { return begin + Time{(end - begin).ns * substep / count}; };
  for (int i = 0; i < count; ++i) {
    const Time from = start_of(i), to = start_of(i + 1);
    std::copy(tick_forces_.begin(), tick_forces_.end(), engine_->forces().begin());
    const double step = (to - from).seconds();
    if (control)
      if (StepStatus status = control(from, step); !status.ok()) return status;
    if (matter_)
      if (StepStatus status = matter_->advance(*this, step); !status.ok()) return status;
    if (magnets_) magnets_->pull(*this);
    if (StepStatus status = advance(from, to); !status.ok()) return status;
  }
  return {};
}

namespace {

void rub(physics::JointFriction& engine, physics::JointId id, const model::Joint& joint, const Wrench& load) {
  engine.set_joint_friction(id, joint.friction + model::flush_friction(joint, load.force, load.torque));
}

// What joints would bear in the next advance. The engine stays as it was.
std::vector<Wrench> loads_to_come(physics::Engine& engine, Time begin, Time end) {
  SaveArchive before;
  engine.archive(before);
  (void)engine.advance(begin, end);  // if it fails, it fails again when it counts
  std::vector<Wrench> loads(engine.loads().begin(), engine.loads().end());
  LoadArchive back(before.bytes());
  engine.archive(back);
  VOLVOX_ASSERT(back.ok());
  return loads;
}

}  // namespace

std::optional<double> World::collision_time() const {
  const auto* times = dynamic_cast<const physics::StageTimes*>(engine_.get());
  return times == nullptr ? std::nullopt : std::optional(times->collision_s());
}

// Sets the friction from the load of the last advance, because the load of this one depends on the friction. The delay
// adds no energy: friction only brakes, whatever its bound is.
void World::rub_flush_faces() {
  if (flush_joints_.empty()) return;
  auto* engine = dynamic_cast<physics::JointFriction*>(engine_.get());
  if (engine == nullptr) return;  // it keeps the friction of unloaded faces: left_out() says so
  for (const JointIndex j : flush_joints_)
    rub(*engine, joints_[j], *joint_models_[j], engine_->loads()[joints_[j].index]);
}

StepStatus World::advance(Time begin, Time end) {
  auto* rubbing = dynamic_cast<physics::JointFriction*>(engine_.get());
  if (begin == Time{} && rubbing != nullptr && !flush_joints_.empty()) {
    // Nothing has borne a load yet: the first advance is tried.
    const std::vector<Wrench> loads = loads_to_come(*engine_, begin, end);
    for (const JointIndex j : flush_joints_) rub(*rubbing, joints_[j], *joint_models_[j], loads[joints_[j].index]);
  } else {
    rub_flush_faces();
  }
  physics::Engine& engine = begin_move();
  return end_move(begin, end, engine.advance(begin, end));
}

physics::Engine& World::begin_move() {
  VOLVOX_ASSERT(last_velocities_.size() == bodies_.size());
  for (const LinkIndex l : indices<LinkIndex>(bodies_)) last_velocities_[l] = link_velocity(l);
  return *engine_;
}

StepStatus World::end_move(Time begin, Time end, StepStatus status) {
  VOLVOX_ASSERT(begin < end);
  last_advance_ = (end - begin).seconds();
  if (!status.ok()) {
    status.who = body_name(status.body);
    return status;
  }
  VOLVOX_ASSERT(physics::in_order(*engine_));
  for (const DockIndex carrier : carriers_) {
    const Wrench& load = engine_->loads()[docks_[carrier].joint.index];
    if (!finite(load.force) || !finite(load.torque)) {
      status.who = dock_name(carrier);
      status.what = "bears a load that is beyond all numbers";
      return status;
    }
    record_load(carrier, last_advance_);
  }
  if (latches_) latches_->move(*this, last_advance_);
  return status;
}

namespace {

void archive_colors(Archive& ar, std::map<PlacementIndex, model::Color>& colors) {
  std::map<PlacementIndex, std::array<double, 4>> plain;
  for (const auto& [placement, c] : colors) plain[placement] = {c.r, c.g, c.b, c.a};
  ar("colors", plain);
  if (!ar.loading()) return;
  colors.clear();
  for (const auto& [placement, c] : plain) colors[placement] = {c[0], c[1], c[2], c[3]};
}

}  // namespace

// This adds no information to the hash: sections by module can show which module differs, for any engine.
void World::hash_bodies(Archive& ar) {
  VOLVOX_ASSERT(ar.hashing());
  for (const PlacementIndex p : indices<PlacementIndex>(parts_)) {
    const model::ModuleModel& module = module_model(p);
    ar.section(name(p), "links and joints");
    for (std::uint32_t l = 0; l < module.links.size(); ++l) {
      ar("pose", link_pose(parts_[p].first_link + l));
      ar("velocity", link_velocity(parts_[p].first_link + l));
    }
    for (std::uint32_t j = 0; j < module.joints.size(); ++j) {
      const physics::JointState state = joint_state(parts_[p].first_joint + j);
      ar("position", state.position);
      ar("velocity", state.velocity);
      ar("torque", state.torque);
    }
  }
}

void World::archive(Archive& ar) {
  if (ar.hashing()) hash_bodies(ar);
  ar.section("", "docks");
  ar("last velocities", last_velocities_);
  ar("last advance", last_advance_);
  archive_plain(ar, docks_, [](auto& fields, DockStatus& dock) {
    fields("phase", dock.phase);
    fields("enabled", dock.enabled);
    fields("broken", dock.broken);
    fields("carrier", dock.carrier);
    fields("joint", dock.joint);
  });
  ar("graph", graph_);
  ar("carriers", carriers_);
  if (ar.loading() && !consistent()) ar.fail("its docks do not fit together");
  if (ar.loading()) {
    for (std::uint32_t& changes : dock_changes_) ++changes;
    docks_changed_ = true;
  }
  if (!ar.ok()) return;
  for (const DockIndex carrier : carriers_) {
    ar("load", windows_[carrier]);
    ar("turn", dock_turns_[carrier]);
  }
  ar("broken", docks_broken_);
  ar("formed", docks_formed_);
  ar("released", docks_released_);
  archive_colors(ar, colors_);
  if (ar.loading() && !colors_.empty() && colors_.rbegin()->first >= parts_.size())
    ar.fail("it colours what is not there");
  ar.section("", "inner state of the physics engine");
  engine_->archive(ar);
  if (ar.ok() && ar.loading() && !joints_there()) ar.fail("its docks have no joints");
  graph_.refresh();
  if (latches_ && ar.ok()) latches_->archive(ar);
  if (magnets_ && ar.ok()) magnets_->archive(ar);
  if (matter_ && ar.ok()) matter_->archive(ar);
}

// Whether each pair of docks has its own joint in the engine.
bool World::joints_there() const {
  VOLVOX_ASSERT(docks_.size() == dock_models_.size() && joints_.size() == joint_models_.size());
  std::vector<std::uint32_t> joints;
  for (const DockIndex carrier : carriers_) {
    const physics::JointId joint = docks_[carrier].joint;
    if (!engine_->has(joint) || docks_[graph_.partner(carrier)].joint != joint) return false;
    joints.push_back(joint.index);
  }
  for (const physics::JointId joint : joints_) {
    if (!engine_->has(joint)) return false;
    joints.push_back(joint.index);
  }
  std::sort(joints.begin(), joints.end());
  return std::adjacent_find(joints.begin(), joints.end()) == joints.end();
}

// Checks the numbers of a snapshot before they are used as indices: the file may be damaged.
bool World::consistent() const {
  VOLVOX_ASSERT(windows_.size() == docks_.size() && dock_turns_.size() == docks_.size());
  VOLVOX_ASSERT(link_models_.size() == bodies_.size() && placement_of_link_.size() == bodies_.size());
  if (last_velocities_.size() != bodies_.size() || !(last_advance_ > 0) || !graph_.consistent()) return false;
  for (const DockIndex carrier : carriers_)
    if (carrier >= docks_.size() || graph_.partner(carrier) == nobody || !docks_[carrier].joint.valid() ||
        !docks_[carrier].carrier || docks_[graph_.partner(carrier)].carrier)
      return false;
  std::size_t marked = 0;
  for (const DockStatus& dock : docks_) marked += dock.carrier;
  for (const DockIndex d : indices<DockIndex>(docks_))
    if (docks_[d].phase > DockPhase::engaged || (docks_[d].phase == DockPhase::free) != (graph_.partner(d) == nobody))
      return false;
  return carriers_.size() == graph_.connections() && carriers_.size() == marked &&
         std::adjacent_find(carriers_.begin(), carriers_.end(), std::greater_equal<>()) == carriers_.end();
}

std::size_t World::memory_bytes() const {
  std::size_t bytes = sizeof *this;
  const auto add = [&](const auto& v) { bytes += v.capacity() * sizeof(v[0]); };
  add(parts_);
  add(modules_);
  add(bodies_);
  add(link_models_);
  add(placement_of_link_);
  add(link_of_body_);
  add(joints_);
  add(joint_models_);
  add(dock_models_);
  add(dock_links_);
  add(last_velocities_);
  add(docks_);
  add(carriers_);
  add(windows_);
  add(dock_turns_);
  for (const LoadWindow& window : windows_) add(window.impulses);
  add(dock_changes_);
  bytes += finder_.memory_bytes() + open_docks_->memory_bytes() + graph_.docks() * 2 * sizeof(DockIndex);
  for (const model::Placement& p : model_->placements)
    bytes += sizeof p + p.name.capacity() + p.file.capacity() + p.positions.capacity() * sizeof(double);
  if (matter_) bytes += matter_->memory_bytes();
  if (latches_) bytes += latches_->memory_bytes();
  if (magnets_) bytes += magnets_->memory_bytes();
  bytes += model_->connections.capacity() * sizeof(model::Connection);
  return bytes;
}

}  // namespace volvox::world
