// Catoms in dynamics that hold on and roll by magnets alone. Each has a ring of features: poles that are north, south
// or off (docs/magnets.md has the law of their forces; robots/planar_catom is such a catom). Two catoms that touch hold
// each other by the features that face each other. A catom rolls about another as a stepper motor turns: both switch
// gradually from one feature to the next, and all other catoms release the one that rolls. SI units, in the plane
// z = 0; one thread; the same calls give the same bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/physics/engine.h"

namespace volvox::mixed {

struct RingOptions {
  int features = 12;
  double radius = 0.018;    // m, where the poles lie
  double strength = 62;     // A m
  double size = 0.001;      // m
  double range = 0.06;      // m
  double roll = 1;          // part of the full strength that rolls a catom; other pairs hold with the full strength
  double step_time = 0.25;  // s, from one feature to the next
  double settle = 0.1;      // s, after the last step, before others are held again
};

// A catom that rolls about another, its pivot.
struct Rolling {
  std::uint32_t catom = 0, pivot = 0;
  std::int8_t turn = 1;                // 1: counter-clockwise
  std::int32_t own = 0, of_pivot = 0;  // the features that faced each other when it began
  double time = 0;                     // s, since then
  template <class A>
  void archive(A& ar) {
    ar("catom", catom), ar("pivot", pivot), ar("turn", turn), ar("own", own), ar("of pivot", of_pivot),
        ar("time", time);
  }
};

class Rings {
 public:
  explicit Rings(const RingOptions& options) : options_(options) {}

  const RingOptions& options() const { return options_; }
  double roll_time(int steps) const { return steps * options_.step_time + options_.settle; }
  // The feature of a catom that faces a direction of the world.
  std::int32_t facing(const Pose& catom, const Vec3& direction) const;

  // The poles that are on, anew in every tick.
  void clear() { poles_.clear(); }
  void hold(physics::BodyId a, const Pose& pose_a, physics::BodyId b, const Pose& pose_b);
  void roll(const Rolling& rolling, int steps, physics::BodyId own, physics::BodyId pivot);
  // Adds the forces between all poles of different bodies to those of the next advance.
  void pull(physics::Engine& engine) const;

 private:
  struct Pole {
    physics::BodyId body;
    Vec3 at;              // in the frame of the body
    double strength = 0;  // A m, with its sign
  };
  void add(physics::BodyId body, std::int32_t feature, double pole);

  RingOptions options_;
  std::vector<Pole> poles_;
};

}  // namespace volvox::mixed
