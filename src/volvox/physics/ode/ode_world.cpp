#include "volvox/physics/ode/ode_world.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/platform/clock.h"
#include "volvox/physics/free_rotation.h"
#include "volvox/physics/native/bounce.h"
#include "volvox/physics/ode/convert.h"

namespace volvox::physics::ode {
namespace {

// The limit of the speed at which overlaps are pushed out (mostly overlaps of the initial placement).
constexpr double fastest_push = 0.3;  // m/s
constexpr double contact_reduction = 0.2;
// ODE finds contacts of overlapping bodies only: a resting body keeps this overlap, or it would lose its contact in
// every other step.
constexpr double surface_layer = 5e-5;  // m

bool start_ode() {
  static const bool started = [] {
    dInitODE2(0);
    // A library does not print; errors show in the state, which is checked.
    dSetMessageHandler([](int, const char*, va_list) {});
    return true;
  }();
  return started && dAllocateODEDataForThread(dAllocateMaskAll) != 0;
}

}  // namespace

World::World(System& system, ShapeCache& shapes, const Sweep& sweep)
    : system_(system), shapes_(shapes), sweep_(sweep), started_(start_ode()), finder_(system, bodies_) {
  VOLVOX_CHECK(started_, "ODE has no memory left");
  world_ = dWorldCreate();
  space_ = dSweepAndPruneSpaceCreate(nullptr, dSAP_AXES_XYZ);
  contact_joints_ = dJointGroupCreate(0);
  dWorldSetERP(world_, error_reduction);
  dWorldSetCFM(world_, 0);
  dWorldSetContactSurfaceLayer(world_, 0);
  dWorldSetQuickStepNumIterations(world_, solver_iterations);
  dWorldSetAutoDisableFlag(world_, 0);
  const std::size_t bodies = system.bodies.size(), joints = system.joint_descs.size();
  for (std::size_t i = 0; i < bodies; ++i) {
    if (system.body_ids.alive_index(i)) add_body(i);
  }
  for (std::size_t i = 0; i < joints; ++i) {
    if (system.joint_ids.alive_index(i)) add_joint(i);
  }
}

World::~World() {
  joints_.clear();
  dJointGroupDestroy(contact_joints_);
  for (std::size_t i = 0; i < bodies_.size(); ++i) remove_body(i);
  dSpaceDestroy(space_);
  dWorldDestroy(world_);
}

Pose World::inertial(std::size_t index) const {
  const Pose& frame = system_.bodies[index].inertial;
  return {frame.position, normalized(frame.rotation)};
}

void World::add_body(std::size_t index) {
  const std::size_t size = system_.bodies.size();
  bodies_.resize(size), marks_.resize(size), before_.resize(size);
  const BodyDesc& desc = system_.bodies[index];
  OdeBody& made = bodies_[index];
  made.body = dBodyCreate(world_);
  if (desc.motion == Motion::dynamic) {
    dMass mass;
    dMassSetParameters(&mass, desc.mass, 0, 0, 0, desc.moments.x, desc.moments.y, desc.moments.z, 0, 0, 0);
    dBodySetMass(made.body, &mass);
  } else {
    dBodySetKinematic(made.body);
  }
  dBodySetGravityMode(made.body, desc.gravity);
  dBodySetGyroscopicMode(made.body, 0);  // move_bodies turns them
  made.shape = shapes_.shape_of(desc);
  if (made.shape) add_geoms(index);
  place_body(index);
}

void World::add_geoms(std::size_t index) {
  OdeBody& body = bodies_[index];
  const Pose to_body = inertial(index).inverse();
  for (std::size_t c = 0; c < body.shape->colliders.size(); ++c) {
    const ColliderShape& collider = *body.shape->colliders[c];
    const dGeomID geom = collider.make_geom(space_);
    body.geoms.push_back(geom);
    if (!geom) continue;
    marks_[index].push_back(std::make_unique<ContactFinder::Mark>(ContactFinder::Mark{index, c}));
    dGeomSetData(geom, marks_[index].back().get());
    if (system_.bodies[index].motion == Motion::fixed) continue;  // not part of an island
    const Pose place = to_body * collider.pose;
    const dQuaternion turn{place.rotation.w, place.rotation.x, place.rotation.y, place.rotation.z};
    dGeomSetBody(geom, body.body);
    dGeomSetOffsetPosition(geom, place.position.x, place.position.y, place.position.z);
    dGeomSetOffsetQuaternion(geom, turn);
  }
}

void World::remove_body(std::size_t index) {
  OdeBody& body = bodies_[index];
  for (dGeomID geom : body.geoms) {
    if (geom) dGeomDestroy(geom);
  }
  if (body.body) dBodyDestroy(body.body);
  body = {};
  marks_[index].clear();
}

void World::place_body(std::size_t index) {
  OdeBody& body = bodies_[index];
  const Twist& v = system_.velocities[index];
  place(body.body, system_.poses[index] * inertial(index));
  dBodySetLinearVel(body.body, v.linear.x, v.linear.y, v.linear.z);
  dBodySetAngularVel(body.body, v.angular.x, v.angular.y, v.angular.z);
  if (system_.bodies[index].motion != Motion::fixed) return;
  for (std::size_t c = 0; c < body.geoms.size(); ++c) {
    if (body.geoms[c]) place(body.geoms[c], system_.poses[index] * body.shape->colliders[c]->pose);
  }
}

void World::add_joint(std::size_t index) {
  const JointDesc& desc = system_.joint_descs[index];
  joints_.resize(system_.joint_descs.size());
  joints_[index] = std::make_unique<Joint>(
      desc, world_, desc.a.valid() ? bodies_[desc.a.index].body : nullptr, bodies_[desc.b.index].body,
      desc.a.valid() ? inertial(desc.a.index).inverse() * desc.frame_a : desc.frame_a,
      inertial(desc.b.index).inverse() * desc.frame_b);
}

void World::begin_tick() {
  // ODE's colliders have buffers by thread, and the calling thread may be a new one.
  dAllocateODEDataForThread(dAllocateMaskAll);
  dWorldSetGravity(world_, system_.gravity.x, system_.gravity.y, system_.gravity.z);
  joints_.resize(system_.joint_descs.size());
  loads_.assign(joints_.size(), {});
  motor_impulses_.assign(joints_.size(), 0);
}

bool World::substep(double step) {
  apply_forces();
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    if (joints_[i]) joints_[i]->prepare(step, system_.joints[i].position, system_.motors[i], system_.latches[i]);
  }
  add_contacts(step);
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (bodies_[i].body) before_[i] = pose_of(bodies_[i].body);
  }
  // QuickStep shuffles its rows by a generator that all worlds of a process share.
  dRandSetSeed(1);
  dWorldQuickStep(world_, step);
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    if (!joints_[i]) continue;
    loads_[i] += joints_[i]->load_on_b() * step;
    motor_impulses_[i] += joints_[i]->motor_torque() * step;
  }
  find_held();
  move_bodies(step);
  dJointGroupEmpty(contact_joints_);
  bool whole = true;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (!bodies_[i].body || system_.bodies[i].motion == Motion::fixed) continue;
    system_.poses[i] = pose_of(bodies_[i].body) * inertial(i).inverse();
    system_.velocities[i] = {from_ode(dBodyGetLinearVel(bodies_[i].body)),
                             from_ode(dBodyGetAngularVel(bodies_[i].body))};
    whole = whole && finite(system_.poses[i]) && finite(system_.velocities[i]);
  }
  for (std::size_t i = 0; i < joints_.size() && whole; ++i) {
    if (joints_[i]) system_.joints[i].position = joints_[i]->position_after(system_.joints[i].position);
  }
  return whole;
}

