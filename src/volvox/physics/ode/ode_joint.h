// Every kind of joint, made of ODE's joints: one for the constrained axes, and motors on the free axes for drive,
// friction, damping and limits. A motor row of ODE with CFM = 1 / kd and FMax is exactly
// torque = clamp(kd (v - qdot), +-FMax), with qdot at the end of the substep. While a dock latches, motors on all six
// axes pull it: ODE's fixed joint acts on a at the point where b should be, not where it is, and would not conserve
// angular momentum.
// SI units. Owns ODE's joints; the bodies must outlive it. One thread; deterministic.
#pragma once

#include <ode/ode.h>

#include <array>

#include "volvox/physics/dock_latch.h"
#include "volvox/physics/engine.h"

namespace volvox::physics::ode {

// The share of an error that a substep corrects.
constexpr double error_reduction = 0.4;

class Joint {
 public:
  // Frames from the bodies' principal frames; a null: the world. b is ODE's first body, so
  // that positions, speeds and reactions have our signs.
  Joint(const JointDesc& desc, dWorldID world, dBodyID a, dBodyID b, const Pose& frame_a, const Pose& frame_b);
  ~Joint();
  Joint(const Joint&) = delete;
  Joint& operator=(const Joint&) = delete;

  // Sets up the next substep. `position` is the unwrapped one at its start.
  void prepare(double step, double position, const MotorCommand& motor, DockLatch& latch);

  // Of the last substep.
  double motor_torque() const;
  // What b got, in frame_a's axes at its origin.
  Wrench load_on_b() const;
  double position_after(double previous) const;

 private:
  // An ODE joint that drives the free axes, angular or linear.
  struct Drive {
    dJointID joint = nullptr;
    bool linear = false;
    dJointFeedback feedback{};

    void set(int axis, double velocity, double most, double softness);
  };
  bool linear() const { return desc_.type == JointType::prismatic; }

  Pose a_pose() const;
  Pose b_pose() const;
  void make_holder(dWorldID world);
  void set_holder();
  void make_drive(Drive& drive, dWorldID world, bool linear, int axes);
  void set_motor(double position, const MotorCommand& motor);
  void set_limits(double position, double speed);
  void pull(DockLatch& latch);
  double speed() const;

  JointDesc desc_;
  dBodyID a_, b_;
  Pose frame_a_, frame_b_;
  double step_ = 0;
  Pose axes_;  // frame_a in the world, at the start of the substep
  Vec3 b_centre_;
  dJointID holder_ = nullptr;
  dJointFeedback held_{};
  Drive motor_, friction_, damping_, limit_;
  Drive pull_, turn_;  // of a latching dock
  std::array<Drive*, 6> drives() { return {&motor_, &friction_, &damping_, &limit_, &pull_, &turn_}; }
};

}  // namespace volvox::physics::ode
