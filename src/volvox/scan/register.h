// Lays one cloud of a room on another: both upright, taken from different places.
#pragma once

#include <string>

#include "volvox/base/result.h"
#include "volvox/scan/cloud.h"
#include "volvox/scan/evaluate.h"

namespace volvox::scan {

struct Registration {
  Pose pose;           // takes points of the second cloud to the first one's frame
  double overlap = 0;  // part of the second cloud's points within `reach` of the first
  double rms = 0;      // of these, across the surface, m
  double reach = 0;    // m
  // Part of the walls that lie on walls which run the same way: of the second cloud, and of the first.
  double walls = 0, walls_back = 0;
  double walls_met() const { return (walls + walls_back) / 2; }
  // The next best fit, turned another way: its turn about the vertical against this one (rad), its walls_met()
  // and its overlap. A room that looks alike from two sides has one that is as good.
  double rival_turn = 0, rival_walls_met = 0, rival_overlap = 0;
  // What to say where the rival may be the right one; empty: it is worse.
  std::string doubt() const;
};

// First the turn about the vertical and the shift that lay the walls of one on those of the other
// (tried all over), then least squares from points to planes in all six directions.
// Refuses clouds whose walls do not meet: floors lie on each other whatever the rooms are.
Result<Registration> register_clouds(const Cloud& fixed, const Cloud& moving, const Progress& progress = {});

}  // namespace volvox::scan
