// What an engine implements besides Engine if it can tell where the time of its steps went. It is no part of Engine,
// because bullet and mujoco give no such figure.
// Seconds by the wall. The caller's thread, between two advances. For measuring: must not reach the state.
#pragma once

namespace volvox::physics {

class StageTimes {
 public:
  virtual ~StageTimes() = default;
  // Spent on finding contacts since the engine was made. Of native without those of lone robots with planes, which are
  // found where the robots move.
  virtual double collision_s() const = 0;
};

}  // namespace volvox::physics
