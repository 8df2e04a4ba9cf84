// How deep bodies of a scene lie in each other and in the ground, from their poses alone: what an
// engine says of its own contacts plays no part.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "volvox/physics/scenes/bench_scene.h"

namespace volvox::physics::scenes {

// A sphere, box, capsule or hull as the points that it is the convex hull of, grown by a radius.
struct ConvexPart {
  std::vector<Vec3> points;  // in the link's frame
  double radius = 0;
  std::vector<Vec3> normals;  // of its faces
  std::vector<Vec3> edges;    // their directions; none where there are too many to try all pairs
  Vec3 centre;
};

// The shortest way out of each other: positive where two parts overlap, negative where they do
// not. Tries the normals of all faces and of all pairs of edges, which is exact for polyhedra; for
// round parts, and those with more edges than can be tried, directions all around, the best of
// them refined, so that the true depth is never more. Stops at the first that parts them.
double overlap(const ConvexPart& a, const Pose& pose_a, const ConvexPart& b, const Pose& pose_b);

class PenetrationMeter {
 public:
  explicit PenetrationMeter(const BenchScene& scene);  // which must outlive it
  PenetrationMeter(PenetrationMeter&&) = default;      // a copy would point into what it was copied from

  // m, the deepest of all; 0 where nothing overlaps. Poses by body of the scene.
  double deepest(std::span<const Pose> poses) const;

 private:
  double below_surfaces(std::size_t body, const Pose& pose) const;

  const BenchScene& scene_;
  std::vector<const std::vector<ConvexPart>*> parts_;  // by body
  std::vector<std::pair<const model::Geometry*, std::vector<ConvexPart>>> geometries_;
  std::vector<std::pair<std::size_t, std::size_t>> joined_;  // bodies that a joint connects, sorted
};

}  // namespace volvox::physics::scenes
