// What of a flock is written to the world, and what that writes over, for who is called back: see Flocks.
// SI units, world frame. One thread for each flock.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "volvox/physics/native/flock.h"
#include "volvox/physics/native/flock_rows.h"

namespace volvox::physics::native {

namespace detail {
inline std::size_t at(int index) { return static_cast<std::size_t>(index); }
}  // namespace detail

// Each width is compiled for the registers that it fits, in files of their own: nothing takes longer to compile.
template <class T>
const FlockKernels<T>& flock_kernels() {
  static const FlockKernels<T> chosen = [] {
    if constexpr (std::same_as<T, double>) return one_double();
    else if constexpr (std::same_as<T, Floats<1>>) return one_float();
    else if constexpr (std::same_as<T, Floats<4>>) return four_floats_sse2();
    else if constexpr (std::same_as<T, FourLanes>)
      return isa() == Isa::avx2 ? four_doubles_avx2() : four_doubles_sse2();
    else if constexpr (std::same_as<T, Floats<8>>) return eight_floats_avx2();
    else if constexpr (std::same_as<T, Floats<16>>) return sixteen_floats_avx512();
    else return eight_doubles_avx512();
  }();
  return chosen;
}

template <class T>
void commit_joint(World& world, std::size_t joint, const FlockJoint<T>& from, int lane) {
  world.system.joints[joint].position = take(from.position, lane);
  world.system.joints[joint].velocity = take(from.velocity, lane);
  world.tensions[joint] = take(from.tension, lane);
  world.load_impulses[joint] = Wrench{take(from.load.l, lane), take(from.load.a, lane)};
  world.motor_impulses[joint] = take(from.motor, lane);
}

// Their state, slot by slot.
template <class T>
void commit_plane_contacts(PlaneContacts& planes, const Flock<T>& flock) {
  alignas(64) double nobody[PlaneRow::state];
  int node = -1;
  std::size_t k = 0;
  for (const FlockContact<T>& c : flock.contacts) {
    k = c.node == node ? k + 1 : 0;
    node = c.node;
    double* rows[lane_count<T>];
    bool any = false;
    for (std::size_t lane = 0; lane < lane_count<T>; ++lane) {
      rows[lane] = nobody;
      if (lane >= flock.members.size() || !flock.members[lane].on_planes) continue;
      const std::span<PlanePoint> points =
          planes.points(detail::at(flock.members[lane].tree->bodies()[detail::at(node)]));
      if (k >= points.size()) continue;
      rows[lane] = &points[k].impulse.x;
      points[k].active = take(c.active, static_cast<int>(lane));
      any = true;
    }
    if (any) flock_kernels<T>().store_plane_contact(c, rows);
  }
}

// `ends`: what a joint did in the tick is booked by end_flock().
template <class T>
void commit_flock(World& world, std::vector<ContactPoint>& points, PlaneContacts& planes, const Flock<T>& flock,
                  std::span<Flocks::Judged> judged, bool ends = false) {
  alignas(64) double nobody[BodyRow::state];
  double* rows[Tree::most_flock_nodes * lane_count<T>];
  for (std::size_t i = 0; i < flock.bodies.size(); ++i) {
    for (std::size_t lane = 0; lane < lane_count<T>; ++lane) {
      const Tree* tree = lane < flock.members.size() ? flock.members[lane].tree : nullptr;
      rows[i * lane_count<T> + lane] = tree ? &world.bodies[detail::at(tree->bodies()[i])].position.x : nobody;
    }
  }
  flock_kernels<T>().store_bodies(row(flock.bodies), rows);
  commit_plane_contacts(planes, flock);
  for (std::size_t lane = 0; lane < flock.members.size(); ++lane) {
    if (!flock.members[lane].tree) continue;  // called back
    const Tree& tree = *flock.members[lane].tree;
    const int l = static_cast<int>(lane);
    for (std::size_t i = 0; i < flock.bodies.size(); ++i) {
      if (!judged.empty())
        judged[detail::at(tree.bodies()[i])] = take(flock.alarmed, l) ? Flocks::Judged::alarmed : Flocks::Judged::calm;
      if (i == 0) continue;
      const std::size_t joint = detail::at(tree.joints()[i]);
      if (ends) world.tensions[joint] = take(flock.joints[i].tension, l);
      else commit_joint(world, joint, flock.joints[i], l);
      for (std::size_t k = 0; k < detail::at(tree.shapes()[i].dofs); ++k) {
        const Drive<T>& drive = flock.drives[detail::at(tree.shapes()[i].first_dof) + k];
        world.drives[joint][k].slip = take(drive.slip, l), world.drives[joint][k].limit = take(drive.limit, l);
        world.drives[joint][k].cap = take(drive.cap, l);
      }
    }
    // The contacts of a node are in the order of its points.
    std::size_t next[Tree::most_flock_nodes] = {}, slot = 0;
    for (std::size_t i = 0; i < flock.bodies.size(); ++i) {
      next[i] = slot;
      while (slot < flock.contacts.size() && flock.contacts[slot].node == static_cast<int>(i)) ++slot;
    }
    for (int point : flock.members[lane].points) {
      ContactPoint& c = points[detail::at(point)];
      commit_contact(c, flock.contacts[next[world.bodies[detail::at(c.a)].node]++], l);
      c.arm_b = world.bodies[detail::at(c.a)].position + c.arm_a - world.bodies[detail::at(c.b)].position;
    }
  }
}

// What others see of trees that were alone on a plane, while their lanes are at hand.
template <class T>
void end_flock(World& world, const PlaneContacts& planes, Flock<T>& flock, const Flocks::EndOfTick& end) {
  static_assert(sizeof(Pose) == 7 * sizeof(double) && sizeof(Twist) == 6 * sizeof(double) &&
                sizeof(JointState) == 3 * sizeof(double) && sizeof(Wrench) == 6 * sizeof(double));
  constexpr std::size_t lanes = lane_count<T>;
  System& system = world.system;
  double nobody[8];
  double *poses[Tree::most_flock_nodes * lanes], *twists[Tree::most_flock_nodes * lanes];
  double *joints[Tree::most_flock_nodes * lanes], *loads[Tree::most_flock_nodes * lanes];
  const Tree* pattern = nullptr;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const Tree* tree = lane < flock.members.size() ? flock.members[lane].tree : nullptr;
    if (tree) pattern = tree;
    for (std::size_t i = 0; i < flock.bodies.size(); ++i) {
      const std::size_t row = i * lanes + lane;
      poses[row] = tree ? &system.poses[detail::at(tree->bodies()[i])].position.x : nobody;
      twists[row] = tree ? &system.velocities[detail::at(tree->bodies()[i])].linear.x : nobody;
      if (i == 0) continue;
      joints[row] = tree ? &system.joints[detail::at(tree->joints()[i])].position : nobody;
      loads[row] = tree ? &system.loads[detail::at(tree->joints()[i])].force.x : nobody;
    }
  }
  VOLVOX_ASSERT(pattern != nullptr && pattern->links().size() == flock.bodies.size());
  flock_kernels<T>().end_tick({row(pattern->shapes()), row(pattern->links()), row(flock.bodies), row(flock.joints)},
                              end.tick, {poses, twists, joints, loads});
  for (const FlockMember& member : flock.members) {
    if (!member.tree) continue;
    for (std::size_t i = 1; i < flock.bodies.size(); ++i) {
      const std::size_t joint = detail::at(member.tree->joints()[i]);
      system.latched[joint] = system.latches[joint].closed();
      end.joints[joint] = 1;
    }
    ContactSolver::let_sleep(world, *member.tree, planes, end.tick);
    const bool awake = world.bodies[detail::at(member.tree->bodies().front())].awake;
    for (const int body : member.tree->bodies()) {
      if (!awake) system.velocities[detail::at(body)] = world.bodies[detail::at(body)].velocity();
      end.bodies[detail::at(body)] = 1;
    }
  }
}

