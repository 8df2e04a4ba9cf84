// Triangles for the eye: what a link looks like, ready for a GPU or a socket.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "volvox/model/shape.h"

namespace volvox::view {

// sRGB, as SDF's colours are taken to be.
struct Rgba {
  std::uint8_t r = 0, g = 0, b = 0, a = 255;
  friend constexpr bool operator==(const Rgba&, const Rgba&) = default;
};
Rgba to_rgba(const model::Color& color);

// 28 bytes without padding: uploaded and sent as they are.
struct Vertex {
  std::array<float, 3> position{};  // m
  std::array<float, 3> normal{};    // unit
  Rgba color;
  friend constexpr bool operator==(const Vertex&, const Vertex&) = default;
};
static_assert(sizeof(Vertex) == 28);

struct Mesh {
  std::vector<Vertex> vertices;
  std::vector<std::uint32_t> indices;  // three a triangle, counter-clockwise seen from outside

  std::size_t triangles() const { return indices.size() / 3; }
  model::Bounds bounds() const;
};

// Adds a shape at a pose. Edges sharper than 35 degrees stay sharp, others are shaded smooth. A
// plane, which has no end, adds nothing: see Scene::grounds. Height fields of more than 384
// samples a side are thinned out.
void append(Mesh& mesh, const model::Shape& shape, const Pose& pose, Rgba color);
void append(Mesh& mesh, const Mesh& other, const Pose& pose);

// A coarser mesh of at most so many triangles, for what is far away: vertices that share a cell
// of a grid become the one farthest out, so that silhouettes keep their size (Rossignac and
// Borrel 1993). Takes any triangles, holes and loose parts included, and never fails; at worst a
// box comes back.
Mesh simplified(const Mesh& mesh, std::size_t max_triangles);

// A mesh at falling levels of detail: full, then about 600, 120, 24 and 12 triangles, where that is
// markedly fewer.
struct DetailedMesh {
  std::vector<Mesh> levels;  // at least one
  model::Bounds bounds;      // of the full one
  bool translucent = false;  // some colour is not opaque
  bool closed = false;       // seen from outside, only the front of its triangles shows

  const Mesh& full() const { return levels.front(); }
  double radius() const;  // of the sphere about the origin that holds it
};
DetailedMesh with_levels(Mesh mesh);

}  // namespace volvox::view
