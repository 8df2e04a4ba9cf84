#include "volvox/particles/distance_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "volvox/base/index.h"
#include "volvox/particles/shapes.h"
#include "volvox/particles/triangle.h"

namespace volvox::particles {
namespace {

constexpr double most_samples = 3e7;  // 120 MB

using Triangle = std::array<std::uint32_t, 3>;

// A closed surface, with what tells inside from outside at its faces, edges and corners: the sum of the normals of the
// faces that meet there, at a corner weighted by their angles (Baerentzen and Aanaes 2005).
class Surface {
 public:
  explicit Surface(const SolidPart& part) : part_(part), corner_normals_(part.vertices.size()) {
    for (const Triangle& t : part.triangles) {
      const Vec3 corners[3] = {part.vertices[t[0]], part.vertices[t[1]], part.vertices[t[2]]};
      const Vec3 normal = normalized(cross(corners[1] - corners[0], corners[2] - corners[0]));
      face_normals_.push_back(normal);
      for (int k = 0; k < 3; ++k) {
        const Vec3 a = normalized(corners[(k + 1) % 3] - corners[k]), b = normalized(corners[(k + 2) % 3] - corners[k]);
        corner_normals_[t[k]] += normal * volvox::acos(clamp(dot(a, b), -1, 1));
        edge_normals_[std::minmax(t[k], t[(k + 1) % 3])] += normal;
      }
    }
  }

  double signed_distance(std::uint32_t triangle, const Vec3& p) const {
    const Triangle& t = part_.triangles[triangle];
    const auto [point, feature] =
        nearest_on_triangle(p, part_.vertices[t[0]], part_.vertices[t[1]], part_.vertices[t[2]]);
    Vec3 normal = face_normals_[triangle];
    if (feature >= TriangleFeature::edge_ab && feature <= TriangleFeature::edge_ca) {
      const auto k = number_of(feature) - number_of(TriangleFeature::edge_ab);
      normal = edge_normals_.at(std::minmax(t[k], t[(k + 1) % 3]));
    } else if (feature >= TriangleFeature::corner_a) {
      normal = corner_normals_[t[number_of(feature) - number_of(TriangleFeature::corner_a)]];
    }
    const Vec3 way = p - point;
    return dot(way, normal) < 0 ? -length(way) : length(way);
  }
  const SolidPart& part() const { return part_; }

 private:
  const SolidPart& part_;
  std::vector<Vec3> face_normals_, corner_normals_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Vec3> edge_normals_;
};

// The samples of one surface: each knows its nearest triangle. Those beside a triangle look at it; then the others ask
// their neighbours, in sweeps over the grid in all eight directions, whose nearest triangle is their own or next to it.
class Sampler {
 public:
  Sampler(const DistanceField& field, const Surface& surface)
      : field_(field), surface_(surface), nearest_(field.distance.size(), nobody), distance_(field.distance.size()) {}

  std::vector<double> sample() {
    const auto& part = surface_.part();
    for (std::uint32_t t = 0; t < part.triangles.size(); ++t) look_around(t);
    // A grid that holds a piece of a large surface may have none of it inside.
    if (std::all_of(nearest_.begin(), nearest_.end(), [](std::uint32_t t) { return t == nobody; })) look_at_all();
    for (int pass = 0; pass < 2; ++pass)
      for (int way = 0; way < 8; ++way) sweep({(way & 1) != 0, (way & 2) != 0, (way & 4) != 0});
    return std::move(distance_);
  }

 private:
  static constexpr std::uint32_t nobody = ~0u;

  Vec3 place(int x, int y, int z) const {
    return Vec3{field_.first[0] + x * field_.cell, field_.first[1] + y * field_.cell,
                field_.first[2] + z * field_.cell};
  }
  std::size_t number(int x, int y, int z) const {
    return (static_cast<std::size_t>(z) * field_.count[1] + y) * field_.count[0] + x;
  }
  void offer(std::size_t sample, const Vec3& p, std::uint32_t triangle) {
    if (nearest_[sample] == triangle) return;
    const double d = surface_.signed_distance(triangle, p);
    if (nearest_[sample] != nobody && std::fabs(d) >= std::fabs(distance_[sample])) return;
    nearest_[sample] = triangle;
    distance_[sample] = d;
  }
  void look_around(std::uint32_t t) {
    const auto& part = surface_.part();
    int from[3], to[3];
    for (int k = 0; k < 3; ++k) {
      double low = 1e300, high = -1e300;
      for (const std::uint32_t v : part.triangles[t]) {
        low = std::min(low, part.vertices[v][k]);
        high = std::max(high, part.vertices[v][k]);
      }
      const double last = field_.count[k] - 1.0;
      from[k] = truncated(clamp(std::floor((low - field_.first[k]) / field_.cell) - 1, 0, last));
      to[k] = truncated(clamp(std::ceil((high - field_.first[k]) / field_.cell) + 1, 0, last));
      if (high < field_.first[k] - 2 * field_.cell || low > field_.first[k] + (last + 2) * field_.cell) return;
    }
    for (int z = from[2]; z <= to[2]; ++z)
      for (int y = from[1]; y <= to[1]; ++y)
        for (int x = from[0]; x <= to[0]; ++x) offer(number(x, y, z), place(x, y, z), t);
  }
  void look_at_all() {
    for (std::uint32_t t = 0; t < surface_.part().triangles.size(); ++t) offer(0, place(0, 0, 0), t);
  }
  void sweep(const std::array<bool, 3>& back) {
    const auto& n = field_.count;
    const auto at = [&](int k, int i) { return back[k] ? n[k] - 1 - i : i; };
    const int step[3] = {back[0] ? 1 : -1, back[1] ? 1 : -1, back[2] ? 1 : -1};  // towards those already visited
    for (int k = 0; k < n[2]; ++k)
      for (int j = 0; j < n[1]; ++j)
        for (int i = 0; i < n[0]; ++i) {
          const int x = at(0, i), y = at(1, j), z = at(2, k);
          const std::size_t here = number(x, y, z);
          const Vec3 p = place(x, y, z);
          if (i > 0) ask(here, p, number(x + step[0], y, z));
          if (j > 0) ask(here, p, number(x, y + step[1], z));
          if (k > 0) ask(here, p, number(x, y, z + step[2]));
        }
  }
  void ask(std::size_t here, const Vec3& p, std::size_t neighbour) {
    if (nearest_[neighbour] != nobody) offer(here, p, nearest_[neighbour]);
  }

