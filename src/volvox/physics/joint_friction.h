// What an engine implements besides Engine if the friction of its joints can change in a run. It is no part of Engine,
// because only `native` can: the others keep the friction of a joint's JointDesc.
// SI units; the caller's thread, between two advances; deterministic.
#pragma once

#include "volvox/physics/engine.h"

namespace volvox::physics {

// What an engine has in EngineInfo::cannot if it does not implement this, and if jaws that hold by friction
// (world/latches.h) do not slide there, or do so without a load. World says so where a world has them.
inline constexpr const char* friction_by_load = "friction by load";
inline constexpr const char* sliding_jaws = "sliding jaws";

class JointFriction {
 public:
  virtual ~JointFriction() = default;
  // Coulomb friction (N m or N, not negative) of a joint that is there, from the next advance on.
  virtual void set_joint_friction(JointId id, double friction) = 0;
  virtual double joint_friction(JointId id) const = 0;
};

}  // namespace volvox::physics
