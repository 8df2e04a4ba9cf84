// `volvox bench robots`: lone robots by the thousand, on the processor and on a GPU.
// One thread calls it; the state hash is the same at any number of threads and on every device, the times are not.
#pragma once

#include "volvox/cli/bench_scenes.h"

namespace CLI {
class App;
}

namespace volvox::cli {

struct BenchRobotsArguments : BenchScenesArguments {
  BenchRobotsArguments() { scenes = "superbot"; }
  std::string device = "cpu";
  int ticks = 60;
};
void add_bench_robots(CLI::App& bench, BenchRobotsArguments& arguments);
int bench_robots_command(const BenchRobotsArguments& arguments, Log& log);

}  // namespace volvox::cli
