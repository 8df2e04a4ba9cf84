// How a dock closes: the pose of frame_b in frame_a moves from the pose at capture to the identity, at a constant rate.
// SI units; in the axes of frame_a.
// A plain value, part of the state and of its hash. Deterministic.
#pragma once

#include <algorithm>

#include "volvox/physics/engine.h"

namespace volvox::physics {

class DockLatch {
 public:
  // A smaller gap is rounding, and counts as closed.
  static constexpr double closed_gap = 1e-6;    // m
  static constexpr double closed_angle = 1e-6;  // rad
  // Limits the angular speed to the pull speed at this lever.
  static constexpr double lever = 0.1;  // m

  DockLatch() = default;
  DockLatch(const JointDesc& desc, const Pose& captured)
      : offset_(captured.position), turn_(rotation_vector(captured.rotation)) {
    const double gap = length(offset_), angle = length(turn_);
    if (desc.latch_time <= 0 && gap <= closed_gap && angle <= closed_angle) return;
    const double speed = std::max(desc.pull_speed, 1e-9);
    duration_ = std::max({desc.latch_time, gap / speed, angle * lever / speed});
    open_ = 1;
  }

  bool closed() const { return open_ <= 0; }
  // The target pose of frame_b in frame_a now.
  Pose target() const { return {offset_ * open_, from_rotation_vector(turn_ * open_)}; }
  // The target velocity over the next `step` seconds, in frame_a's axes.
  Twist rate(double step) const {
    const double closing = (open_ - after(step)) / step;
    return {-offset_ * closing, -turn_ * closing};
  }
  void advance(double step) { open_ = after(step); }

  template <class Archive>
  void archive(Archive& ar) {
    ar("offset", offset_);
    ar("turn", turn_);
    ar("duration", duration_);
    ar("open", open_);
  }

 private:
  // A rest within rounding belongs to this step, so that rounding does not cost another step.
  double after(double step) const {
    const double left = duration_ > 0 ? open_ - step / duration_ : 0;
    return left < 1e-9 ? 0 : left;
  }

  Vec3 offset_, turn_;
  double duration_ = 0;
  double open_ = 0;  // 1 when captured, 0 when closed
};

}  // namespace volvox::physics
