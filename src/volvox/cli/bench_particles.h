// `volvox bench particles`: water, rubble and cloth.
// For the thread of main. What it prints are times of this machine.
#pragma once

#include "volvox/cli/bench_scenes.h"
#include "volvox/sim/experiment.h"

namespace CLI {
class App;
}

namespace volvox::cli {

struct BenchParticlesArguments : BenchScenesArguments {
  BenchParticlesArguments() { scenes = "fluid,snake,debris,cloth"; }
  std::string device = "cpu";
  int frames = 0;
};
void add_bench_particles(CLI::App& bench, BenchParticlesArguments& arguments);
int bench_particles_command(const BenchParticlesArguments& arguments, const sim::Library& library, Log& log);

}  // namespace volvox::cli
