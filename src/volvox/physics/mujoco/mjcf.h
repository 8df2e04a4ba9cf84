// A system as MuJoCo's XML. Body frames are the principal frames, so that a free body's velocity
// is that of its centre of mass; names carry our indices.
// Pure functions: the same system gives the same text. SI units.
#pragma once

#include <string>

#include "volvox/physics/mujoco/forest.h"

namespace volvox::physics::mujoco {

// A kinematic body is a free body in MuJoCo, so heavy that nothing can push it.
constexpr double kinematic_mass = 1e6;  // kg

// MuJoCo's frame of a body, in the link's frame.
Pose body_frame(const BodyDesc& desc);
// The pose of a body's frame in its parent's when their joint stands at zero (in the world, for roots
// without a joint, where it is now).
Pose rest_pose(const System& system, const Forest& forest, std::size_t body);

// With room for so many contacts.
std::string write_mjcf(const System& system, const Forest& forest, std::uint64_t contacts);

inline std::string body_name(std::size_t body) { return "b" + std::to_string(body); }
inline std::string joint_name(std::size_t joint) { return "j" + std::to_string(joint); }
inline std::string equality_name(std::size_t joint, int part) {
  return "e" + std::to_string(joint) + "_" + std::to_string(part);
}
inline std::string geom_name(std::size_t body, std::size_t collider) {
  return "g" + std::to_string(body) + "_" + std::to_string(collider);
}
inline std::string field_name(std::size_t body, std::size_t collider) {
  return "f" + std::to_string(body) + "_" + std::to_string(collider);
}

}  // namespace volvox::physics::mujoco
