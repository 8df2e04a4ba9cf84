// What the command line may say: the arguments of every command, and the options that fill them.
// Plain values, for the one thread that parses.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "volvox/cli/bench_lattice.h"
#include "volvox/cli/bench_particles.h"
#include "volvox/cli/bench_robots.h"
#include "volvox/cli/bench_view.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/evolve.h"

namespace volvox::cli {

struct Arguments {
  RunArguments run;
  PictureArguments picture;
  SweepArguments sweep;
  ReproduceArguments reproduce;
  BenchArguments bench;
  BenchEnginesArguments bench_engines;
  BenchLatticeArguments bench_lattice;
  BenchParticlesArguments bench_particles;
  BenchRobotsArguments bench_robots;
  BenchEvolveArguments bench_evolve;
  BenchViewArguments bench_view;
  EvolveArguments evolve;
  CrosscheckArguments crosscheck;
  NetArguments net;
  ScanArguments scan;
  ReplayArguments replay;
  ExportArguments export_;
  ViewerArguments viewer;
  std::string view_robot, mjcf;
  std::vector<std::string> mjcf_set;
  std::string list_what, info_thing, new_kind, new_name, new_folder, shell;
  std::vector<std::string> help_of;
  std::string page_of_docs;
  bool list_json = false, list_names = false, info_names = false, man = false;
};

void add_commands(CLI::App& app, Arguments& a);

}  // namespace volvox::cli
