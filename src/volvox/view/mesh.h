// Triangle meshes of what a link looks like, in the layout that goes to a GPU or a socket. Lengths in m, in the frame
// of the link. All functions are pure and deterministic.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/model/shape.h"

namespace volvox::view {

// Graphics takes floats and bytes; the simulation computes with doubles.
inline std::array<float, 3> to_floats(const Vec3& v) { return {to_float(v.x), to_float(v.y), to_float(v.z)}; }
inline Vec3 to_vec(const std::array<float, 3>& v) { return {v[0], v[1], v[2]}; }
inline std::uint8_t to_byte(double x) { return narrow<std::uint8_t>(std::lround(x)); }  // 0 to 255

// sRGB; colours in SDF files are taken as sRGB too.
struct Rgba {
  std::uint8_t r = 0, g = 0, b = 0, a = 255;
  friend constexpr bool operator==(const Rgba&, const Rgba&) = default;
};
Rgba to_rgba(const model::Color& color);

// 28 bytes without padding, so that arrays of vertices are sent without a copy.
struct Vertex {
  std::array<float, 3> position{};  // m
  std::array<float, 3> normal{};    // unit
  Rgba color;
  friend constexpr bool operator==(const Vertex&, const Vertex&) = default;
};
static_assert(sizeof(Vertex) == 28);

struct Mesh {
  std::vector<Vertex> vertices;
  std::vector<std::uint32_t> indices;  // three per triangle, counter-clockwise seen from outside

  std::size_t triangles() const { return indices.size() / 3; }
  model::Bounds bounds() const;
};

// Adds a shape at a pose. Edges sharper than 35 degrees stay sharp, others are shaded smooth. An
// infinite plane adds nothing: see RenderTree::grounds. Height fields of more than 384 samples per side
// are subsampled.
void append(Mesh& mesh, const model::Shape& shape, const Pose& pose, Rgba color);

// A coarser mesh of at most `max_triangles`, for distant objects: all vertices in one cell of a
// grid are merged into the one farthest out, so that silhouettes keep their size (vertex
// clustering, Rossignac and Borrel 1993). It accepts any triangles, also with holes and loose
// parts, and never fails; the worst result is a box.
Mesh simplified(const Mesh& mesh, std::size_t max_triangles);

// A mesh at decreasing levels of detail: full, then about 600, 120, 24 and 12 triangles. A level exists
// only if it has clearly fewer triangles than the level before.
struct DetailedMesh {
  std::vector<Mesh> levels;  // at least one
  model::Bounds bounds;      // of the full level
  bool translucent = false;  // at least one colour is not opaque
  bool closed = false;       // from outside only front faces are visible, so back faces may be culled

  const Mesh& full() const { return levels.front(); }
  double radius() const;  // of the sphere around the origin that contains the bounds
};
DetailedMesh with_levels(Mesh mesh);

}  // namespace volvox::view
