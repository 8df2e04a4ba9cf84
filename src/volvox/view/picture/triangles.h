// From instances of meshes to triangles on the grid of a canvas or a shadow map: moved, projected, cut where they come
// too near, without those that face away or cover no sample's middle, and sorted by tile.
// Lengths in m, in world axes, relative to the camera's target. Chunks are made in parallel; how instances are shared
// out depends on the instances alone, so that any number of threads makes the same list.
#pragma once

#include <span>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/view/picture/instances.h"
#include "volvox/view/picture/lines.h"
#include "volvox/view/picture/raster.h"

namespace volvox::view::picture {

// Where a point lands: x and y are in steps of the grid from `centre`, times w; depth is a depth where w is 1 for all.
struct Projection {
  std::array<std::array<float, 4>, 4> columns{};  // x, y, depth and w of 1 m along x, y, z, and of the origin
  double centre_x = 0, centre_y = 0;              // steps
  bool perspective = true;
  float near = 0;  // smallest w
};
Projection camera_projection(const Viewpoint& view, int width, int height);

// What is drawn of a batch of instances.
struct Drawn {
  const Mesh* mesh = nullptr;
  std::span<const Instance> instances;
  bool one_sided = false;   // what faces away is left out
  std::uint32_t flags = 0;  // of Triangle
  float nearer = 0;         // m towards the eye, times the instance's scale: what is drawn through what is before it
  float opacity = 1;        // times that of the mesh
};

// Replaces the list, whose memory is used again.
void make_triangles(std::span<const Drawn> drawn, const Projection& projection, TileGrid grid, ThreadPool* threads,
                    TriangleList& list);

// A mesh of ribbons that stand where they are, of colours with a meaning.
Mesh mesh_of(std::span<const LineVertex> ribbons);

}  // namespace volvox::view::picture
