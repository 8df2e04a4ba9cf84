// report.html: the results of a run for human readers, in one self-contained file: plots are inline SVG, pictures of
// the folder are embedded, and no network is needed.
// Reads the pictures of the folder and writes nothing. No state; any thread may call it.
#pragma once

#include <filesystem>
#include <string>

#include "volvox/sim/run_report.h"

namespace volvox::report {

// Shows the pictures (PNG, JPEG, SVG) of the folder, too, in the order of their names.
std::string report_html(const sim::RunReport& report, const std::filesystem::path& folder);

}  // namespace volvox::report
