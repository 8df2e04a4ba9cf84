#include "volvox/scan/triangle_tree.h"

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/base/index.h"

namespace volvox::scan {

Vec3 nearest_on_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  // By the region of the triangle's plane that p projects into: a corner, an edge or the inside.
  const Vec3 ab = b - a, ac = c - a, ap = p - a;
  const double d1 = dot(ab, ap), d2 = dot(ac, ap);
  if (d1 <= 0 && d2 <= 0) return a;
  const Vec3 bp = p - b;
  const double d3 = dot(ab, bp), d4 = dot(ac, bp);
  if (d3 >= 0 && d4 <= d3) return b;
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return a + ab * (d1 / (d1 - d3));
  const Vec3 cp = p - c;
  const double d5 = dot(ab, cp), d6 = dot(ac, cp);
  if (d6 >= 0 && d5 <= d6) return c;
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return a + ac * (d2 / (d2 - d6));
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
  const double sum = va + vb + vc;
  if (!(sum > 0)) return a;  // no area, and none of the edges above
  return a + ab * (vb / sum) + ac * (vc / sum);
}

TriangleTree::TriangleTree(const model::MeshData& mesh) : mesh_(mesh) {
  VOLVOX_CHECK(!mesh.triangles.empty(), "a tree needs triangles");
  std::vector<Vec3> centers;
  for (const Triangle& t : mesh.triangles)
    centers.push_back((corner(mesh, t, 0) + corner(mesh, t, 1) + corner(mesh, t, 2)) / 3);
  order_.resize(mesh.triangles.size());
  for (std::uint32_t i = 0; i < order_.size(); ++i) order_[i] = i;
  nodes_.emplace_back();
  split(0, 0, narrow<std::uint32_t>(order_.size()), centers);
}

void TriangleTree::split(std::uint32_t node, std::uint32_t begin, std::uint32_t end, std::vector<Vec3>& centers) {
  VOLVOX_ASSERT(begin < end && end <= mesh_.triangles.size());
  model::Bounds box, middle;
  for (std::uint32_t i = begin; i < end; ++i) {
    for (int k = 0; k < 3; ++k) box.add(corner(mesh_, mesh_.triangles[order_[i]], k));
    middle.add(centers[order_[i]]);
  }
  nodes_[node].low = box.low;
  nodes_[node].high = box.high;
  if (end - begin <= 4) {
    nodes_[node].first = begin;
    nodes_[node].count = end - begin;
    return;
  }
  const Vec3 size = middle.high - middle.low;
  const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  const std::uint32_t half = begin + (end - begin) / 2;
  std::nth_element(order_.begin() + begin, order_.begin() + half, order_.begin() + end,
                   [&](std::uint32_t a, std::uint32_t b) {
                     return centers[a][axis] != centers[b][axis] ? centers[a][axis] < centers[b][axis] : a < b;
                   });
  const auto children = narrow<std::uint32_t>(nodes_.size());
  nodes_[node].first = children;
  nodes_.resize(nodes_.size() + 2);
  split(children, begin, half, centers);
  split(children + 1, half, end, centers);
}

namespace {

double distance_squared(const Vec3& p, const Vec3& low, const Vec3& high) {
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    const double d = std::max({low[i] - p[i], p[i] - high[i], 0.0});
    sum += d * d;
  }
  return sum;
}

}  // namespace

TriangleTree::Nearest TriangleTree::nearest(const Vec3& point) const {
  VOLVOX_ASSERT(finite(point));
  Nearest best;
  double least = 1e300;
  std::uint32_t stack[128];
  int depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const Node& node = nodes_[stack[--depth]];
    if (distance_squared(point, node.low, node.high) >= least) continue;
    for (std::uint32_t i = node.first; i < node.first + node.count; ++i) {
      const Triangle& t = mesh_.triangles[order_[i]];
      const Vec3 near = nearest_on_triangle(point, corner(mesh_, t, 0), corner(mesh_, t, 1), corner(mesh_, t, 2));
      const double d = length_squared(near - point);
      if (d < least) {
        least = d;
        best = {0, order_[i], near};
      }
    }
    if (node.count > 0) continue;
    // The nearer child is looked at first: it shortens the search in the other.
    const Node &a = nodes_[node.first], &b = nodes_[node.first + 1];
    const bool first = distance_squared(point, a.low, a.high) <= distance_squared(point, b.low, b.high);
    stack[depth++] = first ? node.first + 1 : node.first;
    stack[depth++] = first ? node.first : node.first + 1;
  }
  best.distance = std::sqrt(least);
  return best;
}

}  // namespace volvox::scan
