// A body as the solver sees it: the pose of its centre of mass and principal axes.
// SI units, world frame. The simulator owns all bodies in one array; within a phase one thread writes a body.
#pragma once

#include <cstddef>

#include "volvox/physics/native/spatial.h"
#include "volvox/physics/system.h"

namespace volvox::physics::native {

struct alignas(64) Body {
  // The state. Velocities are those that moved the body to where it is; the spin (angular
  // momentum about the centre of mass) is what turning freely conserves, so it is kept, and
  // the angular velocity follows from it (docs/decisions/0010). It fills two lines of the cache, and what else flocks
  // ask for (BodyRow) a third.
  Vec3 position;
  Quat rotation;
  Vec3 angular, linear, spin;

  Vec3 weight;        // mass times gravity
  Vec3 axle;          // of its shape, see Shape
  double swing = 0;   // the same
  double shaped = 0;  // 1 where it has a shape

  bool awake = true;
  bool dynamic = false;
  bool quiet = false;       // see BodyDesc; here because every detection asks
  std::uint32_t owner = 0;  // the same
  double still = 0;         // s; how long it has hardly moved

  int island = -1, node = -1;  // which tree or loop it belongs to, and where
  int cluster = -1;            // the lowest body that it is rigidly joined to, through whatever others

  // Of the current substep.
  M3<double> axes;       // rotation as a matrix
  int touches = 0;       // contacts that take part
  bool carried = false;  // one of them has an impulse from the last substep
  bool held = false;     // one of them pushed it in this substep, and not by a bounce, or nearly did
  // From here on there is what a robot that is alone does not ask for in a tick.
  double borne = 1;      // the mass of its island for each kg of it that touches anything
  Spatial<double> push;  // sum of its contacts' impulses, at the centre of mass

  // The description.
  double mass = 0;
  Vec3 moments;
  Pose from_link;  // of the principal frame, in the link's

  void place(const Pose& link, const Twist& velocity) {
    position = link * from_link.position;
    rotation = normalized(link.rotation * from_link.rotation);
    linear = velocity.linear;
    angular = velocity.angular;
    spin = rotation * multiply(moments, rotation.conjugate() * angular);
  }
  Pose link_pose() const { return link_pose(position, rotation, from_link); }
  VOLVOX_ALSO_ON_GPU static Pose link_pose(const Vec3& position, const Quat& rotation, const Pose& from_link) {
    const Quat turn = rotation * from_link.rotation.conjugate();
    return {position - turn * from_link.position, turn};
  }
  // The velocity with which the body goes on from here: the spin in its present attitude.
  Twist velocity() const {
    if (!dynamic) return {linear, angular};
    return {linear, turning(rotation, spin, moments)};
  }
  VOLVOX_ALSO_ON_GPU static Vec3 turning(const Quat& rotation, const Vec3& spin, const Vec3& moments) {
    const Vec3 m = rotation.conjugate() * spin;
    return rotation * Vec3{m.x / moments.x, m.y / moments.y, m.z / moments.z};
  }
  Vec3 velocity_at(const Vec3& arm) const { return linear + cross(angular, arm); }
};
static_assert(sizeof(Body) == 7 * 64 && offsetof(Body, borne) <= 5 * 64, "five lines of the cache for lone robots");

}  // namespace volvox::physics::native
