// What an engine implements besides Engine if the friction of its joints can change in a run. It is no part of Engine,
// because only `native` can: the others keep the friction of a joint's JointDesc.
// SI units; the caller's thread, between two advances; deterministic.
#pragma once

#include "volvox/physics/engine.h"

namespace volvox::physics {

class JointFriction {
 public:
  virtual ~JointFriction() = default;
  // Coulomb friction (N m or N, not negative) of a joint that is there, from the next advance on.
  virtual void set_joint_friction(JointId id, double friction) = 0;
  virtual double joint_friction(JointId id) const = 0;
};

}  // namespace volvox::physics
