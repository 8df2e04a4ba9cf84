// One function a subcommand; each returns the exit status.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "volvox/base/log.h"
#include "volvox/base/result.h"
#include "volvox/sim/experiment.h"

namespace volvox::cli {

inline constexpr int done = 0, run_failed = 1, bad_input = 2;

struct RunArguments {
  std::string experiment, engine;
  std::optional<std::string> dt, out, save, restore;
  std::optional<double> duration, substep;
  std::uint64_t seed = 1;
  int threads = 1;
  std::vector<std::string> set;
  bool json = false, quiet = false;
};
int run_command(const RunArguments& arguments, sim::Library& library, Log& log);

int list_command(const std::string& what, bool json, const sim::Library& library);
int info_command(const std::string& thing, const sim::Library& library);

struct BenchArguments {
  std::vector<std::string> scenes;
  std::string engines;
  double seconds = 1;
  int modules = 0;  // 0: 1000
  int threads = 1;
  bool json = false;
};
int bench_command(const BenchArguments& arguments, sim::Library& library, Log& log);

int new_command(const std::string& kind, const std::string& name, const std::string& folder);
int completion_command(const std::string& shell);

// Prints an error as everybody expects it, and returns the exit status of bad input.
int complain(const Error& error);

// KEY=VALUE pairs.
Result<std::map<std::string, std::string>> parse_settings(const std::vector<std::string>& set);

}  // namespace volvox::cli
