// `volvox bench particles`: water, rubble and cloth.
#pragma once

#include <string>

#include "volvox/base/log.h"

namespace CLI {
class App;
}

namespace volvox::cli {

struct BenchParticlesArguments {
  std::string scenes = "fluid,debris,cloth", n, threads = "1", device = "cpu";
  int frames = 0;
  bool json = false, list = false;
};
void add_bench_particles(CLI::App& bench, BenchParticlesArguments& arguments);
int bench_particles_command(const BenchParticlesArguments& arguments, Log& log);

}  // namespace volvox::cli
