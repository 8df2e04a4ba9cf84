// Scenes and frames as bytes for the viewer in web/: little-endian, 4-byte aligned, laid out so
// that a browser can hand them to its GPU as they are. web/src/protocol.ts reads them.
#pragma once

#include <string>

#include "volvox/view/scene.h"

namespace volvox::view {

// "VXS1", u32 length of a JSON text, the text, padding, then the buffers that the text points to:
// vertices of 28 bytes and indices of 4.
std::string encode_scene(const Scene& scene);

// "VXF1", u32 links, u32 docks, u32 rays, u32 messages, u32 colours, f64 time, f64 tick; then by
// link 7 floats (position, rotation x y z w), by dock a byte of flags, by dock a byte of load (255:
// about to break), padding; by ray 6 floats; by message two docks; by placement a colour;
// u32 rings, by ring 4 floats (centre, radius).
std::string encode_frame(const Frame& frame);

}  // namespace volvox::view
