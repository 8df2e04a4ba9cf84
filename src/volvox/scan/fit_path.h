// The last step of localization: the poses of all sweeps that fit one map of all sweeps and the odometry between them.
// Metres and radians; deterministic.
#pragma once

#include "volvox/scan/scan_log.h"

namespace volvox::scan {

// Moves the `pose` of all sweeps of the horizontal laser; they must be right to a few centimetres. `noise`: of a point
// across its wall, m, with what neighbours have in common.
void fit_path(ScanLog& log, double noise);

}  // namespace volvox::scan
