// Random arenas with known surfaces: the ground truth for the evaluation of reconstructions. A rectangular
// room without a ceiling, with a pit in its floor and boxes on it, at random yaw angles. A lane along the walls
// stays free for a robot. Metres and radians, z up; the same seed gives the same bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/scan/cloud.h"
#include "volvox/scan/known_object.h"
#include "volvox/scan/mesh.h"
#include "volvox/scan/polygon.h"

namespace volvox::scan {

struct ArenaOptions {
  std::uint64_t seed = 1;
  double length = 4, width = 3, height = 0.6;  // of the room, m
  bool pit = true;
  int boxes = 3;
};

// The outline of a box or of the pit on the floor.
struct Footprint {
  Vec2 center, half;  // half: half the edge lengths
  double yaw = 0;
  double height = 0;                  // of the box; negative for the pit: its depth
  std::vector<Vec2> corners() const;  // counter-clockwise
};

struct PlacedObject {
  std::size_t object = 0;  // of the library
  Pose pose;
};

struct Arena {
  ArenaOptions options;
  std::vector<Footprint> things;
  std::vector<PlacedObject> objects;
  TriangleMesh
      mesh;  // closed except for the open top; faces the inside of the room; the origin is the centre of the floor
};
// `objects`: known things (known_object.h), each of which stands once on the floor, at random and turned at random;
// the other things stand as they would without them.
Result<Arena> make_arena(const ArenaOptions& options, std::span<const KnownObject> objects = {});

struct SampleOptions {
  std::uint64_t seed = 1;
  std::size_t points = 98'000, outliers = 2'000;
  double noise = 0.007;  // standard deviation along each axis, m
};
// Points drawn uniformly from a surface, with noise, and outliers anywhere in its bounding box: the scan of an
// ideal scanner without occlusion.
Cloud sample_cloud(const TriangleMesh& mesh, const SampleOptions& options);

}  // namespace volvox::scan
