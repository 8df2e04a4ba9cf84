// A point where two bodies touch or may touch soon.
// SI units, world frame unless a name says otherwise. Plain values; the simulator owns them, and they are part of its
// state.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "volvox/physics/native/body.h"

namespace volvox::physics::native {

// Up to three corners of one polyhedron, each with one of another: where a search for their distance ended, and where
// the next one starts.
struct SimplexCorners {
  static constexpr std::uint32_t none = 0xffffffff;
  std::array<std::uint32_t, 3> pairs{none, none, none};  // the first's | the second's << 16

  bool has(int k) const { return pairs[static_cast<std::size_t>(k)] != none; }
  int a(int k) const { return static_cast<int>(pairs[static_cast<std::size_t>(k)] & 0xffff); }
  int b(int k) const { return static_cast<int>(pairs[static_cast<std::size_t>(k)] >> 16); }
  void set(int k, int a, int b) {
    pairs[static_cast<std::size_t>(k)] =
        a < 0 ? none : static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b) << 16;
  }
  // Of polyhedra with so many points: what a damaged snapshot says beyond them.
  void forget_beyond(std::size_t points_a, std::size_t points_b) {
    for (std::uint32_t& pair : pairs) {
      if ((pair & 0xffff) >= points_a || pair >> 16 >= points_b) pair = none;
    }
  }
};

struct ContactPoint {
  // Found by detection. Points lie in the bodies' principal frames, on their cores; `radius` is
  // by how much the two cores are rounded together, `radius_a` the part of it that is a's.
  int a = -1, b = -1;         // body indices; a moves freely, b may not
  std::uint64_t feature = 0;  // tells the points of a pair apart, from one detection to the next
  Vec3 on_a, on_b;
  double radius = 0, radius_a = 0;
  // A point of a wheel does not turn with it: it is `rim` away from `on_a`, which lies on the
  // axle, in the direction `outward` (in b's frame), or what of it is square to the axle.
  double rim = 0;
  Vec3 outward;
  enum class NormalOf : std::uint8_t { a, b, centres } normal_of = NormalOf::b;
  Vec3 normal;  // from b to a, in the frame of the body that it is fixed to
  double friction = 0, restitution = 0;
  SimplexCorners corners;  // of two polyhedra

  // What the solver gave, in world axes: the next substep starts from it.
  Vec3 impulse;
  // Positive: it was reached in the last substep, too late in it to leave again; the speed to leave with now.
  // Negative: it bounced in the last substep, and that impulse says nothing about the next.
  double rebound = 0;

  // Of the current substep.
  bool active = false;
  double separation = 0;
  double approach = 0;  // the normal speed before the substep
  double target = 0;    // the normal speed to reach at least
  bool bounces = false;
  bool powerless = false;  // whatever it pushes with, a motor that is too stiff does not give way
  double next_rebound = 0;
  Vec3 frame[3];      // normal and two tangents
  Vec3 arm_a, arm_b;  // from the centres of mass

  template <class Archive>
  void archive(Archive& ar) {
    ar("a", a), ar("b", b), ar("feature", feature), ar("on_a", on_a), ar("on_b", on_b);
    ar("radius", radius), ar("radius_a", radius_a), ar("rim", rim), ar("outward", outward), ar("normal_of", normal_of),
        ar("normal", normal);
    ar("friction", friction), ar("restitution", restitution), ar("impulse", impulse), ar("rebound", rebound);
    ar("active", active), ar("separation", separation), ar("arm_a", arm_a), ar("arm_b", arm_b);
    for (Vec3& axis : frame) ar("frame", axis);
    for (std::uint32_t& pair : corners.pairs) ar("corners", pair);
  }
};

}  // namespace volvox::physics::native
