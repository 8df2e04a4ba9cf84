// `volvox bench lattice`: catoms by the million.
#pragma once

#include <cstdint>
#include <string>

#include "volvox/base/log.h"

namespace CLI {
class App;
}

namespace volvox::cli {

struct BenchLatticeArguments {
  std::string scenes = "flood", n, threads = "1";
  std::uint64_t seed = 1;
  bool json = false, list = false;
};
void add_bench_lattice(CLI::App& bench, BenchLatticeArguments& arguments);
int bench_lattice_command(const BenchLatticeArguments& arguments, Log& log);

}  // namespace volvox::cli
