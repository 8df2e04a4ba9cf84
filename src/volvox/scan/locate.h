// Localization: the path of the robot from the horizontal laser and the odometry. Each sweep is matched with the
// map of all earlier sweeps, so that errors do not accumulate within one room. Metres; deterministic.
#pragma once

#include "volvox/scan/evaluate.h"
#include "volvox/scan/scan_log.h"

namespace volvox::scan {

// The log with the corrected `pose` of every sweep. Fails for a log without forward sweeps.
Result<ScanLog> locate(const ScanLog& log, const Progress& progress = {});

}  // namespace volvox::scan
