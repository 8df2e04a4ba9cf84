// `volvox evolve` and `volvox bench evolve`: their arguments.
// Plain values. Threads and jobs change no result.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "volvox/cli/commands.h"

namespace volvox::cli {

struct EvolveArguments {
  std::string task, engine, precision, device = "auto";
  std::optional<std::string> out;
  std::vector<std::string> set;
  std::optional<int> generations, population;
  std::uint64_t seed = 1;
  int threads = 0;  // 0: all that the machine has, divided by the jobs
  int jobs = 1;
  int gallery = 6;  // pictures of the best
  std::string ranks = "auto";
  bool resume = false, json = false, quiet = false;
  bool show = false, no_film = false;  // show: the page, in a browser, while it runs
  ViewerArguments viewer;
};
// auto, cpu or cuda; else an error that says what `who` can do.
Result<void> check_trial_device(const std::string& device, const std::string& who);
void add_evolve(CLI::App& app, EvolveArguments& arguments);
int evolve_command(const EvolveArguments& arguments, sim::Library& library, Log& log);

struct BenchEvolveArguments {
  std::string task = "evolution/gait", threads = "1,2", device = "cpu", precision;
  int trials = 24, repeats = 3;
  std::uint64_t seed = 1;
  bool json = false;
};
void add_bench_evolve(CLI::App& bench, BenchEvolveArguments& arguments);
int bench_evolve_command(const BenchEvolveArguments& arguments, sim::Library& library, Log& log);

}  // namespace volvox::cli
