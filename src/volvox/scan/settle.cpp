#include "volvox/scan/settle.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/cell_grid.h"
#include "volvox/base/index.h"

namespace volvox::scan {

void remove_strays(Cloud& cloud, PlaneSet& planes) {
  std::vector<Vec3> free;
  std::vector<std::uint32_t> number;
  for (std::uint32_t i = 0; i < cloud.points.size(); ++i) {
    if (planes.label[i] >= 0) continue;
    free.push_back(cloud.points[i]);
    number.push_back(i);
  }
  if (free.empty() || planes.density <= 0) return;
  const double reach = 1.5 * planes.cell;
  // A third of the number of points that a surface of this density would have there.
  const double least = planes.density * pi * reach * reach / 3;
  const CellGrid grid(free, reach);
  std::vector<bool> stray(cloud.points.size());
  for (std::size_t k = 0; k < free.size(); ++k) {
    double around = 0;
    grid.near(free[k], reach, [&](std::uint32_t, double) { around += 1; });
    stray[number[k]] = around < least;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    if (stray[i]) continue;
    cloud.points[kept] = cloud.points[i];
    if (!cloud.colors.empty()) cloud.colors[kept] = cloud.colors[i];
    planes.label[kept++] = planes.label[i];
  }
  cloud.points.resize(kept);
  if (!cloud.colors.empty()) cloud.colors.resize(kept);
  planes.label.resize(kept);
}

double index_cell(const Cloud& cloud, double nodes) {
  const double cell = cell_for(cloud.points, 4);
  const double area = real(cloud.points.size()) / 4 * cell * cell * 0.6;
  return std::max(1.3 * std::sqrt(area / std::max(nodes, 1.0)), 1e-9);
}

bool project(const Vec3& p, const PlaneSet& planes, const std::vector<std::int32_t>& onto, double limit, Vec3& result) {
  if (onto.empty()) return false;
  const FittedPlane& a = planes.planes[onto[0]];
  if (onto.size() == 1) {
    result = p - a.normal * a.distance(p);
  } else if (onto.size() == 2) {
    // The nearest point on the intersection line: p minus a linear combination of both normals.
    const FittedPlane& b = planes.planes[onto[1]];
    const double c = dot(a.normal, b.normal), det = 1 - c * c;
    if (det < 0.06) return false;
    const double da = a.distance(p), db = b.distance(p);
    result = p - a.normal * ((da - c * db) / det) - b.normal * ((db - c * da) / det);
  } else {
    const FittedPlane &b = planes.planes[onto[1]], &d = planes.planes[onto[2]];
    const Vec3 bd = cross(b.normal, d.normal);
    const double det = dot(a.normal, bd);
    if (std::fabs(det) < 0.1) return false;
    result = (bd * a.offset + cross(d.normal, a.normal) * b.offset + cross(a.normal, b.normal) * d.offset) / det;
  }
  return length(result - p) <= limit;
}

namespace {

struct Belongings {
  Vec3 sum;
  double count = 0;
  std::vector<std::pair<std::int32_t, std::uint32_t>> planes;  // plane and its number of points

  void add(const Vec3& p, std::int32_t plane) {
    sum += p;
    count += 1;
    for (auto& [known, points] : planes) {
      if (known == plane) {
        ++points;
        return;
      }
    }
    planes.push_back({plane, 1});
  }
};

// The planes with enough points, sorted by decreasing number of points.
std::vector<std::int32_t> main_planes(Belongings& own) {
  std::sort(own.planes.begin(), own.planes.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::int32_t> result;
  for (const auto& [plane, points] : own.planes)
    if (plane >= 0 && points >= 3 && points >= 0.1 * own.count && result.size() < 3) result.push_back(plane);
  return result;
}

}  // namespace

NodePlanes settle(const Cloud& cloud, const PlaneSet& planes, NodeIndex& index, std::vector<Vec3>& nodes,
                  const std::vector<bool>& alive, int rounds, bool sharpen) {
  NodePlanes result(nodes.size());
  for (int round = 0; round < rounds; ++round) {
    std::vector<Belongings> own(nodes.size());
    for (std::size_t i = 0; i < cloud.points.size(); ++i) {
      const std::uint32_t node = index.nearest<1>(cloud.points[i])[0].node;
      own[node].add(cloud.points[i], planes.label[i]);
    }
    const bool last = round + 1 == rounds;
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
      if (!alive[n] || own[n].count < 1) continue;
      nodes[n] = own[n].sum / own[n].count;
      if (last && sharpen) {
        // If three planes do not intersect nearby, tries two, then one.
        std::vector<std::int32_t> onto = main_planes(own[n]);
        Vec3 place;
        while (!onto.empty() && !project(nodes[n], planes, onto, index.cell(), place)) onto.pop_back();
        if (!onto.empty()) nodes[n] = place;
        result[n] = std::move(onto);
      }
      index.move(n, nodes[n]);
    }
  }
  return result;
}

void stretch_boundary(const Cloud& cloud, const PlaneSet& planes, const NodePlanes& node_planes, const NodeIndex& index,
                      const ManifoldMesh& net, std::vector<Vec3>& nodes) {
  // All directions first, from the current positions of the nodes.
  std::vector<Vec3> outward(nodes.size());
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    Vec3 inside;
    std::vector<std::uint32_t> ends;
    for (const ManifoldMesh::Spoke& spoke : net.spokes(n)) {
      inside += nodes[spoke.to] - nodes[n];
      if (spoke.faces == 1) ends.push_back(spoke.to);
    }
    if (ends.size() != 2) continue;
    const Vec3 along = normalized(nodes[ends[1]] - nodes[ends[0]]);
    Vec3 out = inside * -1 - along * dot(inside * -1, along);
    for (const std::int32_t plane : node_planes[n])
      out -= planes.planes[plane].normal * dot(out, planes.planes[plane].normal);
    outward[n] = normalized(out);
  }
  std::vector<std::vector<double>> reach(nodes.size());
  for (const Vec3& p : cloud.points) {
    const std::uint32_t n = index.nearest<1>(p)[0].node;
    if (outward[n] != Vec3{}) reach[n].push_back(dot(p - nodes[n], outward[n]));
  }
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    if (reach[n].size() < 6) continue;
    std::sort(reach[n].begin(), reach[n].end());
    const auto at = [&](double part) { return reach[n][truncated<std::size_t>(part * real(reach[n].size() - 1))]; };
    // For evenly distributed points, the end is beyond the 90 % quantile by a quarter of its distance to the median.
    const double end = at(0.9) + (at(0.9) - at(0.5)) * 0.25;
    if (end <= 0 || end > index.cell()) continue;
    nodes[n] += outward[n] * end;
    Vec3 place;
    if (!node_planes[n].empty() && project(nodes[n], planes, node_planes[n], 0.5 * index.cell(), place))
      nodes[n] = place;
  }
}

}  // namespace volvox::scan
