#include "volvox/physics/bullet/bullet_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "volvox/physics/bullet/bullet_world.h"
#include "volvox/physics/joint_friction.h"
#include "volvox/physics/system.h"

namespace volvox::physics {
namespace {

using namespace bullet;

class BulletEngine final : public SystemEngine {
 public:
  explicit BulletEngine(const EngineSettings& settings)
      : SystemEngine(settings.gravity), max_substep_(settings.max_substep), ground_(ground_info()) {
    info_.name = "bullet";
    info_.description = "Bullet 3.24 (Debian), sequential impulses, with Volvox's own joint and dock rows";
    info_.settings = fmt::format(
        "double precision, at most {} iterations (converged at 1e-6 m/s), substeps of at most "
        "{:.6g} s, one thread, no sleeping",
        solver_iterations, max_substep_);
    info_.exact_restore = false;
    info_.uses_threads = false;
    info_.own_state = "the impulses of its joints";
    info_.limits =
        "long arms of docks droop (20 docks held at one end: 0.6 rad at the worst); meshes, height fields and "
        "planes only on bodies that do not move; contact caches are not in a snapshot";
    info_.cannot = {friction_by_load};
    rebuild();
  }
  ~BulletEngine() override { clear(); }

  Result<BodyId> add_body(const BodyDesc& desc) override {
    if (auto error = problem_with(desc)) return *error;
    keep_contacts();
    const BodyId id = system_.add(desc);
    bodies_.resize(system_.bodies.size());
    marks_.resize(system_.bodies.size());
    make_body(id.index);
    return id;
  }
  void remove_body(BodyId id) override {
    keep_contacts();
    VOLVOX_CHECK(system_.body_ids.alive(id), "removing a body that is not there");
    while (!system_.joints_of[id.index].empty()) remove_joint(system_.joints_of[id.index].back());
    parts_->world.removeRigidBody(bodies_[id.index].get());
    bodies_[id.index].reset();
    system_.remove(id);
  }
  JointId add_joint(const JointDesc& desc) override {
    keep_contacts();
    const JointId id = system_.add(desc);
    joints_.resize(system_.joint_descs.size());
    make_joint(id.index);
    forget_contacts(joints_[id.index]->getRigidBodyA(), joints_[id.index]->getRigidBodyB());
    return id;
  }
  void remove_joint(JointId id) override {
    keep_contacts();
    VOLVOX_CHECK(system_.joint_ids.alive(id), "removing a joint that is not there");
    parts_->world.removeConstraint(joints_[id.index].get());
    joints_[id.index].reset();
    system_.remove(id);
  }
  void set_body(BodyId id, const Pose& pose, const Twist& velocity) override {
    keep_contacts();
    VOLVOX_CHECK(system_.body_ids.alive(id), "placing a body that is not there");
    system_.poses[id.index] = pose;
    system_.velocities[id.index] = system_.bodies[id.index].motion == Motion::fixed ? Twist{} : velocity;
    place(id.index);
    for (JointId joint : system_.joints_of[id.index]) system_.measure_joint(joint.index);
  }
  void set_gravity(const Vec3& gravity) override {
    system_.gravity = gravity;
    parts_->world.setGravity(to_bullet(gravity));
  }

  StepStatus advance(Time begin, Time end) override;

  void archive(Archive& ar) override {
    archive_common(ar);
    for (std::size_t i = 0; i < joints_.size() && ar.ok(); ++i) {
      std::array<double, Joint::slots> impulses{};
      if (joints_[i]) impulses = joints_[i]->impulses();
      ar("impulses", impulses);
      if (ar.loading() && joints_[i]) joints_[i]->impulses() = impulses;
    }
    if (!ar.hashing() && ar.ok()) rebuild();
  }
  bool archive_common(Archive& ar) override {
    keep_contacts();
    system_.archive(ar);
    if (ar.loading() && ar.ok()) {
      clear();
      for (auto& joint : joints_) joint.reset();
      joints_.resize(system_.joint_descs.size());
      load_impulses_.resize(joints_.size()), motor_impulses_.resize(joints_.size());
      rebuild();
    }
    return true;
  }

 private:
  static btRigidBody::btRigidBodyConstructionInfo ground_info() { return {0, nullptr, nullptr}; }

