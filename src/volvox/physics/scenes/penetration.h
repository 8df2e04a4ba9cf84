// Measures how deep the bodies of a scene penetrate each other and the ground, in metres, from their poses alone and
// not from the contacts that an engine reports.
// World frame. Only reads: several threads may ask at once. Deterministic.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "volvox/physics/scenes/bench_scene.h"

namespace volvox::physics::scenes {

// A sphere, box, capsule or hull as the convex hull of points, grown by a radius.
struct ConvexPart {
  std::vector<Vec3> points;  // in the link's frame
  double radius = 0;
  std::vector<Vec3> normals;  // of its faces
  std::vector<Vec3> edges;    // their directions; empty if there are too many to test all pairs
  Vec3 centre;
};

// The penetration depth of two parts: positive if they overlap, negative if not (separating axis test). It tests the
// normals of all faces and of all pairs of edges, which is exact for polyhedra. For round parts, and parts with too
// many edges, it tests directions all around and refines the best, which gives an upper bound of the depth. It stops at
// the first direction that separates them.
double overlap(const ConvexPart& a, const Pose& pose_a, const ConvexPart& b, const Pose& pose_b);

class PenetrationMeter {
 public:
  explicit PenetrationMeter(const BenchScene& scene);  // which must outlive it
  PenetrationMeter(PenetrationMeter&&) = default;      // no copies: they would point into the original

  // The largest depth, m; 0: nothing overlaps. Poses by body of the scene.
  double deepest(std::span<const Pose> poses) const;

 private:
  double below_surfaces(std::size_t body, const Pose& pose) const;

  const BenchScene& scene_;
  std::vector<const std::vector<ConvexPart>*> parts_;  // by body
  std::vector<std::pair<const model::Geometry*, std::vector<ConvexPart>>> geometries_;
  std::vector<std::pair<std::size_t, std::size_t>> joined_;  // bodies that a joint connects, sorted
};

}  // namespace volvox::physics::scenes
