// Scenes by which lattice worlds are measured (`volvox bench lattice`) and tested. Each checks its own result.
// SI units. run_scene has a world and threads of its own. The hash is the same at any number of threads; times and
// memory are measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "volvox/base/result.h"

namespace volvox::cluster {
class Exchange;
}

namespace volvox::lattice {

struct SceneInfo {
  std::string name, description;
  std::size_t n = 0;  // modules that act, unless another number is asked for
};
std::vector<SceneInfo> all_scenes();

struct SceneMeasure {
  std::size_t n = 0, modules = 0;  // that act, and all
  std::uint64_t messages = 0;      // delivered
  std::uint64_t moves = 0;
  std::int64_t ticks = 0;
  double load = 0, run = 0, cpu = 0;  // s; cpu: of all threads while it ran
  std::int64_t bytes = 0;             // by which loading and running have raised the peak memory of the process
  std::uint64_t state_hash = 0;
  std::uint64_t sent_away = 0;  // bytes to other ranks
};

// Too little memory is said before anything is loaded. Result errors: no such scene, or its result is wrong.
// `ranks`: other processes that share the world; all of them call it. Bytes and times are then those of this one.
Result<SceneMeasure> run_scene(const std::string& name, std::size_t n, int threads, std::uint64_t seed,
                               cluster::Exchange* ranks = nullptr);

// Whether a world of so many modules would fit; `state`: bytes of all code modules of a catom. So many ranks share it,
// each on a machine of its own.
Result<void> check_memory(std::size_t modules, double cells_of_box, std::size_t state, int ranks = 1);

}  // namespace volvox::lattice
