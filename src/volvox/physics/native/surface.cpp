#include "volvox/physics/native/surface.h"

#include <algorithm>
#include <cmath>
#include <optional>

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
    const Vec3& outward = t.outward[k];
    if (dot(n, outward) <= slack) continue;  // it does not lean over this edge
    if (dot(point - t.corners[k], outward) < -1e-6 * length(t.corners[(k + 1) % 3] - t.corners[k]))
      continue;                           // nor stand on it
    if (t.beyond[k] == Vec3{}) continue;  // the surface ends here
    if (t.beyond[k] == t.normal) return false;
    const Vec3 limit = t.beyond[k];
    if (dot(n, t.normal) < dot(limit, t.normal) - slack && dot(n, limit) < dot(t.normal, limit) - slack) return false;
  }
  return true;
}

// The core of a cylinder, capsule or sphere, in the surface's frame: what its lowest points are
// is known without a search. Of others the centre.
struct RoundCore {
  bool is = false;
  Vec3 centre, axis, sweep;
  double half = 0, disc = 0;
  std::uint32_t first_id = 0;  // of its two ends, as clip_features() has them

  RoundCore(const SurfaceQuery& query) {
    const Convex& c = query.convex;
    const Placement& place = query.place;
    centre = place.to_second(c.centre);
    if (!c.cylinder() && c.points.size() > 2) return;
    is = true;
    sweep = place.turn_to_second(query.sweep);
    disc = c.disc, half = c.half_length;
    if (c.cylinder()) axis = place.turn_to_second(c.axis), first_id = cylinder_side_id;
    if (c.points.size() == 2) {
      const Vec3 along = c.points[1] - c.points[0];
      half = length(along) / 2;
      axis = half > 0 ? place.turn_to_second(along / (2 * half)) : Vec3{};
    }
  }
};

// Made once for a thread: they are large.
struct Workplace {
  Tile tile;
  Manifold manifold;
};

// One convex against one triangle after the other. What is clear from a few products is not
// searched for: on a fine mesh most triangles near a body are not under what it stands on.
class TriangleTest {
 public:
  TriangleTest(const SurfaceQuery& query, Workplace& workplace, std::vector<SurfacePoint>& points)
      : query_(query),
        points_(points),
        solid_(query.surface.field != nullptr),
        round_(query),
        tile_(workplace.tile),
        manifold_(workplace.manifold) {}

  // Whether the convex is farther above the plane of a triangle than anything that collide_any() would look at.
  bool is_above(const Vec3& corner, const Vec3& normal) const {
    if (round_.is) return false;
    const Vec3 up = query_.place.turn_to_first(normal);
    return dot(query_.convex.support(-up) - query_.place.to_first(corner), up) - query_.convex.radius >
           query_.margin(up);
  }

  void run(const Triangle& t, std::uint32_t number) {
    // A mesh has two sides: the one that the body's centre is on counts.
    const double height = dot(round_.centre - t.corners[0], t.normal);
    manifold_.count = 0;
    if (height < 0 && !solid_) {
      Triangle seen = t;
      seen.normal = -t.normal;
      for (Vec3& b : seen.beyond) b = {};
      seen.bend.fill(1), seen.hollow.fill(false);
      collide(seen, -height);
    } else {
      collide(t, height);
    }
    for (int i = 0; i < manifold_.count; ++i)
      points_.push_back({manifold_.points[i], manifold_.normal, manifold_.normal_of, number});
  }

 private:
  // `height` is that of the convex's middle.
  void collide(const Triangle& t, double height) {
    if (round_.is) collide_round(t, height);
    else collide_any(t);
  }

