// Solids that have no closed form: convex hulls, closed meshes, and several parts that are one body. Their signed
// distance is sampled on a grid once, and interpolated from there: faces are exact, edges rounded by about one cell.
// Units m, in the frame of the solid; immutable once made, and shared by all bodies of one kind. Deterministic.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "volvox/base/math.h"
#include "volvox/base/result.h"

namespace volvox::particles {

struct ShapeDesc;

struct DistanceField {
  Vec3 low, high;                       // the box around the solid
  double cell = 0;                      // between two samples
  std::array<std::int32_t, 3> count{};  // samples along x, y and z
  std::array<float, 3> first{};         // where the first sample is
  float inverse_cell = 0;
  std::vector<float> distance;  // x fastest; negative within the solid
  double volume = 0;            // m^3, by the samples
};

// What kernels need of it; refers to its samples. On a GPU they are a copy there.
struct FieldView {
  std::int32_t count[3] = {};
  float first[3] = {}, inverse_cell = 0;
  const float* distance = nullptr;
};

// A part of a solid: a closed form (box, sphere, capsule or cylinder, at its pose), or a closed surface of triangles
// that wind counter-clockwise seen from outside.
struct SolidPart {
  std::shared_ptr<const ShapeDesc> closed_form;  // null: the triangles
  std::vector<Vec3> vertices{};
  std::vector<std::array<std::uint32_t, 3>> triangles{};
};

// Samples `cell` apart and to `margin` beyond the solid. Within the box from `low` to `high` only, where a large mesh
// is needed in one place. Error: it would have too many samples, or there is nothing to sample.
// Null: no point of it lies between `low` and `high`.
Result<std::shared_ptr<const DistanceField>> make_field(std::span<const SolidPart> parts, double cell, double margin,
                                                        const Vec3& low = {-1e9, -1e9, -1e9},
                                                        const Vec3& high = {1e9, 1e9, 1e9});

// A terrain: heights on a regular grid, two triangles a cell, whose diagonal runs from (column, row) to (column + 1,
// row + 1); solid below, as far as it reaches.
struct HeightGrid {
  std::int32_t columns = 0, rows = 0;  // at least 2 x 2
  float size_x = 0, size_y = 0;        // m; the middle is at the origin
  std::vector<float> heights;          // [row * columns + column], m
  float highest = 0;
};
struct TerrainView {  // likewise
  std::int32_t columns = 0, rows = 0;
  float size_x = 0, size_y = 0;
  const float* heights = nullptr;
};

}  // namespace volvox::particles
