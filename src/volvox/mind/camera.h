// What a module's camera sees: colours and depths, by rays through the world. Not by a render
// engine: percepts are hashed, and a graphics driver gives other bits on another machine
// (docs/decisions/0030).
#pragma once

#include "volvox/mind/sensor.h"

namespace volvox::mind {

struct CameraImage {
  std::int32_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // sRGB, three a pixel, rows from the top, columns from the left
  std::vector<float> depth;       // m ahead of the camera, along its axis; max_range where there is nothing
};
VOLVOX_TYPE(CameraImage, width, height, rgb, depth)

// Parameters: width and height in pixels (32 x 24), field_of_view of the width in rad (60 degrees),
// near and max_range in m (0.01, 10). x of the mount looks ahead, z is up in the image.
std::unique_ptr<Sensor> make_camera(const model::Sensor& sensor, const Parameters& parameters);

}  // namespace volvox::mind
