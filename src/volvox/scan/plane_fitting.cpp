#include "volvox/scan/plane_fitting.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "volvox/base/cell_grid.h"
#include "volvox/base/index.h"
#include "volvox/scan/outline.h"

namespace volvox::scan {
namespace {

// A line in a plane: dot(normal, p) == offset.
struct Line {
  Vec2 normal;
  double offset = 0;
  double distance(const Vec2& p) const { return dot(normal, p) - offset; }
  Vec2 along() const { return {-normal.y, normal.x}; }
  Vec2 foot(const Vec2& p) const { return p - normal * distance(p); }
};

// False if the lines are nearly parallel.
bool intersect(const Line& a, const Line& b, Vec2& at) {
  const double turn = cross(a.normal, b.normal);
  if (std::fabs(turn) < 0.2) return false;
  at = {(a.offset * b.normal.y - b.offset * a.normal.y) / turn, (b.offset * a.normal.x - a.offset * b.normal.x) / turn};
  return true;
}

struct Frame {
  Vec3 origin, u, v, normal;
  Vec2 flat(const Vec3& p) const { return {dot(p - origin, u), dot(p - origin, v)}; }
  Vec3 lift(const Vec2& p) const { return origin + u * p.x + v * p.y; }
};

// The polygons of one plane.
class PlaneBorder {
 public:
  PlaneBorder(const Cloud& cloud, const PlaneSet& set, const CellGrid& grid, std::int32_t plane)
      : set_(set), grid_(grid) {
    const FittedPlane& own = set.planes[plane];
    frame_.normal = own.normal;
    // Vertical planes get a vertical frame, so that their outlines are aligned with the cells.
    frame_.u = std::fabs(own.normal.z) < 0.9 ? normalized(cross({0, 0, 1}, own.normal))
                                             : normalized(cross({0, 1, 0}, own.normal));
    frame_.v = cross(own.normal, frame_.u);
    frame_.origin = own.normal * own.offset;
    for (std::uint32_t i = 0; i < cloud.points.size(); ++i)
      if (set.label[i] == plane) points_.push_back(frame_.flat(cloud.points[i]));
    cell_ = std::max(std::sqrt(7 / std::max(set.density, 1e-9)), 2.5 * set.noise);
    for (std::int32_t other = 0; other < narrow<std::int32_t>(set.planes.size()); ++other) {
      lines_.emplace_back();
      crossing_.push_back(false);
      if (other == plane) continue;
      const FittedPlane& them = set.planes[other];
      const Vec2 n{dot(them.normal, frame_.u), dot(them.normal, frame_.v)};
      const double size = length(n);
      if (size < 0.17) continue;
      lines_.back() = {n * (1 / size), (them.offset - dot(them.normal, frame_.origin)) / size};
      crossing_.back() = true;
    }
  }

  // Adds the triangles of the plane.
  void build(TriangleMesh& mesh) {
    if (points_.size() < 16) return;
    // A cell with two points is occupied: the average is seven, and a cell that is half outside has more than two.
    const auto loops = outlines(points_, {cell_, 2, 8});
    std::vector<std::vector<Vec2>> outer, holes;
    for (const auto& staircase : loops) {
      const double wanted = signed_area(staircase);
      std::vector<Vec2> loop = straightened(staircase);
      const double got = loop.size() >= 3 ? signed_area(loop) : 0;
      if (got * wanted <= 0 || std::fabs(got) < 0.3 * std::fabs(wanted)) loop = staircase;
      (wanted > 0 ? outer : holes).push_back(std::move(loop));
    }
    for (const auto& outline : outer) {
      std::vector<std::vector<Vec2>> polygon = {outline};
      for (const auto& hole : holes)
        if (contains(outline, hole[0])) polygon.push_back(hole);
      const auto first = narrow<std::uint32_t>(mesh.vertices.size());
      for (const auto& loop : polygon)
        for (const Vec2& p : loop) mesh.vertices.push_back(frame_.lift(p));
      for (const auto& t : triangulate(polygon)) mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
    }
  }

 private:
  static constexpr std::int32_t nothing = -1;
  static constexpr double near_line = 1.7;  // cells: largest distance of an edge of the outline from its line

