// The camera of a picture. Points and directions are in the world frame, in m; angles in rad.
// Plain values; any thread. Pictures are not part of the state, so bits may differ between machines.
#pragma once

#include <string>

#include "volvox/base/result.h"
#include "volvox/view/render_tree.h"

namespace volvox::view {

// Looks from `eye` at `target`.
struct Camera {
  Vec3 eye{1, -1, 1};
  Vec3 target;
  Vec3 up{0, 0, 1};
  Vec3 sun{-0.42, -0.48, 0.77};        // direction towards the light
  double field_of_view = radians(30);  // vertical

  // A camera that sees the whole box, with a margin, from a direction (from the target towards the eye). The light
  // comes from the left.
  static Camera framing(const model::Bounds& box, const Vec3& direction, double aspect,
                        double field_of_view = radians(30));
};

// Reads the name of a camera:
//   corner, front, back, left, right, top   sees the whole box from that side
//   X,Y,Z                                   looks from that point at the middle of the box
//   X,Y,Z:X,Y,Z                             looks from the first point at the second
//   MODULE.SENSOR                           the view of that camera of a module, at its pose in the frame
Result<Camera> parse_camera(const std::string& text, const model::Bounds& box, double aspect, const world::World& world,
                            const Frame& frame);

}  // namespace volvox::view
