// Encodes render trees and frames as bytes for the viewer in web/: little-endian and 4-byte aligned, so that a
// browser can upload them to its GPU unchanged. Lengths in m. web/src/protocol.ts decodes them.
// Pure functions: the same frame gives the same bytes. Any thread.
#pragma once

#include <string>

#include "volvox/view/render_tree.h"

namespace volvox::view {

// "VXS1", u32 length of a JSON text, the text, padding, then the buffers to which the text refers by offset:
// vertices of 28 bytes and indices of 4 bytes.
std::string encode_tree(const RenderTree& tree);

// "VXF1", u32 links, u32 docks, u32 rays, u32 messages, u32 colours, f64 time (s), f64 tick; then 7 floats
// per link (position, rotation x y z w), one byte of flags per dock, one byte of load per dock (255:
// about to break), padding; 6 floats per ray; two dock indices (u32) per message; one colour (4 bytes) per
// placement; u32 rings, 4 floats per ring (centre, radius).
std::string encode_frame(const Frame& frame);

// "VXC1", u32 items, u32 changed, then a number (u32) for each of the changed, and 16 bytes for each: three floats, the
// colour, and how it is shown (sim::CloudItem). Frames may be left out, but these may not: each tells what has changed
// since the one before. In the first, all have changed.
std::string encode_cloud(std::size_t items, const std::vector<std::uint32_t>& changed,
                         const std::vector<sim::CloudItem>& cloud);

}  // namespace volvox::view
