// `volvox bench view`: frames that are simulated and drawn together.
// For the thread of main, which draws, too. What it prints are times of this machine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "volvox/cli/commands.h"

namespace CLI {
class App;
}

namespace volvox::cli {

struct BenchViewArguments {
  std::vector<std::string> scenes;  // experiments; empty: those of figure 1 of the ReMod3D paper
  std::string size = "1280x720", dt = "1/60";
  int frames = 120, modules = 1000;  // modules: of the scenes with 1000
  std::optional<int> threads;        // that simulate, and that draw; none: one, and one for each processor
  bool json = false;
};
// Frames a second of an experiment with these settings, simulated and drawn together at 1280 x 720, ticks of 1/60 s.
Result<double> drawn_per_second(const std::string& experiment, const std::map<std::string, std::string>& set,
                                sim::Library& library, Log& log);
void add_bench_view(CLI::App& bench, BenchViewArguments& arguments);
int bench_view_command(const BenchViewArguments& arguments, sim::Library& library, Log& log);

}  // namespace volvox::cli