  // A stretch of the outline along one line.
  struct Side {
    Line line;
    Vec2 begin, end;  // on the outline
    std::int32_t plane = nothing;
  };

  // Whether the other plane has points at this place of the intersection line.
  bool meets(std::int32_t other, const Vec2& place) const {
    int count = 0;
    grid_.near(frame_.lift(lines_[other].foot(place)), 1.3 * cell_,
               [&](std::uint32_t i, double) { count += set_.label[i] == other; });
    return count >= 2;
  }

  // The plane that bounds this one at each edge of the outline: the labelling by near lines with the lowest cost,
  // which penalizes changes from one line to another (dynamic programming).
  std::vector<std::int32_t> explain(const std::vector<Vec2>& staircase) const {
    // The cost of an edge is its distance from the line, in cells, and a penalty for its direction across the line:
    // otherwise the floor and the top of a low box would also explain the ends of its sides.
    constexpr double across = 1.4, unexplained = 1.3, change = 2.2, impossible = 1e6;
    const std::size_t n = staircase.size();
    std::vector<std::int32_t> names = {nothing};
    std::vector<std::vector<std::pair<std::int32_t, double>>> near(n);
    for (std::size_t e = 0; e < n; ++e) {
      const Vec2 begin = staircase[e], end = staircase[(e + 1) % n], middle = (begin + end) * 0.5;
      for (std::int32_t other = 0; other < narrow<std::int32_t>(lines_.size()); ++other) {
        if (!crossing_[other]) continue;
        const double d = std::fabs(lines_[other].distance(middle)) / cell_;
        if (d > near_line || !meets(other, middle)) continue;
        const double crosses = dot(lines_[other].normal, end - begin) / length(end - begin);
        near[e].push_back({other, d + across * std::max(0.0, crosses * crosses - 0.5)});
        names.push_back(other);
      }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const std::size_t m = names.size();
    std::vector<double> cost(n * m, impossible);
    std::size_t start = 0;
    double surest = impossible;
    for (std::size_t e = 0; e < n; ++e) {
      cost[e * m] = unexplained;  // names[0] is `nothing`
      for (const auto& [other, d] : near[e]) {
        const std::size_t k = std::lower_bound(names.begin(), names.end(), other) - names.begin();
        cost[e * m + k] = d;
      }
      // The loop is opened at an edge with only one near line.
      const double doubt = near[e].size() == 1 ? near[e][0].second : near[e].empty() ? unexplained : impossible;
      if (doubt < surest) surest = doubt, start = e;
    }
    std::vector<double> total(m), last(m);
    std::vector<std::uint16_t> from(n * m);
    for (std::size_t k = 0; k < m; ++k) last[k] = cost[start * m + k];
    for (std::size_t s = 1; s <= n; ++s) {
      const std::size_t e = (start + s) % n;
      const std::size_t best = std::min_element(last.begin(), last.end()) - last.begin();
      for (std::size_t k = 0; k < m; ++k) {
        const bool stay = last[k] <= last[best] + change;
        from[e * m + k] = narrow<std::uint16_t>(stay ? k : best);
        total[k] = (stay ? last[k] : last[best] + change) + cost[e * m + k];
      }
      last = total;
    }
    std::vector<std::int32_t> label(n);
    std::size_t k = std::min_element(last.begin(), last.end()) - last.begin();
    for (std::size_t s = n; s >= 1; --s) {
      const std::size_t e = (start + s) % n;
      label[e] = names[k];
      k = from[e * m + k];
    }
    return label;
  }

  // Replaces the staircase by straight sides that meet at corners.
  std::vector<Vec2> straightened(const std::vector<Vec2>& staircase) const {
    const std::size_t n = staircase.size();
    const std::vector<std::int32_t> label = explain(staircase);
    std::size_t start = 0;  // where a side begins
    while (start < n && label[start] == label[(start + n - 1) % n]) ++start;
    std::vector<Side> sides;
    if (start == n) {
      start = 0;
      if (label[0] != nothing) return {};  // a single line cannot enclose an area
    }
    for (std::size_t s = 0; s < n;) {
      const std::size_t first = (start + s) % n;
      std::vector<Vec2> run = {staircase[first]};
      const std::int32_t name = label[first];
      for (; s < n && label[(start + s) % n] == name; ++s) run.push_back(staircase[(start + s + 1) % n]);
      if (name == nothing) add_free_sides(run, sides);
      else sides.push_back({lines_[name], run.front(), run.back(), name});
    }
    drop_cut_corners(sides);
    align_free_sides(sides);
    return corners_of(sides);
  }

  // Where no other plane bounds this one: few straight sides along the end of the points (Douglas-Peucker).
  void add_free_sides(const std::vector<Vec2>& run, std::vector<Side>& sides) const {
    std::vector<std::size_t> kept = {0, run.size() - 1};
    std::vector<std::array<std::size_t, 2>> open = {{0, run.size() - 1}};
    if (length(run.front() - run.back()) < 0.5 * cell_) {  // closed: split at the farthest corner
      std::size_t far = 0;
      for (std::size_t i = 0; i < run.size(); ++i)
        if (length(run[i] - run[0]) > length(run[far] - run[0])) far = i;
      kept.push_back(far);
      open = {{0, far}, {far, run.size() - 1}};
    }
    while (!open.empty()) {
      const auto [a, b] = open.back();
      open.pop_back();
      const Vec2 way = run[b] - run[a];
      const double size = length(way);
      double most = 1.1 * cell_;
      std::size_t worst = 0;
      for (std::size_t i = a + 1; i < b; ++i) {
        const double d = size > 0 ? std::fabs(cross(way, run[i] - run[a])) / size : length(run[i] - run[a]);
        if (d > most) most = d, worst = i;
      }
      if (worst == 0) continue;
      kept.push_back(worst);
      open.push_back({a, worst});
      open.push_back({worst, b});
    }
    std::sort(kept.begin(), kept.end());
    for (std::size_t i = 1; i < kept.size(); ++i) {
      // The line through the centres of the cell edges.
      Vec2 mean;
      const std::size_t a = kept[i - 1], b = kept[i];
      const auto count = real(b - a);
      for (std::size_t k = a; k < b; ++k) mean = mean + (run[k] + run[k + 1]) * (0.5 / count);
      double xx = 0, xy = 0, yy = 0;
      for (std::size_t k = a; k < b; ++k) {
        const Vec2 d = (run[k] + run[k + 1]) * 0.5 - mean;
        xx += d.x * d.x, xy += d.x * d.y, yy += d.y * d.y;
      }
      const double angle =
          b - a > 2 ? 0.5 * volvox::atan2(2 * xy, xx - yy) : volvox::atan2(run[b].y - run[a].y, run[b].x - run[a].x);
      Vec2 way{volvox::cos(angle), volvox::sin(angle)};
      if (dot(way, run[b] - run[a]) < 0) way = way * -1;
      const Vec2 outward{way.y, -way.x};  // the points are on the left
      sides.push_back({{outward, dot(outward, mean)}, run[a], run[b], nothing});
    }
  }

  // If the cells in a corner are empty by chance, the outline cuts the corner by a short free side: a step along an
  // adjacent plane, or a slanted side from one side to the next. Removes such sides.
  void drop_cut_corners(std::vector<Side>& sides) const {
    constexpr double step = 3, slant = 4;  // cells: no longer than these
    const auto is_step = [&](const Side& side, const Side& beside) {
      return beside.plane != nothing && std::fabs(cross(side.line.normal, beside.line.normal)) < 0.3 &&
             std::fabs(beside.line.distance((side.begin + side.end) * 0.5)) < near_line * cell_;
    };
    const auto is_slant = [&](const Side& before, const Side& side, const Side& after) {
      Vec2 corner;
      return (before.plane != nothing || after.plane != nothing) && intersect(before.line, after.line, corner) &&
             length(corner - (side.begin + side.end) * 0.5) < near_line * cell_;
    };
    for (std::size_t i = 0; i < sides.size() && sides.size() > 3;) {
      const Side &before = sides[(i + sides.size() - 1) % sides.size()], &side = sides[i],
                 &after = sides[(i + 1) % sides.size()];
      const double size = length(side.end - side.begin) / cell_;
      const bool cut = side.plane == nothing && ((size < step && (is_step(side, before) || is_step(side, after))) ||
                                                 (size < slant && is_slant(before, side, after)));
      if (cut) sides.erase(sides.begin() + i);
      else ++i;
    }
  }

  // Makes a free side parallel or perpendicular to a side from an intersection if it nearly is (the tops of walls are
  // horizontal), and moves it to where the density of the points falls to half.
  void align_free_sides(std::vector<Side>& sides) const {
    for (Side& side : sides) {
      if (side.plane != nothing) continue;
      const double span = length(side.end - side.begin);
      double nearest = span > 8 * cell_ ? 0.06 : 0.12;  // sine of the angle
      Vec2 normal = side.line.normal;
      for (const Side& other : sides) {
        if (other.plane == nothing || length(other.end - other.begin) < 3 * cell_) continue;
        for (const Vec2 candidate : {other.line.normal, other.line.along()}) {
          const double off = std::fabs(cross(candidate, side.line.normal));
          if (off >= nearest) continue;
          nearest = off;
          normal = dot(candidate, side.line.normal) > 0 ? candidate : candidate * -1;
        }
      }
      const Vec2 middle = (side.begin + side.end) * 0.5;
      side.line.offset = dot(normal, side.line.foot(middle));
      side.line.normal = normal;
      place_free_side(side);
    }
  }

  void place_free_side(Side& side) const {
    const Vec2 along = side.line.along();
    double from = dot(along, side.begin), to = dot(along, side.end);
    if (from > to) std::swap(from, to);
    from += cell_, to -= cell_;
    if (to - from < 2 * cell_) return;
    for (const double band : {1.5 * cell_, std::max(4 * set_.noise, 0.6 * cell_)}) {
      const double edge = side.line.offset;
      double outside = 0, inside = 0;
      for (const Vec2& p : points_) {
        const double t = dot(along, p), s = dot(side.line.normal, p) - edge;
        if (t < from || t > to || s > band || s < -4 * band) continue;
        (s > -band ? outside : inside) += 1;
      }
      const double density = inside / (3 * band);  // points per metre of depth
      if (inside < 20) return;
      const double moved = outside / density - band;
      if (std::fabs(moved) > 1.5 * cell_) return;
      side.line.offset += moved;
    }
  }

  std::vector<Vec2> corners_of(const std::vector<Side>& sides) const {
    std::vector<Vec2> corners;
    const auto add = [&](const Vec2& p) {
      if (corners.empty() || length(corners.back() - p) > 0.2 * cell_) corners.push_back(p);
    };
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const Side &side = sides[i], &next = sides[(i + 1) % sides.size()];
      Vec2 at;
      // Sides that intersect far from the corner of the outline are joined by a step.
      if (sides.size() > 1 && intersect(side.line, next.line, at) && length(at - side.end) < 4 * cell_) {
        add(at);
      } else {
        add(side.line.foot(side.end));
        add(next.line.foot(side.end));
      }
    }
    while (corners.size() > 1 && length(corners.back() - corners.front()) <= 0.2 * cell_) corners.pop_back();
    return corners;
  }

  const PlaneSet& set_;
  const CellGrid& grid_;
  Frame frame_;
  std::vector<Vec2> points_;
  double cell_ = 0;
  std::vector<Line> lines_;     // with every other plane
  std::vector<bool> crossing_;  // whether the planes intersect
};

}  // namespace

PlaneModel fit_planes(const Cloud& cloud, const PlaneFittingOptions& options) {
  PlaneModel model;
  model.set = find_planes(cloud.points, {options.seed, options.noise});
  const CellGrid grid(cloud.points, std::max(model.set.cell, 1e-9));
  TriangleMesh mesh;
  for (std::int32_t plane = 0; plane < narrow<std::int32_t>(model.set.planes.size()); ++plane)
    PlaneBorder(cloud, model.set, grid, plane).build(mesh);
  // Merges corners that two planes found independently, such as the upper end of an edge between walls.
  model.mesh = oriented(welded(mesh, std::max(2 * model.set.noise, 1e-6)));
  return model;
}

}  // namespace volvox::scan
