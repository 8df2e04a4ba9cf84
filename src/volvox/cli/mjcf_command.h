// `volvox export ROBOT|EXPERIMENT|FILE --mjcf FILE`: for MuJoCo.
// For the thread of main. The same files give the same bytes.
#pragma once

#include <string>
#include <vector>

#include "volvox/base/log.h"
#include "volvox/sim/experiment.h"

namespace volvox::cli {

// Returns the exit status. What MJCF cannot say is named on standard error.
int export_mjcf_command(const std::string& thing, const std::string& file, const std::vector<std::string>& set,
                        sim::Library& library, Log& log);

}  // namespace volvox::cli
