// Actuators carry out the actions of one module in the world. Units are SI. One Actuator object serves all modules of a
// model, so it has no state of its own.
// Deterministic: it draws no random numbers, and noise was added before.
#pragma once

#include <memory>

#include "volvox/base/parameters.h"
#include "volvox/base/registry.h"
#include "volvox/base/type.h"
#include "volvox/world/world.h"

namespace volvox::mind {

// The action of a joint with a motor.
struct JointCommand {
  physics::Control control = physics::Control::off;
  double target = 0;  // position: rad or m; velocity: rad/s or m/s; torque: N m or N
};
VOLVOX_TYPE(JointCommand, control, target)

// The action of a lamp: the colour that the module shows, each from 0 to 1.
struct Light {
  double red = 0, green = 0, blue = 0;
};
VOLVOX_TYPE(Light, red, green, blue)

struct ActContext {
  world::World& world;
  world::PlacementIndex module = 0;
};

class Actuator {
 public:
  virtual ~Actuator() = default;
  // Whether Behavior::control may use it. If so, apply() changes only the forces and motors of its own module, because
  // it is called for several modules at once.
  virtual bool on_board() const { return false; }
  // Whether it acts without a command, too, as a spring does: then it acts at every substep, with the command of the
  // tick, or zero if nobody has given one or the module is off. Implies on_board().
  virtual bool always() const { return false; }
  virtual const TypeInfo& type() const = 0;  // of the action
  // Carries out a command, which already contains its noise. In the act phase, those of modules that use one that
  // is not on_board() are called one after another, in the order of modules.
  virtual void apply(const ActContext& context, const Value& command) const = 0;
};

using ActuatorFactory = std::function<std::unique_ptr<Actuator>(const model::Actuator&, const Parameters&)>;
using ActuatorRegistry = Registry<ActuatorFactory>;

// thruster: a force (Vec3, N, in the mount's frame) at a point of a link. rotor: the speed of a
// propeller (double, rad/s). tyre: one on level ground, always() (double, the force of its motor, N). lamp: a colour
// (Light) that viewers show. Motors of joints, latches of docks and magnets need no entry: every module has its own.
ActuatorRegistry built_in_actuators();

std::unique_ptr<Actuator> make_joint_motor(int joint);
std::unique_ptr<Actuator> make_dock_latch(int dock);  // the action is a bool: enabled
std::unique_ptr<Actuator> make_magnet(int magnet);    // the action is a double: from -1, south, to 1, north; 0: off

}  // namespace volvox::mind
