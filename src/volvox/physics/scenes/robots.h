// The robots of the scenes: SuperBots of four bodies and three joints, ATRONs of two hemispheres, and plain boxes and
// spheres.
// SI units, world frame. Functions change only the scene that they are given, which one thread builds; the same calls
// give the same bodies.
#pragma once

#include "volvox/physics/scenes/bench_scene.h"

namespace volvox::physics::scenes {

inline constexpr double superbot_length = 0.168;
inline constexpr double superbot_width = 0.084;  // m; its two halves are cubes of this size

// Links whose geometry is shared by all modules of a scene.
struct RobotParts {
  explicit RobotParts(double friction);
  std::vector<std::shared_ptr<const model::Geometry>> superbot;  // 4
  std::vector<std::shared_ptr<const model::Geometry>> atron;     // 2
};

// Each returns the index of its first body. A SuperBot lies along the x axis of its pose.
std::size_t add_superbot(BenchScene& scene, const RobotParts& parts, const Pose& pose, int module);
std::size_t add_atron(BenchScene& scene, const RobotParts& parts, const Pose& pose, int module);

// A body of one shape and uniform density.
std::size_t add_solid(BenchScene& scene, std::shared_ptr<const model::Geometry> geometry, const Pose& pose,
                      double mass);
void add_fixed(BenchScene& scene, const model::Shape& shape, const Pose& pose);

// A dock at a point of the world, closed at the current poses of the bodies.
void add_dock(BenchScene& scene, std::size_t a, std::size_t b, const Vec3& point, const Vec3& axis, int module);

std::shared_ptr<const model::Geometry> geometry_of(model::Shape shape, const model::Material& material);

}  // namespace volvox::physics::scenes
