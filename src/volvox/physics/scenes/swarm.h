// Lone SuperBots by the thousand, each in a world of its own on a plane with its own swing of the joints: how fast a
// GPU or the engines move them (physics::RobotBatch), and to which state.
#pragma once

#include <cstdint>
#include <string>

#include "volvox/base/result.h"
#include "volvox/physics/cuda/device.h"

namespace volvox::physics::scenes {

struct SwarmMeasure {
  std::size_t n = 0;
  std::int64_t ticks = 0;
  std::string device;             // of the GPU; empty: the processor
  double load_s = 0, run_s = 0;   // by the clock; of a GPU, its own
  double cpu_s = 0;               // of the run
  std::int64_t module_ticks = 0;  // that were done in that time: a robot that the GPU leaves to its engine has fewer
  double module_ticks_per_s = 0;
  std::uint64_t state_hash = 0;  // of the first robots, see hashed_robots
  std::int64_t left = 0;         // robots that the GPU left to the engines
};

// So many robots are hashed, as their engines have them; of the others on a GPU it is only asked how far they came.
inline constexpr std::size_t hashed_robots = 64;

// `device`: null, the engines on so many threads.
Result<SwarmMeasure> measure_swarm(std::size_t n, std::int64_t ticks, std::shared_ptr<const cuda::Device> device,
                                   int threads);

}  // namespace volvox::physics::scenes
