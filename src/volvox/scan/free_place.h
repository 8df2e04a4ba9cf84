// Finds a place in an arena where a robot can start. Metres, radians, in the frame of the mesh. Deterministic.
#pragma once

#include "volvox/base/result.h"
#include "volvox/scan/mesh.h"

namespace volvox::scan {

struct FreePlace {
  Vec3 at;
  double clearance = 0;         // m, to obstacles and to the edge of the floor
  double heading = 0, way = 0;  // the direction (rad about z) of the longest straight drive, and its length (m)
  double floor = 0, part = 0;  // the floor that is connected with the place, m2, and its part of all floor of the arena
};

// The place with the largest clearance on the largest floor that a robot can drive over: an uneven cloud gives a floor
// in pieces, and some of them are small. The floor is the most frequent height of the arena.
Result<FreePlace> free_place(const TriangleMesh& mesh);

}  // namespace volvox::scan
