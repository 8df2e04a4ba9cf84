#include "volvox/physics/native/surface.h"

#include <algorithm>
#include <cmath>

#include "volvox/physics/native/polyhedron.h"

namespace volvox::physics::native {
namespace {

// A triangle as a convex core of no thickness.
struct Tile {
  Convex convex;

  Tile() {
    convex.points.resize(3);
    convex.faces = {{{}, {0, 1, 2}}, {{}, {0, 2, 1}}};
  }
  void set(const Triangle& t) {
    for (std::size_t i = 0; i < 3; ++i) convex.points[i] = t.corners[i];
    convex.faces[0].normal = t.normal;
    convex.faces[1].normal = -t.normal;
    convex.centre = (t.corners[0] + t.corners[1] + t.corners[2]) / 3;
  }
};

// Whether a contact normal may stand on an edge or a corner of the triangle: only where the
// surface sticks out there, and no farther round than its neighbour. Elsewhere the neighbour
// has the contact, and what looks like an edge is a seam in a flat floor.
bool normal_allowed(const Triangle& t, const Vec3& point, const Vec3& n) {
  const double slack = 1e-5;
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3 edge = t.corners[(k + 1) % 3] - t.corners[k];
    const Vec3 outward = normalized(cross(edge, t.normal));
    if (dot(n, outward) <= slack) continue;  // it does not lean over this edge
    if (dot(point - t.corners[k], outward) < -1e-6 * length(edge)) continue;  // nor stand on it
    if (t.beyond[k] == Vec3{}) continue;     // the surface ends here
    if (t.beyond[k] == t.normal) return false;
    const Vec3 limit = t.beyond[k];
    if (dot(n, t.normal) < dot(limit, t.normal) - slack && dot(n, limit) < dot(t.normal, limit) - slack) return false;
  }
  return true;
}

class TriangleTest {
 public:
  explicit TriangleTest(const SurfaceQuery& query) : query_(query), solid_(query.surface.field != nullptr) {}

  void run(const Triangle& t, std::uint32_t number, TriangleSink& sink) {
    const Convex& a = query_.convex;
    tile_.set(t);
    Vec3 up = query_.place.turn_to_first(t.normal);
    const Vec3 corner = query_.place.to_first(t.corners[0]);
    // A mesh has two sides: the one that the body's centre is on counts.
    const bool below = dot(a.centre - corner, up) < 0;
    Triangle seen = t;
    if (below && !solid_) {
      up = -up;
      seen.normal = -t.normal;
      for (Vec3& b : seen.beyond) b = {};
    }
    int index = 0;
    const double depth = dot(a.support(-up, index) - corner, up) - a.radius;
    if (depth > query_.margin) return;
    Proximity nearest = proximity(a, tile_.convex, query_.place, query_.margin + a.radius);
    Manifold manifold;
    const bool flat = nearest.near && dot(nearest.normal, up) > 0.9999;
    const bool usable = nearest.near && nearest.distance > 1e-7 &&
                        normal_allowed(seen, query_.place.to_second(nearest.on_b), query_.place.turn_to_second(nearest.normal));
    if (nearest.near && nearest.distance <= 1e-7) {
      // The core cuts the triangle: out along the normal, where it is over the triangle, or
      // over an edge that sticks out.
      const bool edge = dot(nearest.normal, up) > 0.2 &&
                        normal_allowed(seen, query_.place.to_second(nearest.on_b), query_.place.turn_to_second(nearest.normal));
      if (!edge) nearest.normal = up;
      clip_onto(nearest, edge, manifold);
    } else if (nearest.near && (flat || usable)) {
      if (nearest.distance - a.radius > query_.margin) return;
      if (flat) nearest.normal = up;
      clip_features(a, tile_.convex, query_.place, nearest, query_.margin, manifold);
    } else if (!nearest.near && -depth > 0 && over(t, a.centre)) {
      nearest = {true, depth + a.radius, up, a.support(-up, index), a.support(-up, index) - up * (depth + a.radius)};
      manifold.normal = up;
      manifold.add({nearest.on_a, nearest.on_b, depth, 0xfffeu});
    }
    if (manifold.count > 0) sink.add(manifold, number);
  }

 private:
  void clip_onto(const Proximity& nearest, bool keep_witness, Manifold& out) {
    clip_features(query_.convex, tile_.convex, query_.place, nearest, query_.margin, out);
    // Without a corner over the triangle, what is left is the witness of another normal.
    if (!keep_witness && out.count == 1 && out.points[0].id == 0xffffu) out.count = 0;
  }
  bool over(const Triangle& t, const Vec3& point) const {
    const Vec3 p = query_.place.to_second(point);
    for (std::size_t k = 0; k < 3; ++k) {
      if (dot(cross(t.corners[(k + 1) % 3] - t.corners[k], t.normal), p - t.corners[k]) > 0) return false;
    }
    return true;
  }

