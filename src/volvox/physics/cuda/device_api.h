// What a library that moves lone robots on a GPU offers: plain C, because it is loaded at run time and may be built by
// another compiler. It has the arithmetic of ../native/lone_kernel.h, and so the bits of the processor.
// One thread at a time may call a device; memory that is handed over stays the caller's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "volvox/physics/motor_wave.h"
#include "volvox/physics/native/lone_kernel.h"

namespace volvox::physics::cuda {

inline constexpr std::uint32_t device_api_version = 3;  // goes up with every change of this file, or of lone_kernel.h

// A tick: it begins at `time`, and is so long; s.
struct DeviceTick {
  double time = 0, length = 0;
  int substeps = 1;
};

// What became of a robot: it moved through all ticks, or could not through one of them, and waits at its begin.
struct DeviceEnd {
  std::int64_t ticks = 0;  // that it moved through since it was loaded
  native::LoneEnd end = native::LoneEnd::moved;
};

// What a robot is told for a tick of its own, as numbers: length (s; 0: it stays where it is), substeps, and for each
// node but the root the command of its joint (archive_command).
inline constexpr int order_head = 2, command_words = 6;
VOLVOX_ALSO_ON_GPU inline int order_words(int nodes) { return order_head + command_words * (nodes - 1); }

enum class DeviceAnswer : std::uint32_t { done, failed };

struct DeviceRobots;
struct DeviceApi {
  std::uint32_t version = 0;
  std::uint32_t pattern_size = 0, link_size = 0, wave_size = 0;  // for what it was built
  // When it fails, `message`, of 256 characters, says why. Robots of one kind; the pattern is copied.
  DeviceRobots* (*create)(const native::LonePattern* pattern, std::size_t count, char* message);
  void (*destroy)(DeviceRobots* robots);
  // Some robots one behind the other: all words of a robot (LoneLayout::all_words), and the waves of its nodes but the
  // root. They are at tick 0.
  DeviceAnswer (*load)(DeviceRobots* robots, std::size_t first, std::size_t count, const double* words,
                       const MotorWave* waves, char* message);
  // What others want to know (see LoneLayout) is true after the last tick. Seconds of the GPU are added to `seconds`.
  DeviceAnswer (*step)(DeviceRobots* robots, const DeviceTick* ticks, std::size_t count, double* seconds,
                       char* message);
  // The words (LoneLayout) that come back from every tick() from now on.
  DeviceAnswer (*watch)(DeviceRobots* robots, const int* words, std::size_t count, char* message);
  // A tick for those whose orders say so; a row of orders and of watched words for each robot. What others want to know
  // is true afterwards.
  DeviceAnswer (*tick)(DeviceRobots* robots, const double* orders, double* watched, DeviceEnd* ends, double* seconds,
                       char* message);
  DeviceAnswer (*save)(DeviceRobots* robots, std::size_t first, std::size_t count, double* words, DeviceEnd* ends,
                       char* message);
  DeviceAnswer (*name)(char* message);  // of the GPU
};

}  // namespace volvox::physics::cuda

// The only function of the library.
extern "C" {
typedef const volvox::physics::cuda::DeviceApi* (*volvox_robots_device_function)();
}
