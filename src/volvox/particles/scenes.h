// Scenes by which particles are measured (`volvox bench particles`) and tested.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "volvox/base/result.h"

namespace volvox::particles {

struct SceneInfo {
  std::string name, description;
  std::size_t n = 0;  // particles, unless another number is asked for
};
std::vector<SceneInfo> all_scenes();

struct SceneOptions {
  std::size_t n = 0;  // 0: as the scene defines
  int threads = 1;
  int frames = 0;              // 0: as the scene defines, 5 s
  std::string device = "cpu";  // see Device::by_name
  std::uint64_t seed = 0;      // of where the particles begin: up to 2 % of a spacing away; 0: on their grid
};

struct SceneMeasure {
  std::size_t n = 0;                  // particles
  int frames = 0;                     // ticks of 1/60 s
  double load = 0, run = 0, cpu = 0;  // s; cpu: of all threads while it ran
  double density_error_mean = 0;      // of the fluid, mean over all ticks
  double density_error_max = 0;       // the largest of a tick
  std::uint64_t drained = 0;
  std::int64_t bytes = 0;  // of all particles
  std::uint64_t state_hash = 0;
  std::string device;       // what computed in the end: cpu or cuda
  std::string device_note;  // why it was not what was asked for
};

// If there is too little memory, the error comes before anything is loaded. A device that is not there, or fails, is no
// error.
Result<SceneMeasure> run_scene(const std::string& name, const SceneOptions& options);

}  // namespace volvox::particles
