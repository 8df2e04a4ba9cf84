// What a node of a small tree is from outside: its link, and the joint to its parent. It follows from descriptions, and
// is the same for all trees of a pattern.
// SI units. Plain values.
#pragma once

#include "volvox/base/math.h"

namespace volvox::physics::native {

inline constexpr int most_planned_links = 12;  // of a tree

struct LinkPlan {
  Pose from_link;         // of the principal frame, in the link's
  Pose frame_a, frame_b;  // of the joint, in its links
  Quat to_frame;          // from the principal axes of its body a to its own
};

}  // namespace volvox::physics::native
