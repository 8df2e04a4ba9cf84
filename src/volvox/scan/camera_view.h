// Colour from a camera on a mesh.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/scan/mesh.h"

namespace volvox::scan {

// What a camera saw, and from where: x of its pose looks ahead, z is up in the image.
struct CameraView {
  Pose pose;
  double field_of_view = 1;  // of the width, rad
  std::int32_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // three a pixel, rows from the top
};

// Gives each vertex the mean colour of the pixels that show it, near views weighing more; `unseen`
// where none does and the mesh had no colour. Returns how many vertices were seen. The mesh itself
// says what is hidden: the camera needs no depth.
std::size_t paint(TriangleMesh& mesh, std::span<const CameraView> views, Rgb unseen = {128, 128, 128});

}  // namespace volvox::scan
