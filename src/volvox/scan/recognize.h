// Finds known objects in a cloud: which, where and how they are turned about the vertical. An object stands upright, as
// its file has it, on the floor, on something else or at a wall.
//
// Every place where a point of the cloud may be a chosen point of the object, with the same direction of the surface,
// is tried; what fits roughly is fitted by iterated closest points and then judged: its surface must be there, and
// where it ends the surface of the cloud must end, too, so that a larger box is not taken for a smaller one, nor a
// smaller one for a larger. Metres, radians. Deterministic: no chance in it; one thread.
#pragma once

#include <span>
#include <vector>

#include "volvox/scan/cloud.h"
#include "volvox/scan/known_object.h"
#include "volvox/scan/planes.h"

namespace volvox::scan {

struct FoundObject {
  std::size_t object = 0;  // of the library
  Pose pose;
  double covered = 0;      // part of its visible surface that the cloud shows
  double rms = 0;          // of the points from its surface, m
  std::size_t points = 0;  // that lie on it
};

// `cloud`: the result of prepare(); `planes`: those of the cloud.
std::vector<FoundObject> find_objects(const Cloud& cloud, const PlaneSet& planes, std::span<const KnownObject> library);

// The cloud without the points on the objects, and with what they stand on carried on underneath, so that a floor has
// no gap around their feet.
Cloud without_objects(const Cloud& cloud, const PlaneSet& planes, std::span<const KnownObject> library,
                      std::span<const FoundObject> found);

// How far two poses of one object are apart: m, and rad by the shorter way and its symmetry.
struct PoseError {
  double distance = 0, turn = 0;
};
PoseError pose_error(const KnownObject& object, const Pose& a, const Pose& b);

}  // namespace volvox::scan
