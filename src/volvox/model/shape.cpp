#include "volvox/model/shape.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"

namespace volvox::model {

double HeightFieldData::lowest() const {
  return heights.empty() ? 0.0 : *std::min_element(heights.begin(), heights.end());
}

double HeightFieldData::highest() const {
  return heights.empty() ? 0.0 : *std::max_element(heights.begin(), heights.end());
}

double HeightFieldData::height_at(double x, double y) const {
  if (columns < 2 || rows < 2) return 0;
  // Outside of the field the height is that of the nearest edge.
  const double u = clamp((x / size_x + 0.5) * (columns - 1), 0, columns - 1);
  const double v = clamp((y / size_y + 0.5) * (rows - 1), 0, rows - 1);
  const auto column = std::min(truncated<std::uint32_t>(u), columns - 2);
  const auto row = std::min(truncated<std::uint32_t>(v), rows - 2);
  const double s = u - column, t = v - row;
  const auto at = [&](std::uint32_t c, std::uint32_t r) -> double { return heights[std::size_t{r} * columns + c]; };
  const double near = at(column, row), far = at(column + 1, row + 1);
  if (s >= t) {  // the triangle below the diagonal
    const double corner = at(column + 1, row);
    return near + s * (corner - near) + t * (far - corner);
  }
  const double corner = at(column, row + 1);
  return near + t * (corner - near) + s * (far - corner);
}

std::string_view name(const Shape& shape) {
  static constexpr std::string_view names[] = {"sphere", "box",  "capsule", "cylinder",
                                               "plane",  "hull", "mesh",    "heightfield"};
  return names[shape.index()];
}

void Bounds::add(const Vec3& point) {
  for (int i = 0; i < 3; ++i) {
    low[i] = std::min(low[i], point[i]);
    high[i] = std::max(high[i], point[i]);
  }
}

void Bounds::add(const Bounds& other) {
  if (other.empty()) return;
  add(other.low);
  add(other.high);
}

namespace {

struct BoundsOf {
  const Pose& pose;

  Bounds around(const Vec3& center, const Vec3& half) const {
    Bounds result;
    result.add(center - half);
    result.add(center + half);
    return result;
  }
  Bounds of_points(const std::vector<Vec3>& points) const {
    Bounds result;
    for (const Vec3& point : points) result.add(pose * point);
    return result;
  }
  Bounds of_corners(const Vec3& low, const Vec3& high) const {
    Bounds result;
    for (int corner = 0; corner < 8; ++corner) {
      result.add(pose *
                 Vec3{(corner & 1) ? high.x : low.x, (corner & 2) ? high.y : low.y, (corner & 4) ? high.z : low.z});
    }
    return result;
  }

  Bounds operator()(const Sphere& s) const { return around(pose.position, {s.radius, s.radius, s.radius}); }
  Bounds operator()(const Box& box) const { return of_corners(-0.5 * box.size, 0.5 * box.size); }
  Bounds operator()(const Capsule& capsule) const {
    const Vec3 axis = pose.rotation * Vec3{0, 0, capsule.length / 2};
    const Vec3 reach{std::fabs(axis.x), std::fabs(axis.y), std::fabs(axis.z)};
    return around(pose.position, reach + Vec3{capsule.radius, capsule.radius, capsule.radius});
  }
  Bounds operator()(const Cylinder& cylinder) const {
    const Vec3 axis = pose.rotation * Vec3{0, 0, 1};
    Vec3 half;
    for (int i = 0; i < 3; ++i) {
      half[i] =
          std::fabs(axis[i]) * cylinder.length / 2 + cylinder.radius * std::sqrt(std::max(0.0, 1 - axis[i] * axis[i]));
    }
    return around(pose.position, half);
  }
  Bounds operator()(const Plane&) const { return {}; }
  Bounds operator()(const Hull& hull) const { return of_points(hull->points); }
  Bounds operator()(const Mesh& mesh) const { return of_points(mesh->vertices); }
  Bounds operator()(const HeightField& field) const {
    return of_corners({-field->size_x / 2, -field->size_y / 2, field->lowest()},
                      {field->size_x / 2, field->size_y / 2, field->highest()});
  }
};

}  // namespace

Bounds bounds(const Shape& shape, const Pose& pose) { return std::visit(BoundsOf{pose}, shape); }

}  // namespace volvox::model
