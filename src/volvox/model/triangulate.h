// Divides the polygons of mesh files into triangles. Internal to model/.
// In the unit of the file. One Triangulator for one mesh and one thread; the same polygons give the same triangles.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/math.h"

namespace volvox::model {

class Triangulator {
 public:
  static constexpr const char* too_much = "its polygons have too many corners that point inwards";

  // Appends the triangles of a polygon: a fan where it is convex, otherwise by cutting off ears. False: the polygons of
  // this mesh need more work than a reader may do.
  bool add(const std::vector<Vec3>& vertices, std::span<const std::uint32_t> polygon,
           std::vector<std::array<std::uint32_t, 3>>& triangles);

 private:
  bool cut_ears(std::vector<std::array<double, 2>>& points, std::vector<std::uint32_t>& corners,
                std::vector<std::array<std::uint32_t, 3>>& triangles);

  std::int64_t work_left_ = 100'000'000;  // corners that are looked at or moved: below a second
};

}  // namespace volvox::model
