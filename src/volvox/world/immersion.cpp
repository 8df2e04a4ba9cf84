// How deep a link lies in the fluid: by the level of the fluid beside it, because there are no particles within it.
#include <algorithm>
#include <array>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/world/matter.h"

namespace volvox::world {
namespace {

using particles::Point;
using particles::ShapeView;
using particles::Vector;
using particles::vector_of;

constexpr int samples = 8;        // along each side of the box around a link
constexpr int ring = 3;           // spacings around that box in which the level is looked for
constexpr int most_columns = 64;  // along each side; wider links have wider columns

// Up, and two directions across.
struct Axes {
  Vec3 up{0, 0, 1}, across{1, 0, 0}, along{0, 1, 0};
};
Axes axes_of(const Vec3& gravity) {
  Axes axes;
  if (length(gravity) == 0) return axes;
  axes.up = normalized(-gravity);
  axes.across = perpendicular(axes.up);
  axes.along = cross(axes.up, axes.across);
  return axes;
}

Vec3 in(const Axes& axes, const Vec3& p) { return {dot(axes.across, p), dot(axes.along, p), dot(axes.up, p)}; }

// Half the sides of the upright box around the box around a shape.
Vec3 half_box(const ShapeView& s, const Axes& axes) {
  Vec3 half;
  for (int k = 0; k < 3; ++k) {
    const Vec3 side = in(axes, Vec3{s.axes[k][0], s.axes[k][1], s.axes[k][2]} * s.half[k]);
    half += Vec3{std::fabs(side.x), std::fabs(side.y), std::fabs(side.z)};
  }
  return half;
}

// The median of the tops of columns of fluid beside a box; none: there is no fluid.
class Columns {
 public:
  Columns(const Vec3& middle, const Vec3& half, double spacing) : middle_(middle), half_(half) {
    reach_ = {half.x + ring * spacing, half.y + ring * spacing, 0};
    for (int k = 0; k < 2; ++k) {
      count_[k] = std::min(most_columns, truncated(std::ceil(2 * reach_[k] / spacing)));
      size_[k] = 2 * reach_[k] / count_[k];
    }
    tops_.assign(narrow<std::size_t>(count_[0]) * count_[1], nothing);
  }
  void add(const Vec3& p) {
    const double x = p.x - middle_.x + reach_.x, y = p.y - middle_.y + reach_.y;
    if (x < 0 || y < 0 || x >= 2 * reach_.x || y >= 2 * reach_.y) return;
    const int column = std::min(count_[0] - 1, truncated(x / size_[0])),
              row = std::min(count_[1] - 1, truncated(y / size_[1]));
    double& top = tops_[narrow<std::size_t>(row) * count_[0] + column];
    top = std::max(top, p.z);
  }
  // Columns beside the box; if none has fluid, all of them.
  double level() const {
    for (const bool beside : {true, false}) {
      std::vector<double> found;
      for (int row = 0; row < count_[1]; ++row)
        for (int column = 0; column < count_[0]; ++column) {
          const double top = tops_[narrow<std::size_t>(row) * count_[0] + column];
          const bool covered = std::fabs((column + 0.5) * size_[0] - reach_.x) < half_.x &&
                               std::fabs((row + 0.5) * size_[1] - reach_.y) < half_.y;
          if (top != nothing && !(beside && covered)) found.push_back(top);
        }
      if (found.empty()) continue;
      const auto middle = found.begin() + found.size() / 2;
      std::nth_element(found.begin(), middle, found.end());
      return *middle;
    }
    return nothing;
  }

 private:
  static constexpr double nothing = -1e300;
  Vec3 middle_, half_, reach_;
  int count_[2] = {};
  double size_[2] = {};
  std::vector<double> tops_;
};

bool touches(const ShapeView& shape, std::span<const Point> fluid, float distance) {
  for (const Point& p : fluid)
    if (least_distance(shape, xyz(p)) < distance && distance_to(shape, xyz(p)).distance < distance) return true;
  return false;
}

// The part of a shape below a level, along `up`.
double part_below(const ShapeView& s, const Axes& axes, double level) {
  int inside = 0, below = 0;
  for (int i = 0; i < samples * samples * samples; ++i) {
    const int at[3] = {i % samples, i / samples % samples, i / (samples * samples)};
    Vector p = vector_of(s.center);
    for (int k = 0; k < 3; ++k)
      p = p + vector_of(s.axes[k]) * (s.half[k] * (2 * (static_cast<float>(at[k]) + 0.5f) / samples - 1));
    if (distance_to(s, p).distance >= 0) continue;
    ++inside;
    below += dot(axes.up, Vec3{p.x, p.y, p.z}) < level;
  }
  return inside > 0 ? real(below) / real(inside) : 0;
}

}  // namespace

Immersion Matter::immersion(LinkIndex link) const {
  Immersion found;
  if (!description_->fluid) return found;
  const double spacing = description_->fluid->spacing;
  const Axes axes = axes_of(gravity_);
  for (const particles::ShapeIndex index : shapes_of(link)) {
    const ShapeView shape = view_of(particles_->shape(index));
    if (shape.kind == particles::ShapeKind::plane || shape.kind == particles::ShapeKind::terrain) continue;
    found.wet = touches(shape, particles_->fluid_positions(), to_float(spacing));
    if (!found.wet) return found;
    Columns columns(in(axes, {shape.center[0], shape.center[1], shape.center[2]}), half_box(shape, axes), spacing);
    for (const Point& p : particles_->fluid_positions()) columns.add(in(axes, {p.x, p.y, p.z}));
    found.submerged = part_below(shape, axes, columns.level() + 0.5 * spacing);
    return found;
  }
  return found;
}

}  // namespace volvox::world