  void clear();
  void rebuild();
  void make_body(std::size_t index);
  void make_joint(std::size_t index);
  void place(std::size_t index);
  void forget_contacts(btRigidBody& a, btRigidBody& b);
  void apply_forces();
  void substep(double step);
  void read_state(double tick);
  void read_contacts(std::vector<Contact>& out) const override;

  double max_substep_;
  double step_ = 1;  // s, the last substep's length
  ShapeCache shapes_;
  btRigidBody ground_;  // the other body of joints to the world
  std::unique_ptr<WorldParts> parts_;
  std::vector<std::unique_ptr<BodyMark>> marks_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;  // by body index
  std::vector<std::unique_ptr<Joint>> joints_;        // by joint index
  std::vector<Wrench> load_impulses_;                 // of the tick so far
  std::vector<double> motor_impulses_;
};

void BulletEngine::clear() {
  if (!parts_) return;
  for (auto& joint : joints_) {
    if (joint) parts_->world.removeConstraint(joint.get());
  }
  for (auto& body : bodies_) {
    if (body) parts_->world.removeRigidBody(body.get());
  }
}

// Makes a new world with the same bodies and joints in the order of their ids. It has none of Bullet's caches
// (contacts, their impulses, the order of its lists), so a run that continues after a snapshot and a run that is
// restored from it have the same bits.
void BulletEngine::rebuild() {
  clear();
  std::vector<std::array<double, Joint::slots>> impulses(joints_.size());
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    if (joints_[i]) impulses[i] = joints_[i]->impulses();
    joints_[i].reset();
  }
  for (auto& body : bodies_) body.reset();
  parts_ = std::make_unique<WorldParts>(system_.gravity);
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (system_.body_ids.alive_index(i)) make_body(i);
  }
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    if (!system_.joint_ids.alive_index(i)) continue;
    make_joint(i);
    joints_[i]->impulses() = impulses[i];
  }
}

void BulletEngine::make_body(std::size_t index) {
  const BodyDesc& desc = system_.bodies[index];
  const BodyShape* shape = shapes_.shape_of(desc);
  const bool dynamic = desc.motion == Motion::dynamic;
  btRigidBody::btRigidBodyConstructionInfo info(dynamic ? desc.mass : 0, nullptr, shape->shape,
                                                dynamic ? to_bullet(desc.moments) : btVector3(0, 0, 0));
  info.m_linearSleepingThreshold = info.m_angularSleepingThreshold = 0;
  auto body = std::make_unique<btRigidBody>(info);
  // Free rotation is our own: see World::integrateTransforms.
  int flags = body->getFlags() & ~BT_ENABLE_GYROPSCOPIC_FORCE;
  if (!desc.gravity) flags |= BT_DISABLE_WORLD_GRAVITY;
  body->setFlags(flags);
  body->setDamping(0, 0);
  if (desc.motion == Motion::kinematic) {
    body->setCollisionFlags((body->getCollisionFlags() & ~btCollisionObject::CF_STATIC_OBJECT) |
                            btCollisionObject::CF_KINEMATIC_OBJECT);
  }
  body->setActivationState(DISABLE_DEACTIVATION);
  if (!marks_[index]) marks_[index] = std::make_unique<BodyMark>();
  *marks_[index] = {system_.body_ids.at(index), desc.owner, desc.quiet, shape};
  body->setUserPointer(marks_[index].get());
  bodies_[index] = std::move(body);
  place(index);
  parts_->world.addRigidBody(bodies_[index].get());
  if (desc.motion == Motion::fixed) bodies_[index]->setActivationState(ISLAND_SLEEPING);
}

void BulletEngine::make_joint(std::size_t index) {
  const JointDesc& desc = system_.joint_descs[index];
  const auto frame = [&](BodyId id) { return marks_[id.index]->shape->frame.inverse(); };
  btRigidBody& a = desc.a.valid() ? *bodies_[desc.a.index] : ground_;
  joints_[index] = std::make_unique<Joint>(desc, index, a, *bodies_[desc.b.index],
                                           desc.a.valid() ? frame(desc.a) * desc.frame_a : desc.frame_a,
                                           frame(desc.b) * desc.frame_b);
  parts_->world.addConstraint(joints_[index].get(), true);
}