// Goes through what commit_flock() and end_flock() write over of a tree on planes that the next substep depends on, in
// one order to keep it and to put it back: visit(first number, how many). Bodies come first.
template <std::size_t count>
using Numbers = std::integral_constant<std::size_t, count>;
constexpr std::size_t body_before = BodyRow::state + 1;
template <class Visit>
void for_each_overwritten(World& world, PlaneContacts& planes, const Tree& tree, bool ends, const Visit& visit) {
  for (const int body : tree.bodies()) {
    visit(&world.bodies[detail::at(body)].position.x, Numbers<BodyRow::state>{});
    visit(&world.bodies[detail::at(body)].still, Numbers<1>{});
  }
  for (std::size_t i = 0; i < tree.bodies().size(); ++i) {
    for (PlanePoint& point : planes.points(detail::at(tree.bodies()[i])))
      visit(&point.impulse.x, Numbers<4>{});  // and the rebound
    if (i == 0) continue;
    const std::size_t joint = detail::at(tree.joints()[i]);
    visit(&world.system.joints[joint].position, Numbers<2>{});  // and the velocity
    visit(&world.tensions[joint], Numbers<1>{});
    if (!ends)
      visit(&world.motor_impulses[joint], Numbers<1>{}), visit(&world.load_impulses[joint].force.x, Numbers<6>{});
    for (std::size_t k = 0; k < detail::at(tree.shapes()[i].dofs); ++k)
      visit(&world.drives[joint][k].slip, Numbers<3>{});  // limit, cap
  }
}
static_assert(offsetof(PlanePoint, rebound) == 3 * sizeof(double) && sizeof(Wrench) == 6 * sizeof(double) &&
              offsetof(Drive<double>, limit) == offsetof(Drive<double>, slip) + sizeof(double) &&
              offsetof(JointState, velocity) == offsetof(JointState, position) + sizeof(double));

// Keeps what is written over next.
template <class T>
void keep_before(World& world, PlaneContacts& planes, Flock<T>& flock, std::span<const FlockMember> members,
                 bool ends) {
  // For each node a body, its contacts, a joint, its sums and three drives.
  constexpr std::size_t most_of_node = body_before + 4 * Manifold::most_kept + 3 + 7 + 3 * 3;
  const std::size_t most = most_of_node * members.front().tree->bodies().size() * lane_count<T>;
  if (flock.before.size() < most) flock.before.resize(most);
  double* to = flock.before.data();
  for (std::size_t lane = 0; lane < members.size(); ++lane) {
    flock.before_of[lane] = static_cast<std::size_t>(to - flock.before.data());
    for_each_overwritten(world, planes, *members[lane].tree, ends, [&](const double* first, auto count) {
      std::memcpy(to, first, count * sizeof(double));
      to += count;
    });
  }
}

// Puts it back.
inline void restore_before(World& world, PlaneContacts& planes, const Tree& tree, std::span<const double> before,
                           bool ends) {
  std::size_t next = 0;
  for_each_overwritten(world, planes, tree, ends, [&](double* first, auto count) {
    std::memcpy(first, before.data() + next, count * sizeof(double));
    next += count;
  });
  for (const int body : tree.bodies()) world.bodies[detail::at(body)].awake = true;
}

}  // namespace volvox::physics::native
