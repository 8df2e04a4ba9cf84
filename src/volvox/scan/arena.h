// Arenas drawn by chance, whose every surface is known: the truth that reconstructions are measured
// against. A rectangular room without a ceiling, with a pit in its floor and boxes on it, all turned
// at random. A lane along the walls stays free for a robot to drive.
#pragma once

#include <cstdint>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/scan/cloud.h"
#include "volvox/scan/mesh.h"
#include "volvox/scan/polygon.h"

namespace volvox::scan {

struct ArenaOptions {
  std::uint64_t seed = 1;
  double length = 4, width = 3, height = 0.6;  // of the room, m
  bool pit = true;
  int boxes = 3;
};

// The foot of a box, or the rim of the pit.
struct Footprint {
  Vec2 center, half;  // half the edge lengths
  double yaw = 0;
  double height = 0;                  // of the box; negative: the depth of the pit
  std::vector<Vec2> corners() const;  // counter-clockwise
};

struct Arena {
  ArenaOptions options;
  std::vector<Footprint> things;
  TriangleMesh mesh;  // closed but for the open top; fronts into the room; the origin is the floor's middle
};
Result<Arena> make_arena(const ArenaOptions& options);

struct SampleOptions {
  std::uint64_t seed = 1;
  std::size_t points = 98'000, outliers = 2'000;
  double noise = 0.007;  // deviation along each axis, m
};
// Points evenly drawn over a surface, with noise, and outliers anywhere in its bounds: what a scanner
// without blind spots would see.
Cloud sample_cloud(const TriangleMesh& mesh, const SampleOptions& options);

}  // namespace volvox::scan
