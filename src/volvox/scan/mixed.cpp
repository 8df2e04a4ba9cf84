#include "volvox/scan/mixed.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/scan/settle.h"
#include "volvox/scan/triangle_tree.h"

namespace volvox::scan {
namespace {

constexpr double slab =
    0.05;  // m, thickness behind a rectangle: more than the penetration of a wheel, less than most walls
constexpr double square = 0.04;  // cosine of an angle that counts as a right angle: 2 degrees
constexpr double filled = 0.97;  // fraction of a rectangle that must be covered

// The triangles of one plane.
struct Face {
  std::vector<std::uint32_t> triangles;
  Vec3 normal;  // of the front
  double area = 0;
  // The bounding rectangle along its longest boundary edge: centre, directions, full lengths.
  Vec3 middle, u, v;
  double length = 0, width = 0;
  bool used = false;

  std::array<Vec3, 4> corners() const {
    const Vec3 a = u * (length / 2), b = v * (width / 2);
    return {middle - a - b, middle + a - b, middle + a + b, middle - a + b};
  }
};

std::int32_t plane_of(const TriangleMesh& mesh, const Triangle& triangle, const PlaneSet& set, double reach) {
  const Vec3 normal = normalized(area_normal(mesh, triangle));
  const Vec3 middle = (corner(mesh, triangle, 0) + corner(mesh, triangle, 1) + corner(mesh, triangle, 2)) / 3;
  std::int32_t best = -1;
  for (std::int32_t p = 0; p < narrow<std::int32_t>(set.planes.size()); ++p) {
    const double distance = std::fabs(set.planes[p].distance(middle));
    if (std::fabs(dot(set.planes[p].normal, normal)) < 0.98 || distance >= reach) continue;
    reach = distance;
    best = p;
  }
  return best;
}

void frame(const TriangleMesh& mesh, Face& face) {
  std::vector<std::array<std::uint32_t, 2>> sides;
  Vec3 normal;
  for (const std::uint32_t t : face.triangles) {
    const Triangle& triangle = mesh.triangles[t];
    normal += area_normal(mesh, triangle);
    for (int i = 0; i < 3; ++i) sides.push_back({triangle[i], triangle[(i + 1) % 3]});
  }
  face.area = length(normal) / 2;
  face.normal = normalized(normal);
  double longest = 0;
  for (const auto& [a, b] : sides) {
    if (std::find(sides.begin(), sides.end(), std::array{b, a}) != sides.end()) continue;  // not on the boundary
    const double size = length(mesh.vertices[b] - mesh.vertices[a]);
    if (size <= longest) continue;
    longest = size;
    face.u = normalized(mesh.vertices[b] - mesh.vertices[a]);
  }
  face.u = normalized(face.u - face.normal * dot(face.u, face.normal));
  face.v = cross(face.normal, face.u);
  double low[2] = {1e300, 1e300}, high[2] = {-1e300, -1e300}, height = 0;
  for (const auto& side : sides) {
    const Vec3& p = mesh.vertices[side[0]];
    const double at[2] = {dot(p, face.u), dot(p, face.v)};
    for (int k = 0; k < 2; ++k) low[k] = std::min(low[k], at[k]), high[k] = std::max(high[k], at[k]);
    height += dot(p, face.normal) / real(sides.size());
  }
  face.length = high[0] - low[0];
  face.width = high[1] - low[1];
  face.middle = face.u * ((low[0] + high[0]) / 2) + face.v * ((low[1] + high[1]) / 2) + face.normal * height;
}

BoxPart box_of(const Vec3& middle, const Vec3& u, const Vec3& w, const Vec3& size) {
  return {{middle, Quat::from_axes(u, w)}, size};
}

}  // namespace

void find_boxes(const TriangleMesh& mesh, const PlaneSet& set, std::vector<BoxPart>& boxes, TriangleMesh& rest) {
  const double reach = std::max(3 * set.noise, 1e-4);
  std::vector<Face> faces(set.planes.size());
  std::vector<std::int32_t> face_of(mesh.triangles.size());
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    face_of[t] = plane_of(mesh, mesh.triangles[t], set, reach);
    if (face_of[t] >= 0) faces[face_of[t]].triangles.push_back(t);
  }
  for (Face& face : faces)
    if (!face.triangles.empty()) frame(mesh, face);
  const auto is_rectangle = [&](const Face& face) {
    return !face.triangles.empty() && face.area > filled * face.length * face.width;
  };

