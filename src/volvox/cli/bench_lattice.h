// `volvox bench lattice`: catoms by the million.
// For the thread of main. What it prints are times of this machine.
#pragma once

#include "volvox/cli/bench_scenes.h"

namespace CLI {
class App;
}

namespace volvox::cli {

struct BenchLatticeArguments : BenchScenesArguments {
  BenchLatticeArguments() { scenes = "flood"; }
  std::uint64_t seed = 1;
};
void add_bench_lattice(CLI::App& bench, BenchLatticeArguments& arguments);
int bench_lattice_command(const BenchLatticeArguments& arguments, Log& log);

}  // namespace volvox::cli
