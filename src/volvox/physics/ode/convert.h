// Conversions between our types and ODE's arrays.
// The same numbers on both sides. For the thread that steps the world.
#pragma once

#include <ode/ode.h>

#include "volvox/base/math.h"

namespace volvox::physics::ode {

static_assert(sizeof(dReal) == sizeof(double), "Volvox needs ODE in double precision");

inline Vec3 from_ode(const dReal* v) { return {v[0], v[1], v[2]}; }
inline Quat quat_from_ode(const dReal* q) { return {q[0], q[1], q[2], q[3]}; }
inline Pose pose_of(dBodyID body) {
  return {from_ode(dBodyGetPosition(body)), quat_from_ode(dBodyGetQuaternion(body))};
}
inline void place(dBodyID body, const Pose& pose) {
  const dQuaternion q{pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z};
  dBodySetPosition(body, pose.position.x, pose.position.y, pose.position.z);
  dBodySetQuaternion(body, q);
}
// For a geom without a body.
inline void place(dGeomID geom, const Pose& pose) {
  const dQuaternion q{pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z};
  dGeomSetPosition(geom, pose.position.x, pose.position.y, pose.position.z);
  dGeomSetQuaternion(geom, q);
}
inline Pose pose_of(dGeomID geom) {
  dQuaternion q;
  dGeomGetQuaternion(geom, q);
  return {from_ode(dGeomGetPosition(geom)), quat_from_ode(q)};
}

}  // namespace volvox::physics::ode
