// Registers two upright scans of one room that were taken from different places. Metres, radians; deterministic.
#pragma once

#include <string>

#include "volvox/base/result.h"
#include "volvox/scan/cloud.h"
#include "volvox/scan/evaluate.h"

namespace volvox::scan {

struct Registration {
  Pose pose;           // transforms points of the second cloud into the frame of the first
  double overlap = 0;  // fraction of the points of the second cloud within `reach` of the first
  double rms = 0;      // of their distances perpendicular to the surface, m
  double reach = 0;    // m
  // Fraction of the walls of the second cloud (`walls_back`: of the first) that lie on parallel walls of the other.
  double walls = 0, walls_back = 0;
  double walls_met() const { return (walls + walls_back) / 2; }
  // The second best fit with another yaw: its yaw relative to this one (rad), its walls_met() and its overlap. In a
  // symmetric room it is as good as the best.
  double rival_turn = 0, rival_walls_met = 0, rival_overlap = 0;
  // A warning if the second best fit is nearly as good; otherwise empty.
  std::string doubt() const;
};

// First an exhaustive search for the yaw and the translation that align the walls, then point-to-plane ICP with six
// degrees of freedom. Fails if too few walls match: floors match for any pair of rooms, so they do not count.
Result<Registration> register_clouds(const Cloud& fixed, const Cloud& moving, const Progress& progress = {});

}  // namespace volvox::scan