void World::apply_forces() {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Wrench& wrench = system_.forces[i];
    if (!bodies_[i].body || wrench == Wrench{}) continue;
    dBodyAddForce(bodies_[i].body, wrench.force.x, wrench.force.y, wrench.force.z);
    dBodyAddTorque(bodies_[i].body, wrench.torque.x, wrench.torque.y, wrench.torque.z);
  }
}

void World::add_contacts(double step) {
  const double began = platform::monotonic_seconds();
  finder_.find(space_, step, contacts_);
  collision_s_ += platform::monotonic_seconds() - began;
  reactions_.assign(contacts_.size(), {});
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    ContactCandidate& candidate = contacts_[i];
    const dContact contact = contact_row(candidate, step);
    const dJointID joint = dJointCreateContact(world_, contact_joints_, &contact);
    const bool fixed = system_.bodies[candidate.b].motion == Motion::fixed;
    dJointAttach(joint, bodies_[candidate.a].body, fixed ? nullptr : bodies_[candidate.b].body);
    dJointSetFeedback(joint, &reactions_[i]);
  }
}

// ODE's friction is a pyramid, exact along its first direction only: this is the direction in which the bodies slide,
// or would slide without friction.
dContact World::contact_row(ContactCandidate& c, double step) const {
  const auto velocity_of = [&](std::size_t index) {
    const dBodyID body = bodies_[index].body;
    return from_ode(dBodyGetLinearVel(body)) +
           cross(from_ode(dBodyGetAngularVel(body)), c.point - from_ode(dBodyGetPosition(body)));
  };
  const Vec3 velocity = velocity_of(c.a) - velocity_of(c.b);
  const Vec3 acceleration = outer_acceleration(c.a) - outer_acceleration(c.b);
  Vec3 slide = velocity + acceleration * step;
  slide -= c.normal * dot(c.normal, slide);
  slide = length(slide) > 1e-9 ? normalized(slide) : perpendicular(c.normal);

  dContact row{};
  row.surface.mode = dContactApprox1 | dContactFDir1 | dContactMotionN;
  row.surface.mu = c.friction;
  row.surface.motionN = normal_speed(c, velocity, acceleration, step);
  for (int i = 0; i < 3; ++i) row.geom.pos[i] = c.point[i], row.geom.normal[i] = c.normal[i], row.fdir1[i] = slide[i];
  return row;
}