  // The lowest points of a round core are the ends of a line along its side. Where that line is
  // over the triangle, the face is touched. Where it is beyond an edge, the edge may be, if it
  // sticks out and the line is not so far that no normal which the edge allows leads there; but
  // edges that hardly stick out count as part of the face.
  void collide_round(const Triangle& t, double height) {
    const double along = dot(t.normal, round_.axis);
    const double across = std::sqrt(std::max(0.0, 1 - along * along));
    const double lowest = height - std::fabs(along) * round_.half - round_.disc * across;
    const double margin = query_.slack + std::max(0.0, -dot(t.normal, round_.sweep)), radius = query_.convex.radius;
    if (lowest - radius > margin) return;
    if (round_.disc > 0 && across < 0.7)
      return search(t, query_.place.turn_to_first(t.normal), lowest - radius);  // on its face
    const bool parallel = std::fabs(along) < level;
    const double low_end = along > 0 ? -1 : 1, shift = round_.disc > 0 ? round_.disc * along / across : 0;
    double first = -1, last = 1;
    std::uint32_t first_cut = 0, last_cut = 0;
    bool on_edge = false;
    for (std::size_t k = 0; k < 3; ++k) {
      const double side = dot(t.outward[k], round_.axis), slope = side * round_.half;
      const bool smooth = t.bend[k] < level;
      // An edge that sticks out is also met from the side.
      const double near = t.bend[k] * (round_.disc + radius + (smooth ? margin : query_.slack + length(round_.sweep)));
      // Over a hollow edge the core will meet the triangle as soon as it gets there.
      const double ahead = t.hollow[k] ? std::max(0.0, -dot(t.outward[k], round_.sweep)) : 0;
      const double middle =
          dot(t.outward[k], round_.centre - t.corners[k]) + shift * side - ahead - (smooth ? near + seam : 0);
      const double outer = middle + std::fabs(slope);
      if (outer <= 0) continue;
      on_edge = on_edge || (!smooth && (parallel ? middle - std::fabs(slope) : middle + low_end * slope) <= near);
      const std::uint32_t cut = static_cast<std::uint32_t>(k + 1) << 8;
      if (middle >= std::fabs(slope)) first = 2;  // all of it is beyond
      else if (slope > 0 && -middle < last * slope) last = -middle / slope, last_cut = cut;
      else if (slope < 0 && -middle < first * slope) first = -middle / slope, first_cut = cut;
    }
    if (first > last || (!parallel && (low_end < first || low_end > last))) {
      if (on_edge) collide_edges(t, lowest - radius);
      return;
    }
    const Vec3 up = query_.place.turn_to_first(t.normal);
    manifold_.normal = up;
    manifold_.normal_of = ContactPoint::NormalOf::b;
    const Vec3 rim =
        round_.disc > 0 ? round_.centre + (round_.axis * along - t.normal) * (round_.disc / across) : round_.centre;
    const auto add = [&](double place, std::uint32_t id) {
      const Vec3 point = rim + round_.axis * (round_.half * place);
      const double distance = dot(t.normal, point - t.corners[0]);
      if (distance - radius > margin) return;
      const Vec3 on_a = query_.place.to_first(point);
      manifold_.add({on_a, on_a - up * distance, distance - radius, id});
    };
    add(first, first_cut | round_.first_id);
    if (round_.half > 0) add(last, last_cut | (round_.first_id + 1));
  }

  // The axis of a round core and an edge, where they are nearest.
  struct Approach {
    Vec3 between;      // from the edge to the axis
    double place = 0;  // on the axis, from -1 to 1
    double turn = 0;   // the sine of the angle between the two, squared
  };
  Approach approach(const Vec3& corner, const Vec3& edge) const {
    const Vec3 from = round_.centre - corner, half = round_.axis * round_.half;
    const double a = length_squared(half), b = dot(half, edge), c = dot(half, from), e = length_squared(edge),
                 f = dot(edge, from);
    const double across = a * e - b * b;
    const auto on_axis = [&](double p) { return a > 0 ? clamp(p, -1, 1) : 0; };
    const double free = across > 1e-12 * a * e ? on_axis((b * f - c * e) / across) : 0;
    const double on_edge = clamp((b * free + f) / e, 0, 1), place = on_axis((b * on_edge - c) / std::max(a, 1e-300));
    return {from + half * place - edge * on_edge, place, a > 0 ? across / (a * e) : 1};
  }

