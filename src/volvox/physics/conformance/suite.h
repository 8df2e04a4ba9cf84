// The conformance suite: scenes with a known result, for every engine in the registry, through the interface only. An
// engine without motion (EngineInfo::moves) skips the scenes about motion, and an engine skips the scenes about
// features that it lacks (EngineInfo::cannot); a scene that is skipped for another reason counts as a failure.
// SI units, frames as in engine.h. A test owns its engine, and runs in one thread.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "volvox/physics/conformance/tolerances.h"
#include "volvox/physics/engine.h"

namespace volvox::physics::conformance {

// A body of one collider, with the mass properties of a solid of its shape.
struct Solid {
  model::Shape shape;
  double mass = 1;
  Pose pose{};
  Twist velocity{};
  Motion motion = Motion::dynamic;
  model::Material material{};
  std::uint32_t owner = 0;
};

class Conformance : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { make_engine({}); }
  void TearDown() override;

  void make_engine(const EngineSettings& settings);
  static std::unique_ptr<Engine> new_engine(const EngineSettings& settings);
  Engine& engine() { return *engine_; }
  bool moves() const { return engine_->info().moves; }
  bool can(const std::string& what) const;
  void leave_out() { left_out_ = true; }
  double tolerance(std::string_view name) const { return conformance::tolerance(GetParam(), name); }

  BodyId add(const Solid& solid);
  BodyId add(const BodyDesc& desc);
  BodyId add_ground(double friction = 0.7, double restitution = 0, const Pose& pose = {});
  static BodyDesc describe(const Solid& solid);

  // Runs whole ticks; after each, calls `each` (if given) with the time since run().
  void run(double seconds, const std::function<void(double)>& each = {}, const TickLength& dt = {1, 60});
  StepStatus tick(const TickLength& dt = {1, 60});  // all of an engine's ticks are of one length

  Pose pose(BodyId id) const { return engine_->poses()[id.index]; }
  Twist velocity(BodyId id) const { return engine_->velocities()[id.index]; }
  JointState joint(JointId id) const { return engine_->joints()[id.index]; }
  Wrench load(JointId id) const { return engine_->loads()[id.index]; }
  Vec3 centre(BodyId id) const { return pose(id) * desc(id).inertial.position; }
  const BodyDesc& desc(BodyId id) const { return descs_.at(id.index); }

  struct Totals {
    Vec3 momentum, angular;  // angular about the world's origin
    double kinetic = 0;
    double scale = 0;  // sum of the magnitudes of the bodies' momenta
    double angular_scale = 0;
  };
  Totals totals(const std::vector<BodyId>& bodies) const;
  // The pose of frame_b in frame_a.
  Pose relative(const JointDesc& joint) const;
  std::uint64_t hash() const;

  static constexpr double g = 9.81;
  static constexpr double substep = 1.0 / 240;

 private:
  std::unique_ptr<Engine> engine_;
  bool left_out_ = false;  // because of EngineInfo::cannot
  std::vector<BodyDesc> descs_;
  std::int64_t ticks_ = 0;
};

// Every engine of the registry, so that a new one takes part as soon as it is registered; one that computes in several
// precisions in each of them, as native_mixed.
std::vector<std::string> engines_to_try();
#define VOLVOX_FOR_EVERY_ENGINE(Fixture)                                          \
  INSTANTIATE_TEST_SUITE_P(Engines, Fixture, testing::ValuesIn(engines_to_try()), \
                           [](const auto& engine) { return engine.param; })

// First line of a scene about motion.
#define VOLVOX_NEEDS_MOTION() \
  if (!moves()) GTEST_SKIP() << "engine " << GetParam() << ": " << engine().info().limits

// First line of a scene about a feature that some engines lack.
#define VOLVOX_NEEDS(what)                                              \
  if (!can(what)) {                                                     \
    leave_out();                                                        \
    GTEST_SKIP() << "engine " << GetParam() << " cannot do " << (what); \
  }

// The moments of inertia of a solid of uniform density.
Vec3 solid_moments(const model::Shape& shape, double mass);
model::Hull make_hull(std::vector<Vec3> points);
// The eight corners of a box, as a hull.
model::Hull box_hull(const Vec3& size);

}  // namespace volvox::physics::conformance