  const SurfaceQuery& query_;
  bool solid_;  // a height field has only an upper side
  Tile tile_;
};

Triangle moved(const Triangle& t, const Pose& pose) {
  Triangle out = t;
  for (Vec3& c : out.corners) c = pose * c;
  for (Vec3& b : out.beyond) b = pose.rotation * b;
  out.normal = pose.rotation * t.normal;
  return out;
}

void collide_field(const SurfaceQuery& query, TriangleTest& test, TriangleSink& sink) {
  const model::HeightFieldData& field = *query.surface.field;
  const Pose to_field = query.surface.pose.inverse();
  const Box3 box = bounds_in(query.bounds, rotation_matrix(lane(to_field.rotation)), to_field.position, 0);
  const double cell_x = field.size_x / (field.columns - 1), cell_y = field.size_y / (field.rows - 1);
  const auto cell = [](double place, std::uint32_t samples) { return static_cast<int>(clamp(std::floor(place), 0, samples - 2.0)); };
  const int left = cell((box.centre.x - box.half.x + field.size_x / 2) / cell_x, field.columns);
  const int right = cell((box.centre.x + box.half.x + field.size_x / 2) / cell_x, field.columns);
  const int front = cell((box.centre.y - box.half.y + field.size_y / 2) / cell_y, field.rows);
  const int back = cell((box.centre.y + box.half.y + field.size_y / 2) / cell_y, field.rows);
  for (int row = front; row <= back; ++row) {
    for (int column = left; column <= right; ++column) {
      const auto triangles = field_cell(field, column, row);
      for (std::size_t k = 0; k < 2; ++k) {
        const auto& c = triangles[k].corners;
        if (std::max({c[0].z, c[1].z, c[2].z}) < box.centre.z - box.half.z) continue;
        const std::size_t number = (static_cast<std::size_t>(row) * field.columns + static_cast<std::size_t>(column)) * 2 + k;
        test.run(moved(triangles[k], query.surface.pose), static_cast<std::uint32_t>(number), sink);
      }
    }
  }
}

}  // namespace

std::array<Triangle, 2> field_cell(const model::HeightFieldData& field, int column, int row) {
  const double cell_x = field.size_x / (field.columns - 1), cell_y = field.size_y / (field.rows - 1);
  const auto corner = [&](int c, int r) -> Vec3 {
    const std::size_t index = static_cast<std::size_t>(r) * field.columns + static_cast<std::size_t>(c);
    return {c * cell_x - field.size_x / 2, r * cell_y - field.size_y / 2, field.heights[index]};
  };
  const auto exists = [&](int c, int r) { return c >= 0 && r >= 0 && c < int(field.columns) && r < int(field.rows); };
  const auto normal = [](const Vec3& a, const Vec3& b, const Vec3& c) { return normalized(cross(b - a, c - a)); };
  const Vec3 a = corner(column, row), b = corner(column + 1, row), c = corner(column + 1, row + 1), d = corner(column, row + 1);
  Triangle lower{{a, b, c}, normal(a, b, c), {}}, upper{{a, c, d}, normal(a, c, d), {}};
  const auto beyond = [&](const Triangle& t, std::size_t edge, const Vec3& other) {
    return beyond_edge(t.normal, other, t.corners[(edge + 1) % 3] - t.corners[edge]);
  };
  lower.beyond[2] = beyond(lower, 2, upper.normal);
  upper.beyond[0] = beyond(upper, 0, lower.normal);
  if (exists(column, row - 1)) lower.beyond[0] = beyond(lower, 0, normal(corner(column, row - 1), b, a));
  if (exists(column + 2, row)) lower.beyond[1] = beyond(lower, 1, normal(b, corner(column + 2, row + 1), c));
  if (exists(column, row + 2)) upper.beyond[1] = beyond(upper, 1, normal(d, c, corner(column + 1, row + 2)));
  if (exists(column - 1, row)) upper.beyond[2] = beyond(upper, 2, normal(corner(column - 1, row), a, d));
  return {lower, upper};
}

void collide_surface(const SurfaceQuery& query, TriangleSink& sink) {
  TriangleTest test(query);
  if (query.surface.field) {
    collide_field(query, test, sink);
    return;
  }
  static thread_local std::vector<std::uint32_t> near;
  query.surface.tree.find(query.bounds, near);
  for (std::uint32_t i : near) test.run(query.surface.triangles[i], i, sink);
}

}  // namespace volvox::physics::native