  // The side of a round core against the edges. Where it is not its side that is nearest to the
  // triangle, what is must be searched for.
  void collide_edges(const Triangle& t, double depth) {
    Approach best;
    std::size_t edge = 0;
    double least = 1e300;
    for (std::size_t k = 0; k < 3; ++k) {
      const Approach one = approach(t.corners[k], t.corners[(k + 1) % 3] - t.corners[k]);
      if (length_squared(one.between) < least) best = one, edge = k, least = length_squared(one.between);
    }
    const double radius = query_.convex.radius, far = std::sqrt(least), aside = dot(round_.axis, best.between);
    if (far - round_.disc - radius > query_.slack + length(round_.sweep)) return;
    if (far < std::max(0.5 * round_.disc, 1e-7) || (round_.disc > 0 && std::fabs(aside) > level * far)) {
      return search(t, query_.place.turn_to_first(t.normal), depth);
    }
    const Vec3 n = round_.disc > 0 ? normalized(best.between - round_.axis * aside) : best.between / far;
    const double margin = query_.slack + std::max(0.0, -dot(n, round_.sweep));
    const auto axis_at = [&](double place) { return round_.centre + round_.axis * (round_.half * place); };
    const Vec3 touched = axis_at(best.place) - best.between;
    if (dot(n, best.between) - round_.disc - radius > margin || !normal_allowed(t, touched, n)) return;
    manifold_.normal = query_.place.turn_to_first(n);
    manifold_.normal_of = ContactPoint::NormalOf::b;
    const auto add = [&](double place, const Vec3& between, std::uint32_t id) {
      const double distance = dot(n, between) - round_.disc;
      const Vec3 on_a = query_.place.to_first(axis_at(place) - n * round_.disc);
      if (distance - radius <= margin) manifold_.add({on_a, on_a - manifold_.normal * distance, distance - radius, id});
    };
    const std::uint32_t id = static_cast<std::uint32_t>(edge + 4) << 8 | round_.first_id;
    if (best.turn > level * level) return add(best.place, best.between, id);
    // Side by side: at both ends of where they are.
    const Vec3 &from = t.corners[edge], &to = t.corners[(edge + 1) % 3];
    const double start = dot(round_.axis, from - round_.centre) / round_.half,
                 end = dot(round_.axis, to - round_.centre) / round_.half;
    for (const double wanted : {-1.0, 1.0}) {
      const double place = clamp(wanted, std::min(start, end), std::max(start, end));
      add(place, axis_at(place) - (from + (to - from) * ((place - start) / (end - start))), id + (wanted > 0));
    }
  }