Vec3 World::outer_acceleration(std::size_t body) const {
  const BodyDesc& desc = system_.bodies[body];
  if (desc.motion != Motion::dynamic) return {};
  return system_.forces[body].force / desc.mass + (desc.gravity ? system_.gravity : Vec3{});
}

// The least speed along the normal after the substep: it closes a gap, corrects a part of an overlap, or is the speed
// after a bounce.
double World::normal_speed(ContactCandidate& c, const Vec3& velocity, const Vec3& acceleration, double step) const {
  const double gap = std::max(0.0, -c.depth);
  const double sunk = std::max(0.0, c.depth - surface_layer);
  const double rest = gap > 0 ? -gap / step : std::min(contact_reduction * sunk / step, fastest_push);
  const double speed = dot(c.normal, velocity), pull = dot(c.normal, acceleration);
  const native::Bounce<double> bounce =
      native::plan_bounce<double>({c.restitution, -c.depth, speed, 0, false, pull, step});
  c.bounces = bounce.now;
  return bounce.pass ? native::unheard_of : bounce.now ? std::max(rest, bounce.speed) : rest;
}

void World::find_held() {
  held_.assign(bodies_.size(), 0);
  for (std::size_t i = 0; i < bodies_.size(); ++i) held_[i] = !system_.joints_of[i].empty();
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const ContactCandidate& c = contacts_[i];
    if (!c.bounces && dot(from_ode(reactions_[i].f1), c.normal) > 0) held_[c.a] = held_[c.b] = 1;
  }
}

void World::move_bodies(double step) {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const dBodyID body = bodies_[i].body;
    if (!body || system_.bodies[i].motion == Motion::fixed) continue;
    Vec3 to = from_ode(dBodyGetPosition(body));
    Spin spin{before_[i].rotation, from_ode(dBodyGetAngularVel(body))};
    if (system_.bodies[i].motion == Motion::dynamic) {
      if (spin.velocity != Vec3{}) spin = turned(spin, system_.bodies[i].moments, step);
      // What nothing holds keeps to its parabola.
      if (!held_[i]) to -= outer_acceleration(i) * (step * step / 2);
      to = sweep_.hold_before_obstacles(system_, i, before_[i].position, to);
    } else {
      spin.rotation = normalized(from_rotation_vector(spin.velocity * step) * spin.rotation);
    }
    place(body, {to, spin.rotation});
    dBodySetAngularVel(body, spin.velocity.x, spin.velocity.y, spin.velocity.z);
  }
}

void World::end_tick(double tick) {
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    if (!joints_[i]) continue;
    system_.measure_joint(i);
    system_.joints[i].torque = motor_impulses_[i] / tick;
    system_.loads[i] = loads_[i] * (1 / tick);
    system_.latched[i] = system_.latches[i].closed();
  }
}

void World::read_contacts(std::vector<Contact>& out) const {
  out.clear();
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const ContactCandidate& c = contacts_[i];
    const double force = dot(from_ode(reactions_[i].f1), c.normal);
    if (force <= 0 && c.depth <= 0) continue;
    out.push_back({system_.body_ids.at(c.a), system_.body_ids.at(c.b), c.point, c.normal, c.depth, force});
  }
}

}  // namespace volvox::physics::ode
