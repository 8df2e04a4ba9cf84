// Gilbert, Johnson and Keerthi's algorithm for the distance of convex sets, on their
// Minkowski difference a - b, and the expanding polytope (van den Bergen) where they overlap.
#include "volvox/physics/native/gjk.h"

#include <algorithm>
#include <cmath>

#include "volvox/physics/native/minkowski.h"

namespace volvox::physics::native {
namespace {

// The point of a triangle nearest to the origin, as weights of its corners.
void nearest_on_triangle(const Vec3& a, const Vec3& b, const Vec3& c, double (&weight)[3]) {
  const auto set = [&](double x, double y, double z) { weight[0] = x, weight[1] = y, weight[2] = z; };
  const Vec3 ab = b - a, ac = c - a;
  const double d1 = -dot(ab, a), d2 = -dot(ac, a);
  if (d1 <= 0 && d2 <= 0) return set(1, 0, 0);
  const double d3 = -dot(ab, b), d4 = -dot(ac, b);
  if (d3 >= 0 && d4 <= d3) return set(0, 1, 0);
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) {
    const double t = d1 / (d1 - d3);
    return set(1 - t, t, 0);
  }
  const double d5 = -dot(ab, c), d6 = -dot(ac, c);
  if (d6 >= 0 && d5 <= d6) return set(0, 0, 1);
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) {
    const double t = d2 / (d2 - d6);
    return set(1 - t, 0, t);
  }
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    const double t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    return set(0, 1 - t, t);
  }
  const double scale = 1 / (va + vb + vc);
  set(va * scale, vb * scale, vc * scale);
}

// A point, segment, triangle or tetrahedron of the difference, and its point nearest to the
// origin.
struct Simplex {
  Difference corner[4];
  double weight[4] = {1, 0, 0, 0};
  int count = 0;

  Vec3 point() const {
    Vec3 p;
    for (int i = 0; i < count; ++i) p += corner[i].point * weight[i];
    return p;
  }
  bool has(const Difference& d) const {
    for (int i = 0; i < count; ++i) {
      if (corner[i].point == d.point) return true;
    }
    return false;
  }
  // Keeps the corners that carry weight.
  void shrink() {
    int kept = 0;
    for (int i = 0; i < count; ++i) {
      if (weight[i] <= 0) continue;
      corner[kept] = corner[i];
      weight[kept++] = weight[i];
    }
    count = kept;
  }
  // True if the origin lies inside.
  bool reduce();

 private:
  void reduce_segment();
  void reduce_triangle(const int (&index)[3], double (&best)[4], double& least) const;
};

void Simplex::reduce_segment() {
  const Vec3 d = corner[1].point - corner[0].point;
  const double size = length_squared(d);
  const double t = size > 0 ? clamp(-dot(corner[0].point, d) / size, 0, 1) : 0;
  weight[0] = 1 - t, weight[1] = t;
}

void Simplex::reduce_triangle(const int (&index)[3], double (&best)[4], double& least) const {
  double w[3];
  nearest_on_triangle(corner[index[0]].point, corner[index[1]].point, corner[index[2]].point, w);
  const Vec3 p = corner[index[0]].point * w[0] + corner[index[1]].point * w[1] + corner[index[2]].point * w[2];
  if (!(length_squared(p) < least)) return;
  least = length_squared(p);
  std::fill(best, best + 4, 0.0);
  for (int i = 0; i < 3; ++i) best[index[i]] = w[i];
}

bool Simplex::reduce() {
  double best[4] = {1, 0, 0, 0};
  double least = 1e300;
  if (count == 1) {
    weight[0] = 1;
    return false;
  }
  if (count == 2) {
    reduce_segment();
  } else if (count == 3) {
    reduce_triangle({0, 1, 2}, best, least);
    std::copy(best, best + 4, weight);
  } else {
    // Outside of a face if the origin and the opposite corner lie on different sides of it.
    constexpr int faces[4][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 3, 2, 0}};
    bool inside = true;
    for (const auto& f : faces) {
      const Vec3& a = corner[f[0]].point;
      const Vec3 n = cross(corner[f[1]].point - a, corner[f[2]].point - a);
      const double origin = -dot(n, a), opposite = dot(n, corner[f[3]].point - a);
      const bool flat = std::fabs(opposite) <= 1e-14 * length(n) * (length(a) + 1e-12);
      if (!flat && origin * opposite > 0) continue;
      inside = false;
      const int index[3] = {f[0], f[1], f[2]};
      reduce_triangle(index, best, least);
    }
    if (inside) return true;
    std::copy(best, best + 4, weight);
  }
  shrink();
  return false;
}

Proximity apart(const Simplex& simplex, const Vec3& v, double distance) {
  Proximity result;
  result.near = true;
  result.distance = distance;
  result.normal = v / distance;
  for (int i = 0; i < simplex.count; ++i) {
    result.on_a += simplex.corner[i].a * simplex.weight[i];
    result.on_b += simplex.corner[i].b * simplex.weight[i];
  }
  return result;
}

}  // namespace

Proximity proximity(const Convex& a, const Convex& b, const Placement& place, double reach, GjkCount& count) {
  ++count.calls;
  Vec3 corners[3];
  const bool triangle = b.points.size() == 3;
  for (std::size_t i = 0; triangle && i < 3; ++i) corners[i] = place.to_first(b.points[i]);
  const Minkowski difference{a, b, place, triangle ? corners : nullptr};
  Simplex simplex;
  Vec3 v = a.centre - place.to_first(b.centre);
  if (length_squared(v) < 1e-20) v = {0, 0, 1};
  simplex.corner[0] = difference.support(-v);
  simplex.count = 1;
  v = simplex.corner[0].point;
  for (int i = 0; i < 64; ++i) {
    ++count.iterations;
    const double size = length_squared(v);
    if (size < 1e-22) break;
    const Difference next = difference.support(-v);
    const double progress = dot(v, next.point);
    // v.w / |v| bounds the distance from below.
    if (progress > 0 && progress * progress > size * reach * reach) return {};
    if (simplex.has(next) || size - progress <= 1e-13 * size) return apart(simplex, v, std::sqrt(size));
    simplex.corner[simplex.count++] = next;
    if (simplex.reduce()) break;
    const Vec3 nearer = simplex.point();
    if (!(length_squared(nearer) < size)) return apart(simplex, nearer, std::sqrt(length_squared(nearer)) + 1e-300);
    v = nearer;
  }
  Difference start[4];
  std::copy(simplex.corner, simplex.corner + 4, start);
  return overlap(difference, start, simplex.count);
}

}  // namespace volvox::physics::native