  void collide_any(const Triangle& t) {
    const Convex& a = query_.convex;
    const Vec3 up = query_.place.turn_to_first(t.normal);
    const double margin = query_.margin(up);
    const Vec3 lowest = a.support(-up), corner = query_.place.to_first(t.corners[0]);
    const double depth = dot(lowest - corner, up) - a.radius;
    if (depth > margin) return;
    if (over(t, query_.place.to_second(lowest))) {
      const double distance = depth + a.radius;
      tile_.set(t);
      clip_features(a, tile_.convex, query_.place, {true, distance, up, lowest, lowest - up * distance}, margin,
                    manifold_);
      return;
    }
    // An edge that sticks out is also met from the side.
    const double bend = std::max({t.bend[0], t.bend[1], t.bend[2]});
    const double near =
        bend < level ? level * (margin + a.radius) : bend * (query_.slack + length(query_.sweep) + a.radius);
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 aside = query_.place.turn_to_first(t.outward[k]);
      if (dot(aside, a.support(-aside) - query_.place.to_first(t.corners[k])) > near) return;
    }
    search(t, up, depth);
  }

  // By the nearest points of the two.
  void search(const Triangle& t, const Vec3& up, double depth) {
    const Convex& a = query_.convex;
    tile_.set(t);
    const double most = query_.slack + length(query_.sweep);
    Proximity nearest = proximity(a, tile_.convex, query_.place, most + a.radius, query_.count);
    const double margin = nearest.near ? query_.margin(nearest.normal) : 0;
    const bool flat = nearest.near && dot(nearest.normal, up) > flat_enough;
    const auto allowed = [&] {
      return normal_allowed(t, query_.place.to_second(nearest.on_b), query_.place.turn_to_second(nearest.normal));
    };
    if (nearest.near && nearest.distance <= 1e-7) {
      // The core cuts the triangle: out along the normal, where it is over the triangle, or
      // over an edge that sticks out.
      const bool edge = dot(nearest.normal, up) > 0.2 && allowed();
      if (!edge) nearest.normal = up;
      clip_onto(nearest, edge);
    } else if (nearest.near) {
      if (nearest.distance - a.radius > margin || (!flat && !allowed())) return;
      if (flat) nearest.normal = up;
      clip_features(a, tile_.convex, query_.place, nearest, margin, manifold_);
    } else if (-depth > 0 && over(t, query_.place.to_second(a.centre))) {
      const Vec3 lowest = a.support(-up);
      manifold_.normal = up;
      manifold_.normal_of = ContactPoint::NormalOf::b;
      manifold_.add({lowest, lowest - up * (depth + a.radius), depth, 0xfffeu});
    }
  }

  void clip_onto(const Proximity& nearest, bool keep_witness) {
    clip_features(query_.convex, tile_.convex, query_.place, nearest, query_.margin(nearest.normal), manifold_);
    // Without a corner over the triangle, what is left is the witness of another normal.
    if (!keep_witness && manifold_.count == 1 && manifold_.points[0].id == 0xffffu) manifold_.count = 0;
  }
  static bool over(const Triangle& t, const Vec3& point) {
    for (std::size_t k = 0; k < 3; ++k) {
      if (dot(t.outward[k], point - t.corners[k]) > 0) return false;
    }
    return true;
  }

  // A normal that is so near to a triangle's stands on its face: the cosine, and the sine.
  static constexpr double flat_enough = 0.9999, level = 0.01414;
  static constexpr double seam = 1e-6;  // m; what lies on an edge lies on both sides of it

  const SurfaceQuery& query_;
  std::vector<SurfacePoint>& points_;
  bool solid_;  // a height field has only an upper side
  RoundCore round_;
  Tile& tile_;
  Manifold& manifold_;
};

Triangle moved(const Triangle& t, const Pose& pose) {
  Triangle out = t;
  for (Vec3& c : out.corners) c = pose * c;
  for (Vec3& b : out.beyond) b = pose.rotation * b;
  for (Vec3& o : out.outward) o = pose.rotation * o;
  out.normal = pose.rotation * t.normal;
  return out;
}

Vec3 normal_of(const Vec3& a, const Vec3& b, const Vec3& c) { return normalized(cross(b - a, c - a)); }

// The corners of a cell of a height field, in the field's frame; its two triangles have the first and third in common.
struct FieldCorners {
  std::array<Vec3, 4> all;

  FieldCorners(const model::HeightFieldData& field, int column, int row)
      : all{at(field, column, row), at(field, column + 1, row), at(field, column + 1, row + 1),
            at(field, column, row + 1)} {}
  static Vec3 at(const model::HeightFieldData& field, int c, int r) {
    const double cell_x = field.size_x / (field.columns - 1), cell_y = field.size_y / (field.rows - 1);
    const std::size_t index = static_cast<std::size_t>(r) * field.columns + static_cast<std::size_t>(c);
    return {c * cell_x - field.size_x / 2, r * cell_y - field.size_y / 2, field.heights[index]};
  }
  std::array<Vec3, 3> triangle(std::size_t k) const { return {all[0], all[k + 1], all[k + 2]}; }
};

