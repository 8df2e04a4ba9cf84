// Where a robot can be put into an arena.
#pragma once

#include "volvox/base/result.h"
#include "volvox/scan/mesh.h"

namespace volvox::scan {

struct FreePlace {
  Vec3 at;
  double clearance = 0;         // m, to anything else and to where there is no floor
  double heading = 0, way = 0;  // rad about z and m: where a robot can drive farthest, straight on
};

// The place on the floor (the level that most of the arena has) that is farthest from anything else.
Result<FreePlace> free_place(const TriangleMesh& mesh);

}  // namespace volvox::scan
