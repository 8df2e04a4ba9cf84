// Every kind of joint, as rows for Bullet's solver.
//
// All rows act at one common point, the origin of frame_b, so that the two bodies get equal,
// opposite and collinear impulses: linear and angular momentum are kept exactly, however far
// the two frames are apart. In frame_a's axes the velocity of that point is also the exact
// rate of change of the joint's offset.
// SI units, world axes unless said otherwise. The bodies must outlive the joint. One thread; deterministic.
#pragma once

#include <btBulletDynamicsCommon.h>

#include <array>

#include "volvox/physics/bullet/convert.h"
#include "volvox/physics/dock_latch.h"
#include "volvox/physics/engine.h"

namespace volvox::physics::bullet {

// One scalar constraint: along an axis, impulse = (target - velocity) / softness, bounded.
struct Row {
  Vec3 axis;  // world
  bool angular = false;
  double target = 0;                     // m/s or rad/s of b relative to a
  double lower = -1e300, upper = 1e300;  // impulse
  double softness = 0;                   // 0: rigid
  int slot = 0;                          // index of its impulse in the joint
};

class Joint final : public btTypedConstraint {
 public:
  static constexpr int slots = 12;

  // Frames in the bodies' own (Bullet) frames; the index orders joints in the solver.
  Joint(const JointDesc& desc, std::size_t index, btRigidBody& a, btRigidBody& b, const Pose& frame_a,
        const Pose& frame_b);
  std::size_t index() const { return index_; }

  // Sets up the rows for the next substep. `position` is the unwrapped one at its start.
  void prepare(double step, double position, const MotorCommand& motor, DockLatch& latch);

  int row_count() const { return row_count_; }
  const Row& row(int i) const { return rows_[i]; }
  double& impulse(int slot) { return impulses_[slot]; }
  // The impulses of the last substep, from which the next one starts (warm start).
  std::array<double, slots>& impulses() { return impulses_; }

  double motor_impulse() const { return row_used_[motor_slot] ? impulses_[motor_slot] : 0; }
  // The impulse of the last substep's rows on b, in frame_a's axes at its origin.
  Wrench impulse_on_b() const;

  // The unwrapped position that the bodies have now.
  double position_after(double previous) const;

  void getInfo1(btConstraintInfo1* info) override;
  void getInfo2(btConstraintInfo2* info) override;
  void setParam(int, btScalar, int) override {}
  btScalar getParam(int, int) const override { return 0; }

 private:
  // Slots 0 to 2 are linear, 3 to 5 angular; the rows on free axes follow.
  static constexpr int motor_slot = 6, lower_slot = 7, upper_slot = 8, friction_slot = 9, damping_slot = 10;

  void add(const Row& row);
  void add_offset_rows(const Vec3& offset, const Vec3& wanted, const Vec3& rate, int count);
  void add_fixed_turn(const Quat& turn, const Quat& wanted, const Vec3& rate);
  void add_free_axis(const Row& axis, double position, const MotorCommand& motor);
  void add_motor(Row row, double position, const MotorCommand& motor);
  void add_friction(Row row, int friction, int damping);

  JointDesc desc_;
  std::size_t index_;
  Pose frame_a_, frame_b_;
  double step_ = 0;
  Pose a_, b_;  // the frames in the world
  int row_count_ = 0;
  std::array<Row, slots> rows_;
  std::array<double, slots> impulses_{};
  std::array<bool, slots> row_used_{};
};

}  // namespace volvox::physics::bullet