void BulletEngine::place(std::size_t index) {
  btRigidBody& body = *bodies_[index];
  const btTransform pose = to_bullet(system_.poses[index] * marks_[index]->shape->frame);
  body.setWorldTransform(pose);
  body.setInterpolationWorldTransform(pose);
  body.updateInertiaTensor();
  body.setLinearVelocity(to_bullet(system_.velocities[index].linear));
  body.setAngularVelocity(to_bullet(system_.velocities[index].angular));
  if (body.isInWorld()) parts_->world.updateSingleAabb(&body);
}

// Bullet does not update the contacts of a pair that a joint connects, but would still push the bodies apart with the
// contacts that they had.
void BulletEngine::forget_contacts(btRigidBody& a, btRigidBody& b) {
  if (!a.getBroadphaseProxy() || !b.getBroadphaseProxy()) return;
  btOverlappingPairCache* pairs = parts_->broadphase.getOverlappingPairCache();
  if (btBroadphasePair* pair = pairs->findPair(a.getBroadphaseProxy(), b.getBroadphaseProxy())) {
    pairs->cleanOverlappingPair(*pair, &parts_->dispatcher);
  }
}

StepStatus BulletEngine::advance(Time begin, Time end) {
  if (StepStatus status = problem_with_inputs(system_); !status.ok()) return status;
  const double tick = (end - begin).seconds();
  if (tick <= 0) return {};
  const int count = substep_count(tick, max_substep_);
  step_ = tick / count;
  contacts_changed();
  load_impulses_.assign(joints_.size(), {});
  motor_impulses_.assign(joints_.size(), 0);
  for (int i = 0; i < count; ++i) substep(step_);
  read_state(tick);
  std::fill(system_.forces.begin(), system_.forces.end(), Wrench{});
  return problem_with_state(system_);
}

void BulletEngine::substep(double step) {
  apply_forces();
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    if (joints_[i]) joints_[i]->prepare(step, system_.joints[i].position, system_.motors[i], system_.latches[i]);
  }
  parts_->dispatcher.begin_substep(step);
  parts_->world.stepSimulation(step, 0);
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    if (!joints_[i]) continue;
    load_impulses_[i] += joints_[i]->impulse_on_b();
    motor_impulses_[i] += joints_[i]->motor_impulse();
    system_.joints[i].position = joints_[i]->position_after(system_.joints[i].position);
  }
}

void BulletEngine::apply_forces() {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Wrench& wrench = system_.forces[i];
    if (!bodies_[i] || wrench == Wrench{}) continue;
    bodies_[i]->applyCentralForce(to_bullet(wrench.force));
    bodies_[i]->applyTorque(to_bullet(wrench.torque));
  }
}

void BulletEngine::read_state(double tick) {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (!bodies_[i] || bodies_[i]->isStaticObject()) continue;
    system_.poses[i] = from_bullet(bodies_[i]->getWorldTransform()) * marks_[i]->shape->frame.inverse();
    system_.velocities[i] = {from_bullet(bodies_[i]->getLinearVelocity()),
                             from_bullet(bodies_[i]->getAngularVelocity())};
  }
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    if (!joints_[i]) continue;
    system_.measure_joint(i);
    system_.joints[i].torque = motor_impulses_[i] / tick;
    system_.loads[i] = load_impulses_[i] * (1 / tick);
    system_.latched[i] = system_.latches[i].closed();
  }
}

void BulletEngine::read_contacts(std::vector<Contact>& out) const {
  out.clear();
  for (int i = 0; i < parts_->dispatcher.getNumManifolds(); ++i) {
    const btPersistentManifold& manifold = *parts_->dispatcher.getManifoldByIndexInternal(i);
    const BodyMark &a = mark_of(manifold.getBody0()), &b = mark_of(manifold.getBody1());
    for (int j = 0; j < manifold.getNumContacts(); ++j) {
      const btManifoldPoint& point = manifold.getContactPoint(j);
      const double force = point.getAppliedImpulse() / step_;
      // Bullet also keeps contacts of bodies that are near and do not touch.
      if (force <= 0 && point.getDistance() > 0) continue;
      out.push_back({a.id, b.id, from_bullet((point.m_positionWorldOnA + point.m_positionWorldOnB) / 2),
                     from_bullet(point.m_normalWorldOnB), -point.getDistance(), force});
    }
  }
}

}  // namespace

std::unique_ptr<Engine> make_bullet_engine(const EngineSettings& settings) {
  return std::make_unique<BulletEngine>(settings);
}

}  // namespace volvox::physics
