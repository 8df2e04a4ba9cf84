// Localization: the path of the robot from the horizontal laser and the odometry. Every sweep is matched with the walls
// that the sweeps before it saw; the odometry is a prior of the match and alone decides in directions that the walls do
// not determine (along a corridor). Where the robot comes back to a place, the loop is closed in a pose graph. At the
// end all sweeps are laid on one map. Metres; deterministic, on the calling thread.
#pragma once

#include <string>
#include <vector>

#include "volvox/scan/evaluate.h"
#include "volvox/scan/scan_log.h"

namespace volvox::scan {

struct Located {
  ScanLog log;                // with the corrected `pose` of every sweep
  std::size_t keyframes = 0;  // sweeps from which the map was made
  std::size_t loops = 0;      // places that were recognized
  double matched = 0;         // part of the way on which walls were matched
  double determined = 0;      // part of the way on which the walls determine position and heading
  // The number of cells of 10 cm that the map fills, by the odometry and by the located path: a blurred map fills more.
  std::size_t cells_by_odometry = 0, cells = 0;
  std::vector<std::string> doubts;  // why the result may be wrong; empty if nothing speaks against it
};

// Fails for a log without forward sweeps.
Result<Located> locate(const ScanLog& log, const Progress& progress = {});

// The number of cells of 10 cm that the points of the horizontal laser fill.
std::size_t map_cells(const ScanLog& log, bool by_odometry);

// How far a path is from another one, over pairs of sweeps: the deviation of the motion from one to the other. Nothing
// is assumed about the frames of the paths.
struct PathError {
  double position = 0, heading = 0;  // mean over all pairs, m and rad
  std::size_t pairs = 0;
};
// Pairs of successive sweeps that are about `apart` metres of way apart (0: successive sweeps).
PathError relative_error(const std::vector<Pose2>& path, const std::vector<Pose2>& truth, double apart);

}  // namespace volvox::scan
