// The scenes on which engines are compared, by name. The same name, size and seed give the same
// bodies and the same commands on every engine and every machine.
// SI units, world frame; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "volvox/physics/scenes/bench_scene.h"

namespace volvox::physics::scenes {

struct SceneInfo {
  std::string name;
  std::string description;  // one line
  int modules;              // number of modules by definition
  int fewest;               // fewer modules would be another scene
  double seconds;           // simulated, by default
};

const std::vector<SceneInfo>& all_scenes();

// An error if there is no such scene, or if there are too few modules. 0 modules: as defined.
Result<BenchScene> make_scene(const std::string& name, int modules, std::uint64_t seed);

// S4, in organisms.cpp: random organisms of 1 to 20 SuperBots, some with loops, dropped beside
// and onto each other on a height field, every joint swinging.
BenchScene random_organisms(int modules, std::uint64_t seed);

}  // namespace volvox::physics::scenes
