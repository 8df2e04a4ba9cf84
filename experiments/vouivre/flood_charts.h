// How a flood is shown: the number of coloured catoms over time, and the board itself.
#pragma once

#include <string>
#include <vector>

#include "flood_run.h"
#include "volvox/report/chart.h"

namespace volvox::experiments::vouivre {

// The number of coloured catoms against time (s), of one flood.
std::vector<report::Point> steps(const FloodResult& result);
// Curves of coloured catoms over time, up to all of them.
report::Chart flood_chart(const std::string& title, std::size_t catoms, std::vector<report::Curve> curves);
// Figure 10: the board in as many phases, coloured by the last re-transmitter.
report::BoardChart board_chart(const Plan& plan, const FloodResult& result, int phases);

}  // namespace volvox::experiments::vouivre
