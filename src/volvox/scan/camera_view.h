// Colours a mesh from camera images.
// Lengths in m. One thread a mesh; the images stay the caller's. The same bits on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/scan/mesh.h"

namespace volvox::scan {

// A camera image and the pose of the camera in the frame of the mesh: x points forward, z is up in the image.
struct CameraView {
  Pose pose;
  double field_of_view = 1;  // horizontal, rad
  std::int32_t width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // three bytes per pixel, rows from the top
};

// Gives each vertex the mean colour of the pixels that show it; closer views have a larger weight. Vertices
// that no view shows keep their colour, or get `unseen`. Returns the number of vertices that were seen.
// Occlusion is computed from the mesh, so no depth images are needed.
std::size_t paint(TriangleMesh& mesh, std::span<const CameraView> views, Rgb unseen = {128, 128, 128});

}  // namespace volvox::scan
