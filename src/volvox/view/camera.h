// Where a picture is taken from.
#pragma once

#include <string>

#include "volvox/base/result.h"
#include "volvox/view/scene.h"

namespace volvox::view {

// Looks from `eye` at `target`.
struct Camera {
  Vec3 eye{1, -1, 1};
  Vec3 target;
  Vec3 up{0, 0, 1};
  Vec3 sun{-0.42, -0.48, 0.77};        // towards the light
  double field_of_view = radians(30);  // of the picture's height

  // Frames a box from a direction (from the target towards the eye), with a margin around it, and
  // with the light from the left.
  static Camera framing(const model::Bounds& box, const Vec3& direction, double aspect,
                        double field_of_view = radians(30));
};

// A camera as a person names it:
//   corner, front, back, left, right, top   from there, framing the box
//   X,Y,Z                                   from that point, at the middle of the box
//   X,Y,Z:X,Y,Z                             from the first point at the second
//   MODULE.SENSOR                           what that camera of a module sees, as the frame has it
Result<Camera> parse_camera(const std::string& text, const model::Bounds& box, double aspect, const world::World& world,
                            const Frame& frame);

}  // namespace volvox::view
