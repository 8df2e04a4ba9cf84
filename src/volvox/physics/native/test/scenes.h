// Scenes for the native engine's own tests.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "volvox/physics/native/native_engine.h"

namespace volvox::physics::native {

inline std::shared_ptr<const model::Geometry> geometry_of(const model::Shape& shape,
                                                          const model::Material& material = {}) {
  auto geometry = std::make_shared<model::Geometry>();
  geometry->colliders.push_back({"collider", shape, {}, material});
  return geometry;
}

inline Vec3 box_moments(double mass, const Vec3& size) {
  return Vec3{size.y * size.y + size.z * size.z, size.x * size.x + size.z * size.z, size.x * size.x + size.y * size.y} *
         (mass / 12);
}

inline BodyDesc box(double mass, const Vec3& size, const Pose& pose, const model::Material& material = {}) {
  BodyDesc desc;
  desc.mass = mass;
  desc.moments = box_moments(mass, size);
  desc.pose = pose;
  desc.geometry = geometry_of(model::Box{size}, material);
  return desc;
}

inline BodyDesc ground() {
  BodyDesc desc;
  desc.motion = Motion::fixed;
  desc.geometry = geometry_of(model::Plane{});
  return desc;
}

// The precision of engines that are not told any. All tests are run in both: the environment says in which.
inline std::optional<Precision> tried_precision() {
  const char* text = std::getenv("VOLVOX_TEST_PRECISION");
  if (text == nullptr) return {};
  return *parse_precision(text);
}

// An engine with a clock.
class Bench {
 public:
  explicit Bench(EngineSettings settings = {}) {
    if (!settings.precision) settings.precision = tried_precision();
    engine_ = make_native_engine(settings);
  }

  Engine& operator*() { return *engine_; }
  Engine* operator->() { return engine_.get(); }
  BodyId add(const BodyDesc& desc) { return *engine_->add_body(desc); }
  Pose pose(BodyId id) const { return engine_->poses()[id.index]; }
  Twist velocity(BodyId id) const { return engine_->velocities()[id.index]; }

  void set_clock(std::int64_t ticks) { ticks_ = ticks; }
  StepStatus tick() {
    const TickLength dt{1, 60};
    StepStatus status = engine_->advance(dt.start_of(ticks_), dt.start_of(ticks_ + 1));
    ++ticks_;
    return status;
  }
  void run(double seconds) {
    const int count = static_cast<int>(std::lround(seconds * 60));
    for (int i = 0; i < count; ++i) {
      const StepStatus status = tick();
      ASSERT_TRUE(status.ok()) << "body " << status.body.index << ": " << status.what;
    }
  }
  std::uint64_t hash() {
    HashArchive ar;
    engine_->archive(ar);
    return ar.value();
  }

 private:
  std::unique_ptr<Engine> engine_;
  std::int64_t ticks_ = 0;
};

// A joint at a point of the world, its z along `axis`, between bodies that stand as described.
inline JointDesc joint_at(JointType type, BodyId a, const Pose& pose_a, BodyId b, const Pose& pose_b, const Vec3& point,
                          const Vec3& axis = {0, 0, 1}) {
  JointDesc joint;
  joint.type = type;
  joint.a = a, joint.b = b;
  const Pose frame{point, Quat::between({0, 0, 1}, axis)};
  joint.frame_a = a.valid() ? pose_a.inverse() * frame : frame;
  joint.frame_b = pose_b.inverse() * frame;
  return joint;
}

// How far the two frames of a joint are apart, in m and rad (of a hinge: the tilt of its axis).
struct JointError {
  double gap = 0, tilt = 0;
};
inline JointError joint_error(Bench& bench, const JointDesc& joint) {
  const Pose a = joint.a.valid() ? bench.pose(joint.a) * joint.frame_a : joint.frame_a,
             b = bench.pose(joint.b) * joint.frame_b;
  const Vec3 x = a.rotation * Vec3{0, 0, 1}, y = b.rotation * Vec3{0, 0, 1};
  const bool hinge = joint.type == JointType::revolute;
  return {length(a.position - b.position),
          hinge ? volvox::atan2(length(cross(x, y)), dot(x, y)) : angle(a.rotation.conjugate() * b.rotation)};
}

}  // namespace volvox::physics::native
