// Sleep, by groups of islands that touch.
#include "volvox/physics/native/contact_solver.h"
#include "volvox/physics/native/plane_contacts.h"
#include "volvox/physics/native/sleep_rules.h"
#include "volvox/physics/native/tree.h"

namespace volvox::physics::native {
namespace {

// A motor that is to turn will, however slowly; and a dock that pulls is not done.
bool joint_rests(const World& world, JointId id) {
  const MotorCommand& motor = world.system.motors[id.index];
  if (motor.control == Control::velocity && motor.target != 0) return false;
  return world.system.joint_descs[id.index].type != JointType::dock || world.system.latches[id.index].closed();
}

}  // namespace

template <class Visit>
void ContactSolver::for_bodies(const Islands& islands, const Group& group, const Visit& visit) const {
  for (std::size_t i = group.first_island; i < group.last_island; ++i) {
    for (int body : islands[static_cast<std::size_t>(islands_[i])]->bodies()) visit(static_cast<std::size_t>(body));
  }
}

void ContactSolver::wake_groups(World& world, const Islands& islands, ThreadPool* threads) {
  parallel_for(threads, groups_.size(), 100, [&](std::size_t index) {
    Group& group = groups_[index];
    bool any = false, all = true;
    for_bodies(islands, group, [&](std::size_t i) {
      any = any || world.bodies[i].awake;
      all = all && world.bodies[i].awake;
    });
    group.awake = any;
    if (!any || all) return;
    for_bodies(islands, group, [&](std::size_t i) {
      if (!world.bodies[i].awake) world.bodies[i].awake = true, world.bodies[i].still = 0;
    });
  });
}

// Only what is carried may sleep: what floats freely and slowly goes on floating.
bool ContactSolver::may_sleep(const World& world, const Islands& islands, const Group& group) const {
  bool rests = true, carried = false;
  for_bodies(islands, group, [&](std::size_t i) { rests = rests && world.bodies[i].still >= time_to_sleep; });
  if (!rests) return false;
  for_bodies(islands, group, [&](std::size_t i) {
    for (JointId id : world.system.joints_of[i]) {
      rests = rests && joint_rests(world, id);
      const JointDesc& desc = world.system.joint_descs[id.index];
      carried = carried || !world.system.moves(desc.a) || !world.system.moves(desc.b);
    }
  });
  for (std::size_t i = group.first_point; rests && i < group.last_point; ++i) {
    const ContactPoint& c = points_[static_cast<std::size_t>(order_[i])];
    const Body& other = world.bodies[static_cast<std::size_t>(c.b)];
    if (other.island >= 0 || c.impulse == Vec3{}) continue;
    carried = true;
    rests = rests && other.linear == Vec3{} && other.angular == Vec3{};
  }
  return rests && carried;
}

void ContactSolver::let_sleep(World& world, const Islands& islands, double tick, ThreadPool* threads) const {
  parallel_for(threads, groups_.size(), 100, [&](std::size_t index) {
    const Group& group = groups_[index];
    if (!group.awake) return;
    for_bodies(islands, group, [&](std::size_t i) {
      Body& body = world.bodies[i];
      body.still = still_after(body.still, body.linear, body.angular, tick);
    });
    if (!may_sleep(world, islands, group)) return;
    for_bodies(islands, group, [&](std::size_t i) {
      Body& body = world.bodies[i];
      body.awake = false;
      body.linear = body.angular = body.spin = {};
    });
    for_bodies(islands, group, [&](std::size_t i) {
      for (JointId id : world.system.joints_of[i]) world.system.joints[id.index].velocity = 0;
    });
  });
}

// The plane stands, and nothing else holds the tree.
void ContactSolver::let_sleep(World& world, const Tree& tree, const PlaneContacts& planes, double tick) {
  bool rests = true, carried = false;
  for (const int i : tree.bodies()) {
    Body& body = world.bodies[static_cast<std::size_t>(i)];
    body.still = still_after(body.still, body.linear, body.angular, tick);
    rests = rests && body.still >= time_to_sleep;
  }
  for (std::size_t node = 1; rests && node < tree.joints().size(); ++node)
    rests = joint_rests(world, world.system.joint_ids.at(static_cast<std::size_t>(tree.joints()[node])));
  if (!rests) return;
  for (const int i : tree.bodies())
    for (const PlanePoint& point : planes.points(static_cast<std::size_t>(i)))
      carried = carried || point.impulse != Vec3{};
  if (!carried) return;
  for (const int i : tree.bodies()) {
    Body& body = world.bodies[static_cast<std::size_t>(i)];
    body.awake = false;
    body.linear = body.angular = body.spin = {};
  }
  for (std::size_t node = 1; node < tree.joints().size(); ++node)
    world.system.joints[static_cast<std::size_t>(tree.joints()[node])].velocity = 0;
}

}  // namespace volvox::physics::native
