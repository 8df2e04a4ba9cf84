// A camera of a module: colours and depths, by ray casting. A render engine is not used because percepts are part of
// the state hash, and a graphics driver gives different bits on another machine (docs/decisions/0030).
// SI units, the frame of the mount. As all sensors (sensor.h), several threads use it at once, and it has no state.
#pragma once

#include "volvox/mind/sensor.h"

namespace volvox::mind {

struct CameraImage {
  std::int32_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // sRGB, three a pixel, rows from the top, columns from the left
  std::vector<float> depth;       // m along the camera's axis; max_range if nothing is hit
};
VOLVOX_TYPE(CameraImage, width, height, rgb, depth)

// Parameters: width and height in pixels (32 x 24), field_of_view of the width in rad (60 degrees),
// near and max_range in m (0.01, 10). The camera looks along x of its mount; z is up in the image.
std::unique_ptr<Sensor> make_camera(const model::Sensor& sensor, const Parameters& parameters);

}  // namespace volvox::mind
