// report.html: what a run came to, for people. One file: plots are SVG inside of it, pictures of the
// folder are taken in, and nothing is asked of a network.
#pragma once

#include <filesystem>
#include <string>

#include "volvox/sim/run_report.h"

namespace volvox::report {

// Pictures (PNG, JPEG, SVG) that lie in the folder are shown too, in the order of their names.
std::string report_html(const sim::RunReport& report, const std::filesystem::path& folder);

}  // namespace volvox::report
