// What an engine implements besides Engine if it can tell where the time of its steps went. It is no part of Engine,
// because bullet and mujoco give no such figure.
// Seconds by the wall. The caller's thread, between two advances. For measuring: must not reach the state.
#pragma once

namespace volvox::physics {

class StageTimes {
 public:
  virtual ~StageTimes() = default;
  virtual double collision_s() const = 0;  // spent on finding contacts since the engine was made
};

}  // namespace volvox::physics