  const DistanceField& field_;
  const Surface& surface_;
  std::vector<std::uint32_t> nearest_;
  std::vector<double> distance_;
};

void add_bounds(const SolidPart& part, Vec3& low, Vec3& high) {
  const auto add = [&](const Vec3& p) {
    for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
  };
  for (const Vec3& v : part.vertices) add(v);
  if (!part.closed_form) return;
  const ShapeView view = view_of(*part.closed_form);
  for (int corner = 0; corner < 8; ++corner) {
    Vec3 p{view.center[0], view.center[1], view.center[2]};
    for (int axis = 0; axis < 3; ++axis)
      for (int k = 0; k < 3; ++k) p[k] += (corner >> axis & 1 ? 1 : -1) * view.half[axis] * view.axes[axis][k];
    add(p);
  }
}

void lower_to(const SolidPart& part, DistanceField& field) {
  const auto smaller = [&](std::size_t i, double d) { field.distance[i] = std::min(field.distance[i], to_float(d)); };
  if (!part.closed_form) {
    const Surface surface(part);
    const std::vector<double> found = Sampler(field, surface).sample();
    for (std::size_t i = 0; i < found.size(); ++i) smaller(i, found[i]);
    return;
  }
  const ShapeView view = view_of(*part.closed_form);
  std::size_t i = 0;
  for (int z = 0; z < field.count[2]; ++z)
    for (int y = 0; y < field.count[1]; ++y)
      for (int x = 0; x < field.count[0]; ++x)
        smaller(i++,
                distance_to(view, {field.first[0] + to_float(x * field.cell), field.first[1] + to_float(y * field.cell),
                                   field.first[2] + to_float(z * field.cell)})
                    .distance);
}

// A sample counts by how much of its cell is inside, if the surface is flat there.
double volume_of(const DistanceField& field) {
  double cells = 0;
  for (const float d : field.distance) cells += clamp(0.5 - d / field.cell, 0, 1);
  return cells * field.cell * field.cell * field.cell;
}

}  // namespace

Result<std::shared_ptr<const DistanceField>> make_field(std::span<const SolidPart> parts, double cell, double margin,
                                                        const Vec3& low, const Vec3& high) {
  auto field = std::make_shared<DistanceField>();
  field->low = {1e300, 1e300, 1e300}, field->high = {-1e300, -1e300, -1e300};
  for (const SolidPart& part : parts) add_bounds(part, field->low, field->high);
  double samples = 1;
  for (int k = 0; k < 3; ++k) {
    field->low[k] = std::max(field->low[k], low[k]), field->high[k] = std::min(field->high[k], high[k]);
    if (!(field->low[k] < field->high[k])) return std::shared_ptr<const DistanceField>();
    samples *= (field->high[k] - field->low[k] + 2 * margin) / cell + 2;
  }
  if (!(samples <= most_samples))
    return Error(
        fmt::format("a solid of {:.3g} x {:.3g} x {:.3g} m has {:.3g} million samples of its distance {:.3g} m "
                    "apart, and at most {:.0f} million can be kept",
                    field->high.x - field->low.x, field->high.y - field->low.y, field->high.z - field->low.z,
                    samples / 1e6, cell, most_samples / 1e6),
        "use a larger spacing of particles, or narrower bounds of the world of particles");
  field->cell = cell;
  field->inverse_cell = to_float(1 / cell);
  std::size_t total = 1;
  for (int k = 0; k < 3; ++k) {
    const double extent = field->high[k] - field->low[k] + 2 * margin;
    field->count[k] = truncated(std::ceil(extent / cell)) + 1;
    const double over = (field->count[k] - 1) * cell - extent;  // faces lie between samples evenly on both sides
    field->first[k] = to_float(field->low[k] - margin - over / 2);
    total *= static_cast<std::size_t>(field->count[k]);
  }
  field->distance.assign(total, 1e30f);
  for (const SolidPart& part : parts) lower_to(part, *field);
  field->volume = volume_of(*field);
  return std::shared_ptr<const DistanceField>(std::move(field));
}

}  // namespace volvox::particles
