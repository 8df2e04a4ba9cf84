// Where the robot was: its path from the horizontal laser and the odometry. Each sweep is laid on the
// map that the sweeps before it have left, so that in one room errors do not add up.
#pragma once

#include "volvox/scan/evaluate.h"
#include "volvox/scan/scan_log.h"

namespace volvox::scan {

// The log with `pose` of every sweep corrected. Refuses a log without forward sweeps.
Result<ScanLog> locate(const ScanLog& log, const Progress& progress = {});

}  // namespace volvox::scan