  // A solid box: a rectangle on top and one below each of its sides, all of the same height.
  std::vector<BoxPart> solids;
  for (Face& top : faces) {
    if (top.used || !is_rectangle(top) || top.normal.z < 0.95) continue;
    std::vector<Face*> below;
    double depth = 0;
    const auto corners = top.corners();
    for (int i = 0; i < 4; ++i) {
      const Vec3 &a = corners[i], &b = corners[(i + 1) % 4];
      const Vec3 outward = cross(normalized(b - a), top.normal);
      for (Face& side : faces) {
        if (side.used || &side == &top || !is_rectangle(side) || dot(side.normal, outward) < 0.98) continue;
        // The upper corners of the side face must be the ends of this side.
        const auto at = side.corners();
        const auto near = [&](const Vec3& p) {
          return std::any_of(at.begin(), at.end(), [&](const Vec3& q) { return length(p - q) < 2 * reach; });
        };
        const double down = 2 * dot(top.middle - side.middle, top.normal);
        if (!near(a) || !near(b) || down < reach || (!below.empty() && std::fabs(down - depth) > 2 * reach)) continue;
        if (below.empty()) depth = down;
        below.push_back(&side);
        break;
      }
    }
    if (below.size() != 4) continue;
    top.used = true;
    for (Face* side : below) side->used = true;
    solids.push_back(box_of(top.middle - top.normal * (depth / 2), top.u, top.normal, {top.length, top.width, depth}));
  }
  boxes.insert(boxes.end(), solids.begin(), solids.end());

  // A slab: a rectangle, possibly with holes where solid boxes stand on it.
  for (Face& face : faces) {
    if (face.used || face.triangles.empty() || std::min(face.length, face.width) < reach) continue;
    double covered = face.area;
    for (const BoxPart& solid : solids) {
      const Vec3 foot = solid.pose * Vec3{0, 0, -solid.size.z / 2};
      const bool on_it = std::fabs(dot(foot - face.middle, face.normal)) < 2 * reach &&
                         dot(solid.pose.rotation * Vec3{0, 0, 1}, face.normal) > 1 - square &&
                         std::fabs(dot(foot - face.middle, face.u)) < face.length / 2 &&
                         std::fabs(dot(foot - face.middle, face.v)) < face.width / 2;
      if (on_it) covered += solid.size.x * solid.size.y;
    }
    if (covered < filled * face.length * face.width) continue;
    face.used = true;
    boxes.push_back(
        box_of(face.middle - face.normal * (slab / 2), face.u, face.normal, {face.length, face.width, slab}));
  }
  TriangleMesh left = mesh;
  left.triangles.clear();
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t)
    if (face_of[t] < 0 || !faces[face_of[t]].used) left.triangles.push_back(mesh.triangles[t]);
  rest = left.triangles.empty() ? TriangleMesh{} : welded(left, 1e-9);
}

MixedModel build_mixed(Cloud cloud, const PlaneFittingOptions& options, GsrmOptions net, const Progress& progress) {
  PlaneModel flat = fit_planes(cloud, options);
  MixedModel model;
  const double all = real(cloud.points.size());
  // Points that are not on the polygons have label -1.
  PlaneSet unexplained = flat.set;
  if (!flat.mesh.triangles.empty()) {
    const TriangleTree tree(flat.mesh);
    for (std::size_t i = 0; i < cloud.points.size(); ++i)
      unexplained.label[i] = tree.nearest(cloud.points[i]).distance < 4 * flat.set.noise ? 0 : -1;
  } else {
    std::fill(unexplained.label.begin(), unexplained.label.end(), -1);
  }
  if (progress) progress(0.3);
  remove_strays(cloud, unexplained);
  Cloud free;
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    if (unexplained.label[i] >= 0) continue;
    free.points.push_back(cloud.points[i]);
    if (!cloud.colors.empty()) free.colors.push_back(cloud.colors[i]);
  }
  find_boxes(flat.mesh, flat.set, model.boxes, model.rest);
  model.mesh = std::move(flat.mesh);
  model.set = std::move(flat.set);
  constexpr std::size_t least = 64;  // smallest number of points for learning a surface
  if (free.points.size() >= least) {
    PlaneSet none{
        model.set.cell, model.set.noise, model.set.density, {}, std::vector<std::int32_t>(free.points.size(), -1)};
    net.nodes =
        std::max<std::size_t>(16, narrow<std::size_t>(std::lround(real(net.nodes) * real(free.points.size()) / all)));
    const TriangleMesh learned = build_gsrm(free, none, net, progress);
    for (TriangleMesh* mesh : {&model.mesh, &model.rest}) {
      const auto first = narrow<std::uint32_t>(mesh->vertices.size());
      mesh->vertices.insert(mesh->vertices.end(), learned.vertices.begin(), learned.vertices.end());
      for (const Triangle& t : learned.triangles) mesh->triangles.push_back({first + t[0], first + t[1], first + t[2]});
    }
  }
  return model;
}

}  // namespace volvox::scan
