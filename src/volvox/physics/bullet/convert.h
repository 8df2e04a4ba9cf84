// Conversions between our vectors and Bullet's.
// Pure functions; the same numbers on both sides.
#pragma once

#include <LinearMath/btTransform.h>

#include "volvox/base/math.h"

namespace volvox::physics::bullet {

inline btVector3 to_bullet(const Vec3& v) { return {v.x, v.y, v.z}; }
inline Vec3 from_bullet(const btVector3& v) { return {v.x(), v.y(), v.z()}; }
inline btQuaternion to_bullet(const Quat& q) { return {q.x, q.y, q.z, q.w}; }
inline Quat from_bullet(const btQuaternion& q) { return {q.w(), q.x(), q.y(), q.z()}; }
inline btTransform to_bullet(const Pose& p) { return btTransform(to_bullet(p.rotation), to_bullet(p.position)); }
inline Pose from_bullet(const btTransform& t) { return {from_bullet(t.getOrigin()), from_bullet(t.getRotation())}; }

}  // namespace volvox::physics::bullet
