// Lines of a picture: rays of sensors, messages on wires, rings around antennas. They are drawn as thin
// strips that face the eye, so that all that is drawn are triangles.
// Lengths in m, relative to the camera's target. Pure functions.
#pragma once

#include <vector>

#include "volvox/view/picture/instances.h"

namespace volvox::view::picture {

struct LineVertex {
  std::array<float, 3> position{};  // relative to the camera's target
  Rgba color;
};

// Three vertices per triangle.
std::vector<LineVertex> ray_ribbons(const Frame& frame, const Viewpoint& view);
std::vector<LineVertex> traffic_ribbons(const RenderTree& tree, const Frame& frame, const Viewpoint& view);

}  // namespace volvox::view::picture