void collide_field(const SurfaceQuery& query, TriangleTest& test) {
  const model::HeightFieldData& field = *query.surface.field;
  const Pose to_field = query.surface.pose.inverse();
  const Box3 box = bounds_in(query.bounds, rotation_matrix(lane(to_field.rotation)), to_field.position, 0);
  const double cell_x = field.size_x / (field.columns - 1), cell_y = field.size_y / (field.rows - 1);
  const auto cell = [](double place, std::uint32_t samples) {
    return static_cast<int>(clamp(std::floor(place), 0, samples - 2.0));
  };
  const int left = cell((box.centre.x - box.half.x + field.size_x / 2) / cell_x, field.columns);
  const int right = cell((box.centre.x + box.half.x + field.size_x / 2) / cell_x, field.columns);
  const int front = cell((box.centre.y - box.half.y + field.size_y / 2) / cell_y, field.rows);
  const int back = cell((box.centre.y + box.half.y + field.size_y / 2) / cell_y, field.rows);
  // What is beyond the edges of a cell takes four times as long to tell as the cell itself: only where it is near.
  for (int row = front; row <= back; ++row) {
    for (int column = left; column <= right; ++column) {
      const FieldCorners corners(field, column, row);
      std::optional<std::array<Triangle, 2>> cell_there;
      for (std::size_t k = 0; k < 2; ++k) {
        const std::array<Vec3, 3> c = corners.triangle(k);
        if (std::max({c[0].z, c[1].z, c[2].z}) < box.centre.z - box.half.z) continue;
        const Pose& pose = query.surface.pose;
        if (test.is_above(pose * c[0], pose.rotation * normal_of(c[0], c[1], c[2]))) continue;
        if (!cell_there) cell_there = field_cell(field, column, row);
        const std::size_t number =
            (static_cast<std::size_t>(row) * field.columns + static_cast<std::size_t>(column)) * 2 + k;
        test.run(moved((*cell_there)[k], pose), static_cast<std::uint32_t>(number));
      }
    }
  }
}

}  // namespace

std::array<Triangle, 2> field_cell(const model::HeightFieldData& field, int column, int row) {
  const auto corner = [&](int c, int r) { return FieldCorners::at(field, c, r); };
  const auto exists = [&](int c, int r) { return c >= 0 && r >= 0 && c < int(field.columns) && r < int(field.rows); };
  const auto normal = [](const Vec3& a, const Vec3& b, const Vec3& c) { return normal_of(a, b, c); };
  const auto& [a, b, c, d] = FieldCorners(field, column, row).all;
  Triangle lower{{a, b, c}, normal(a, b, c), {}, {}, {}, {}}, upper{{a, c, d}, normal(a, c, d), {}, {}, {}, {}};
  set_neighbour(lower, 2, upper.normal);
  set_neighbour(upper, 0, lower.normal);
  if (exists(column, row - 1)) set_neighbour(lower, 0, normal(corner(column, row - 1), b, a));
  if (exists(column + 2, row)) set_neighbour(lower, 1, normal(b, corner(column + 2, row + 1), c));
  if (exists(column, row + 2)) set_neighbour(upper, 1, normal(d, c, corner(column + 1, row + 2)));
  if (exists(column - 1, row)) set_neighbour(upper, 2, normal(corner(column - 1, row), a, d));
  finish_triangle(lower), finish_triangle(upper);
  return {lower, upper};
}

void collide_surface(const SurfaceQuery& query, std::vector<SurfacePoint>& points) {
  static thread_local Workplace workplace;
  points.clear();
  if (query.surface.field) {
    TriangleTest test(query, workplace, points);
    collide_field(query, test);
  } else {
    static thread_local std::vector<std::uint32_t> near;
    query.surface.tree.find(query.bounds, query.reach, near);
    if (near.empty()) return;
    TriangleTest test(query, workplace, points);
    for (std::uint32_t i : near) test.run(query.surface.triangles[i], i);
  }
  merge_seams(points);
}

}  // namespace volvox::physics::native
