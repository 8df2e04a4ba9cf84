#include "volvox/physics/system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>

#include "volvox/base/archive_plain.h"
#include "volvox/base/check.h"
#include "volvox/base/index.h"

namespace volvox::physics {

BodyId System::add(const BodyDesc& desc) {
  VOLVOX_ASSERT(finite(desc.pose) && finite(desc.velocity));
  const BodyId id = body_ids.take();
  const std::size_t n = body_ids.capacity();
  bodies.resize(n);
  poses.resize(n);
  velocities.resize(n);
  forces.resize(n);
  joints_of.resize(n);
  bodies[id.index] = desc;
  const Vec3 least = least_moments(desc);
  for (int i = 0; i < 3; ++i) bodies[id.index].moments[i] = std::max(desc.moments[i], least[i]);
  poses[id.index] = desc.pose;
  velocities[id.index] = desc.motion == Motion::fixed ? Twist{} : desc.velocity;
  forces[id.index] = {};
  joints_of[id.index].clear();
  return id;
}

JointId System::add(const JointDesc& desc) {
  VOLVOX_CHECK(body_ids.alive(desc.b), "a joint needs a body b");
  VOLVOX_CHECK(!desc.a.valid() || body_ids.alive(desc.a), "a joint's body a was removed");
  VOLVOX_CHECK(desc.a != desc.b, "a joint connects two bodies");
  VOLVOX_ASSERT(finite(desc.frame_a) && finite(desc.frame_b));
  VOLVOX_ASSERT(desc.lower <= desc.upper);
  VOLVOX_ASSERT(desc.latch_time >= 0 && desc.pull_speed >= 0);
  VOLVOX_ASSERT(desc.damping >= 0 && desc.friction >= 0);
  const JointId id = joint_ids.take();
  const std::size_t n = joint_ids.capacity();
  joint_descs.resize(n);
  motors.resize(n);
  joints.resize(n);
  loads.resize(n);
  latched.resize(n);
  latches.resize(n);
  joint_descs[id.index] = desc;
  motors[id.index] = {};
  joints[id.index] = {};
  loads[id.index] = {};
  latches[id.index] = desc.type == JointType::dock ? DockLatch(desc, relative_pose(id.index)) : DockLatch();
  latched[id.index] = latches[id.index].closed();
  if (desc.a.valid()) joints_of[desc.a.index].push_back(id);
  joints_of[desc.b.index].push_back(id);
  measure_joint(id.index);
  return id;
}

void System::remove(BodyId id) {
  VOLVOX_ASSERT(body_ids.alive(id));
  VOLVOX_CHECK(joints_of[id.index].empty(), "a body was removed before its joints");
  std::erase_if(contacts, [&](const Contact& c) { return c.a == id || c.b == id; });
  body_ids.give_back(id);
  bodies[id.index] = {};  // releases the geometry
  forces[id.index] = {};
}

void System::remove(JointId id) {
  VOLVOX_ASSERT(joint_ids.alive(id));
  const JointDesc& desc = joint_descs[id.index];
  if (desc.a.valid()) std::erase(joints_of[desc.a.index], id);
  std::erase(joints_of[desc.b.index], id);
  motors[id.index] = {};
  joint_ids.give_back(id);
}

bool System::may_touch(std::size_t a, std::size_t b) const {
  VOLVOX_ASSERT(a < bodies.size() && b < bodies.size());
  if (a == b) return false;
  const BodyDesc &x = bodies[a], &y = bodies[b];
  if (x.motion != Motion::dynamic && y.motion != Motion::dynamic) return false;
  if (quiet_together(x, y)) return false;
  const bool fewer = joints_of[a].size() < joints_of[b].size();
  const std::size_t other = fewer ? b : a;
  for (const JointId joint : joints_of[fewer ? a : b]) {
    const JointDesc& desc = joint_descs[joint.index];
    if ((desc.a.valid() && desc.a.index == other) || desc.b.index == other) return false;
  }
  return true;
}

Pose System::relative_pose(std::size_t joint) const {
  VOLVOX_ASSERT(joint < joint_descs.size());
  VOLVOX_ASSERT(body_ids.alive(joint_descs[joint].b));
  const JointDesc& desc = joint_descs[joint];
  const Pose a = desc.a.valid() ? poses[desc.a.index] * desc.frame_a : desc.frame_a;
  return a.inverse() * (poses[desc.b.index] * desc.frame_b);
}

void System::measure_position(std::size_t joint) {
  VOLVOX_ASSERT(joint < joints.size() && joints.size() == joint_descs.size());
  const JointDesc& desc = joint_descs[joint];
  const Pose a = desc.a.valid() ? poses[desc.a.index] : Pose{};
  joints[joint].position = joint_position(desc, a, poses[desc.b.index], joints[joint].position);
}

void System::measure_joint(std::size_t joint) {
  measure_position(joint);
  const JointDesc& desc = joint_descs[joint];
  if (desc.type != JointType::revolute && desc.type != JointType::prismatic) return;
  const auto twist_at = [&](BodyId id, const Vec3& point) -> Twist {
    if (!id.valid()) return {};
    const Twist& v = velocities[id.index];
    const Vec3 centre = poses[id.index] * bodies[id.index].inertial.position;
    return {v.linear + cross(v.angular, point - centre), v.angular};
  };
  const Quat turn = desc.a.valid() ? poses[desc.a.index].rotation * desc.frame_a.rotation : desc.frame_a.rotation;
  const Vec3 axis = turn * Vec3{0, 0, 1}, point = poses[desc.b.index] * desc.frame_b.position;
  const Twist va = twist_at(desc.a, point), vb = twist_at(desc.b, point);
  joints[joint].velocity =
      dot(axis, desc.type == JointType::revolute ? vb.angular - va.angular : vb.linear - va.linear);
}

namespace {

// Checks of a snapshot, which may be damaged, before its numbers are used as indices or given to an engine.

// A joint within a module belongs to the model and must be the same in the snapshot. Joints between modules are those
// of docks: they come and go, and may change their type with what holds the jaws.
bool same_but_docks(const System& system, const JointDesc& before, const JointDesc& now) {
  const auto of_docks = [&](const JointDesc& desc) {
    return desc.type == JointType::dock ||
           (desc.a.valid() && system.bodies[desc.a.index].owner != system.bodies[desc.b.index].owner);
  };
  if (of_docks(before) && of_docks(now)) return true;
  return before.type == now.type && before.a == now.a && before.b == now.b;
}

// What a snapshot says of joints, before the system takes it over.
struct Topology {
  IdPool<JointTag> ids;
  std::vector<JointDesc> descs;
  std::vector<std::vector<JointId>> joints_of;
};

bool sound_joints(const Topology& topology, const IdPool<BodyTag>& body_ids) {
  std::size_t ends = 0, listed = 0;
  for (std::size_t j = 0; j < topology.descs.size(); ++j) {
    if (!topology.ids.alive_index(j)) continue;
    const JointDesc& desc = topology.descs[j];
    if ((desc.a.valid() && !body_ids.alive(desc.a)) || !body_ids.alive(desc.b) || desc.type > JointType::dock ||
        desc.a == desc.b || !finite(desc.frame_a) || !finite(desc.frame_b) || std::isnan(desc.lower) ||
        std::isnan(desc.upper) || !(desc.damping >= 0) || !(desc.friction >= 0))
      return false;
    ends += desc.a.valid() ? 2 : 1;
  }
  for (std::size_t b = 0; b < topology.joints_of.size(); ++b) {
    std::vector<std::uint32_t> once;
    for (const JointId id : topology.joints_of[b]) {
      const JointDesc& desc = topology.descs[id.index];
      if (desc.b.index != b && !(desc.a.valid() && desc.a.index == b)) return false;
      once.push_back(id.index);
    }
    std::sort(once.begin(), once.end());
    if (std::adjacent_find(once.begin(), once.end()) != once.end()) return false;
    listed += once.size();
  }
  return ends == listed;
}

// Numbers that an engine can go on from. Others would end the run at its first step, or make the library behind the
// engine end the program.
bool sound_motion(const System& system) {
  constexpr double most = 1e12;  // N, N m, and targets and gains of motors
  for (std::size_t i = 0; i < system.poses.size(); ++i) {
    const Wrench& pushed = system.forces[i];
    if (!is_rotation(system.poses[i].rotation) || !(length(pushed.force) < most && length(pushed.torque) < most))
      return false;
    if (system.body_ids.alive_index(i) && !(excess(system.poses[i], system.velocities[i]) <= 1)) return false;
  }
  return std::all_of(system.motors.begin(), system.motors.end(), [](const MotorCommand& m) {
    return m.control <= Control::torque && std::fabs(m.target) < most && std::fabs(m.kp) < most &&
           std::fabs(m.kd) < most;
  });
}

bool sound_state(const System& system) {
  const std::size_t bodies = system.bodies.size(), joints = system.motors.size();
  if (system.poses.size() != bodies || system.velocities.size() != bodies || system.forces.size() != bodies ||
      system.loads.size() != joints || system.latched.size() != joints)
    return false;
  const auto there = [&](BodyId id) { return !id.valid() || system.body_ids.alive(id); };
  return finite(system.gravity) && sound_motion(system) &&
         std::all_of(system.contacts.begin(), system.contacts.end(),
                     [&](const Contact& c) { return there(c.a) && there(c.b); });
}

template <class Archive>
void archive_desc(Archive& ar, JointDesc& desc) {
  ar("type", desc.type), ar("a", desc.a), ar("b", desc.b);
  // The rest is as it was made, or follows from the state (friction of flush faces and jaws: from their loads).
  if (ar.hashing()) return;
  ar("frame_a", desc.frame_a), ar("frame_b", desc.frame_b);
  ar("lower", desc.lower), ar("upper", desc.upper), ar("damping", desc.damping), ar("friction", desc.friction);
  ar("latch_time", desc.latch_time), ar("pull_speed", desc.pull_speed);
}

// Reads and checks everything before it changes anything: if it fails, the caller restores the state from before, and
// that is checked against the joints that the system has then.
void load_topology(System& system, Archive& ar) {
  IdPool<BodyTag> body_pool;
  ar("body_ids", body_pool);
  HashArchive saved, here;
  saved("bodies", body_pool);
  here("bodies", system.body_ids);
  if (saved.value() != here.value()) return ar.fail("the snapshot is of another system: its bodies differ");
  Topology loaded;
  ar("joint_ids", loaded.ids);
  const std::size_t joints_saved = loaded.ids.capacity();
  if (joints_saved > ar.remaining() || !loaded.ids.consistent()) return ar.fail("the snapshot is damaged");
  loaded.descs.resize(joints_saved);
  archive_plain(ar, loaded.descs, [](auto& fields, JointDesc& desc) { archive_desc(fields, desc); });
  std::vector<std::vector<std::uint32_t>> order;
  ar("joints_of", order);
  if (!ar.ok()) return;
  if (order.size() != system.joints_of.size()) return ar.fail("the snapshot is damaged");
  loaded.joints_of.resize(order.size());
  for (std::size_t b = 0; b < order.size(); ++b) {
    for (const std::uint32_t index : order[b]) {
      if (!loaded.ids.alive_index(index)) return ar.fail("the snapshot is damaged");
      loaded.joints_of[b].push_back(loaded.ids.at(index));
    }
  }
  if (!sound_joints(loaded, system.body_ids))
    return ar.fail("the snapshot is damaged: a joint connects what is not there");
  for (std::size_t j = 0; j < std::min(system.joint_descs.size(), joints_saved); ++j)
    if (loaded.ids.alive_index(j) && system.joint_ids.alive(loaded.ids.at(j)) &&
        !same_but_docks(system, system.joint_descs[j], loaded.descs[j]))
      return ar.fail("the snapshot is damaged: a joint connects others than before");
  system.joint_ids = std::move(loaded.ids);
  system.joint_descs = std::move(loaded.descs);
  system.joints_of = std::move(loaded.joints_of);
  system.motors.resize(joints_saved), system.joints.resize(joints_saved), system.loads.resize(joints_saved);
  system.latched.resize(joints_saved), system.latches.resize(joints_saved);
}

}  // namespace

// Joints are added and removed in a run (docks), so a snapshot contains them; bodies are not.
void System::archive_topology(Archive& ar) {
  if (ar.loading()) return load_topology(*this, ar);
  ar("body_ids", body_ids);
  ar("joint_ids", joint_ids);
  archive_plain(ar, joint_descs, [](auto& fields, JointDesc& desc) { archive_desc(fields, desc); });
  if (ar.hashing()) return;  // joints_of follows from the joints, and would make hashing slow
  // In the format of a vector of vectors of indices, without making one.
  detail::archive_size(ar, joints_of.size());
  for (auto& joints_of_body : joints_of) {
    detail::archive_size(ar, joints_of_body.size());
    for (JointId& id : joints_of_body) ar("joint", id.index);
  }
}

void System::archive(Archive& ar) {
  archive_topology(ar);
  if (!ar.ok()) return;
  ar("gravity", gravity);
  ar("poses", poses);
  ar("velocities", velocities);
  ar("forces", forces);
  archive_plain(ar, std::views::iota(std::size_t{0}, motors.size()), [&](auto& fields, std::size_t i) {
    MotorCommand& motor = motors[i];
    fields("control", motor.control), fields("target", motor.target), fields("kp", motor.kp), fields("kd", motor.kd);
    fields("max_velocity", motor.max_velocity), fields("max_torque", motor.max_torque);
    JointState& joint = joints[i];
    fields("position", joint.position), fields("velocity", joint.velocity), fields("torque", joint.torque);
    fields("latch", latches[i]);
  });
  ar("loads", loads);
  ar("latched", latched);
  std::uint64_t count = contacts.size();
  ar("contacts", count);
  if (ar.loading()) contacts.resize(count <= ar.remaining() / 64 ? count : 0);
  archive_plain(ar, contacts, [](auto& fields, Contact& c) {
    fields("a", c.a), fields("b", c.b), fields("point", c.point), fields("normal", c.normal);
    fields("depth", c.depth), fields("force", c.force);
  });
  if (ar.loading() && !sound_state(*this)) {
    ar.fail("the snapshot is damaged: the state of the bodies is impossible");
    contacts.clear();
    poses.resize(bodies.size()), velocities.resize(bodies.size()), forces.resize(bodies.size());
    loads.resize(motors.size()), latched.resize(motors.size());
  }
}

namespace {

std::optional<Error> problem_with(const model::Shape& shape, Motion motion) {
  if (const auto* hull = std::get_if<model::Hull>(&shape)) {
    if (!*hull || (*hull)->points.size() < 4)
      return Error("a convex hull has fewer than 4 points", "give it at least 4 points that do not lie in a plane");
  }
  const bool moves = motion == Motion::dynamic;
  if (std::holds_alternative<model::Mesh>(shape)) {
    if (moves)
      return Error("a body that moves has a triangle mesh to collide with",
                   "use a convex hull (or several) for its collision, or make the model static");
    const auto& mesh = std::get<model::Mesh>(shape);
    if (!mesh || mesh->triangles.empty())
      return Error("a triangle mesh has no triangles", "give it at least one triangle");
  }
  if (const auto* field = std::get_if<model::HeightField>(&shape)) {
    if (moves) return Error("a body that moves has a height field to collide with", "make the model static");
    if (!*field || (*field)->columns < 2 || (*field)->rows < 2 ||
        (*field)->heights.size() != std::size_t{(*field)->columns} * (*field)->rows) {
      return Error("a height field needs at least 2 x 2 heights, one for every sample",
                   "give it columns x rows heights");
    }
  }
  if (moves && std::holds_alternative<model::Plane>(shape)) {
    return Error("a body that moves has an infinite plane to collide with", "make the model static, or use a box");
  }
  return {};
}

}  // namespace

std::optional<Error> problem_with(const BodyDesc& desc) {
  if (!finite(desc.pose) || !finite(desc.velocity) || !finite(desc.inertial)) {
    return Error("a body's pose or velocity is not a number", "place it somewhere finite");
  }
  if (desc.motion == Motion::dynamic) {
    if (!(desc.mass > 0) || !std::isfinite(desc.mass)) {
      return Error(fmt::format("a body that moves has a mass of {} kg", desc.mass),
                   "give <mass> a positive value in kg");
    }
    const Vec3& m = desc.moments;
    if (!(m.x > 0 && m.y > 0 && m.z > 0) || !finite(m)) {
      return Error(fmt::format("a body that moves has moments of inertia {} {} {}", m.x, m.y, m.z),
                   "give <inertia> a positive ixx, iyy and izz in kg m^2");
    }
  }
  if (desc.geometry) {
    for (const model::Collider& collider : desc.geometry->colliders) {
      if (auto error = problem_with(collider.shape, desc.motion)) return error;
    }
  }
  return {};
}

Vec3 least_moments(const BodyDesc& desc) {
  constexpr double share = 0.02;
  if (!desc.geometry || desc.motion != Motion::dynamic) return {};
  model::Bounds box;
  const Pose to_principal = desc.inertial.inverse();
  for (const model::Collider& collider : desc.geometry->colliders)
    box.add(model::bounds(collider.shape, to_principal * collider.pose));
  if (box.empty()) return {};
  const Vec3 half = (box.high - box.low) / 2, square = multiply(half, half);
  return Vec3{square.y + square.z, square.x + square.z, square.x + square.y} * (desc.mass * share * share);
}

StepStatus problem_with_inputs(const System& system) {
  VOLVOX_ASSERT(system.motors.size() == system.joint_ids.capacity());
  VOLVOX_ASSERT(system.forces.size() == system.body_ids.capacity());
  for (std::size_t i = 0; i < system.motors.size(); ++i) {
    if (!system.joint_ids.alive_index(i)) continue;
    const MotorCommand& m = system.motors[i];
    if (m.control == Control::off) continue;
    if (std::isfinite(m.target) && std::isfinite(m.kp) && !std::isnan(m.kd) && !std::isnan(m.max_velocity) &&
        !std::isnan(m.max_torque)) {
      continue;
    }
    return {system.joint_descs[i].b, fmt::format("the motor command of joint {} is not a number", i)};
  }
  for (std::size_t i = 0; i < system.forces.size(); ++i) {
    if (!system.body_ids.alive_index(i)) continue;
    if (finite(system.forces[i].force) && finite(system.forces[i].torque)) continue;
    return {system.body_ids.at(i), "the force on the body is not a number"};
  }
  return {};
}

// Names the body that is worst: it is the one where the trouble began, or a neighbour of it.
StepStatus problem_with_state(const System& system) {
  VOLVOX_ASSERT(system.poses.size() == system.velocities.size() && system.poses.size() == system.bodies.size());
  double most = 1;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < system.poses.size(); ++i) {
    if (!system.body_ids.alive_index(i)) continue;
    // Far from every bound, no roots are needed to say so; what is not a number is not far from it.
    const auto small = [](const Vec3& v, double bound) { return length_squared(v) < 0.98 * (bound * bound); };
    const Twist& velocity = system.velocities[i];
    if (small(velocity.linear, fastest) && small(velocity.angular, fastest_spin) &&
        small(system.poses[i].position, farthest) && finite(system.poses[i].rotation))
      continue;
    const double own = excess(system.poses[i], velocity);
    if (own > most) most = own, worst = i;
  }
  if (most <= 1) return {};
  const BodyId id = system.body_ids.at(worst);
  if (std::isinf(most)) return {id, "its pose or velocity is not a number"};
  const Twist& v = system.velocities[worst];
  const double speed = length(v.linear), spin = length(v.angular), distance = length(system.poses[worst].position);
  if (speed / fastest == most) return {id, fmt::format("it runs away at {:.3g} m/s", speed)};
  if (distance / farthest == most)
    return {id, fmt::format("it has left the world: it is {:.3g} m from the origin", distance)};
  const Vec3& m = system.bodies[worst].moments;
  return {id, fmt::format("it spins at {:.3g} rad/s; it has {:.3g} kg and moments of inertia of {:.3g} {:.3g} {:.3g} "
                          "kg m^2: correct <inertia>, or what drives it",
                          spin, system.bodies[worst].mass, m.x, m.y, m.z)};
}

bool is_rotation(const Quat& q) { return finite(q) && std::fabs(dot(q.vector(), q.vector()) + q.w * q.w - 1) < 1e-6; }

bool in_order(const Engine& engine) {
  const auto turned = [](const Pose& pose) { return finite(pose.position) && is_rotation(pose.rotation); };
  return engine.poses().size() == engine.velocities().size() && engine.joints().size() == engine.loads().size() &&
         engine.joints().size() == engine.latched().size() && std::ranges::all_of(engine.poses(), turned) &&
         std::ranges::all_of(engine.velocities(), [](const Twist& v) { return finite(v); });
}

int substep_count(double tick, double max_substep) {
  VOLVOX_ASSERT(tick > 0 && max_substep > 0);
  // A tick is a whole number of nanoseconds: 1/60 s may be a nanosecond over four times 1/240.
  return std::max(1, truncated(std::ceil((tick - 2e-9) / max_substep)));
}

}  // namespace volvox::physics
