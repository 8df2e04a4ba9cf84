#include "volvox/scan/recognize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <map>
#include <optional>

#include "volvox/base/cell_grid.h"
#include "volvox/base/index.h"
#include "volvox/scan/scan_log.h"

namespace volvox::scan {
namespace {

constexpr double roughly_alike = 0.7, same_face = 0.95;  // cosines between directions of surfaces
constexpr double least_covered = 0.65;                   // of the visible surface
constexpr double mean_off = 0.006;                       // m: most that a face may be off on average, beside its noise
// A scanner that drives sees what is near many times more densely than what is far: what it sees of things is judged
// by points no closer than this.
constexpr double closest = 0.015;  // m
constexpr double least_held = 10;  // points that must hold it along each direction
constexpr double most_of_an_edge = 0.5, most_inside = 0.05;
constexpr std::size_t most_tried = 60;  // candidates of an object that are fitted

// Directions of surfaces as bits, to be compared in one step: level ones; upright ones by their azimuth, whichever side
// is the front; slanted ones by the azimuth of their upper side.
constexpr int half_turn_bins = 12;
constexpr double bin = pi / half_turn_bins;
int azimuth_bin(const Vec3& normal, int bins) {
  const double turns = volvox::atan2(normal.y, normal.x) / bin;
  return ((truncated<int>(std::floor(turns + 0.5)) % bins) + bins) % bins;
}
std::uint64_t bits_about(Vec3 normal) {
  if (normal.z < 0) normal = -normal;
  std::uint64_t bits = normal.z > 0.85 ? 1 : 0;
  for (const int aside : {-1, 0, 1}) {
    const auto of = [&](int bins) { return (azimuth_bin(normal, bins) + aside + bins) % bins; };
    if (normal.z < 0.55) bits |= std::uint64_t{2} << of(half_turn_bins);
    if (normal.z > 0.25 && normal.z < 0.97) bits |= std::uint64_t{2} << (half_turn_bins + of(2 * half_turn_bins));
  }
  return bits;
}

// A direction that can be turned about the vertical without new functions of angles.
struct Direction {
  int bins = 0;             // of its azimuth; 0: level
  double azimuth = 0;       // in bins
  std::uint64_t first = 1;  // the bit of the first bin
  explicit Direction(Vec3 normal) {
    if (normal.z < 0) normal = -normal;
    if (normal.z > 0.92) return;
    const bool upright = normal.z < 0.4;
    bins = upright ? half_turn_bins : 2 * half_turn_bins;
    first = std::uint64_t{2} << (upright ? 0 : half_turn_bins);
    azimuth = volvox::atan2(normal.y, normal.x) / bin;
  }
  // `turn`: in bins, at least 0.
  std::uint64_t turned(double turn) const {
    if (bins == 0) return 1;
    return first << (truncated<int>(azimuth + turn + 4 * half_turn_bins + 0.5) % bins);
  }
};

double yaw_of(const Quat& q) { return roll_pitch_yaw(q).z; }

// visit(point number) for all points within a radius. Where the grid has fewer points than there are cells about the
// centre, those cells are not asked.
template <class Visit>
void all_near(const CellGrid& grid, std::span<const Vec3> points, const Vec3& centre, double radius,
              const Visit& visit) {
  const double cells = 2 * radius / grid.cell_size() + 1;
  if (cells * cells * cells < real(points.size())) {
    grid.near(centre, radius, [&](std::uint32_t i, double) { visit(i); });
    return;
  }
  for (std::uint32_t i = 0; i < points.size(); ++i)
    if (length_squared(points[i] - centre) <= radius * radius) visit(i);
}

// The cloud with the direction of its surface at each point.
struct Scene {
  const Cloud& cloud;
  double noise, spacing;
  std::vector<Vec3> normals;
  std::vector<bool> on_plane;
  std::vector<double> spread;  // m, root mean square, of the points of its plane; 0: on no plane
  CellGrid grid;
  // Cells within reach of a point, with the directions there.
  double cell = 0;
  std::vector<std::uint32_t> seeds;  // one point of each cell
  CellGrid near;
  std::vector<std::uint64_t> directions;

  Scene(const Cloud& c, const PlaneSet& planes)
      : cloud(c),
        noise(std::max(planes.noise, 5e-4)),
        spacing(std::max(closest, 1 / std::sqrt(std::max(planes.density, 1.0)))),
        grid(c.points, 1.5 * spacing) {
    find_normals(planes);
    cell = std::max({1.5 * spacing, 4 * noise, 0.02});
    const CellGrid thin(cloud.points, cell);
    for (const CellGrid::Cell& one : thin.cells()) {
      const auto members = thin.members(one);
      const auto known = std::find_if(members.begin(), members.end(), [&](std::uint32_t i) { return on_plane[i]; });
      seeds.push_back(known == members.end() ? members.front() : *known);
    }
    find_directions(thin);
  }

  // Whether there may be a surface with this direction within about a cell.
  bool roughly(const Vec3& point, std::uint64_t direction) const {
    const std::int64_t found = near.find(cell_of(point, cell));
    return found >= 0 && (directions[found] & direction) != 0;
  }
  // Whether the cloud has a surface at a point: within `aside` along it and `off` across it.
  bool there(const Vec3& point, const Vec3& normal, double aside, double off, double alike) const {
    return grid.any_near(point, aside + off, [&](std::uint32_t i, double) {
      const Vec3 way = cloud.points[i] - point;
      const double across = dot(way, normal);
      return std::fabs(across) < off && length(way - normal * across) < aside &&
             std::fabs(dot(normals[i], normal)) > alike;
    });
  }

 private:
  void find_directions(const CellGrid& thin) {
    std::vector<std::pair<CellKey, std::uint64_t>> reached;
    for (const CellGrid::Cell& one : thin.cells()) {
      std::array<std::uint64_t, 27> around{};  // this cell and its neighbours
      for (const std::uint32_t i : thin.members(one)) {
        const std::uint64_t bits = bits_about(normals[i]);
        const Vec3 aside = Vec3{0.6, 0.6, 0.6} * cell;
        const CellKey low = cell_of(cloud.points[i] - aside, cell), high = cell_of(cloud.points[i] + aside, cell);
        for (const std::int32_t z : {low.z, high.z})
          for (const std::int32_t y : {low.y, high.y})
            for (const std::int32_t x : {low.x, high.x})
              around[9 * (z - one.key.z + 1) + 3 * (y - one.key.y + 1) + (x - one.key.x + 1)] |= bits;
      }
      for (std::int32_t k = 0; k < 27; ++k)
        if (around[k] != 0)
          reached.push_back({{one.key.x + k % 3 - 1, one.key.y + k / 3 % 3 - 1, one.key.z + k / 9 - 1}, around[k]});
    }
    std::sort(reached.begin(), reached.end());
    std::vector<Vec3> middles;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const auto& [key, bits] = reached[i];
      if (i == 0 || key != reached[i - 1].first) {
        middles.push_back((Vec3{real(key.x), real(key.y), real(key.z)} + Vec3{0.5, 0.5, 0.5}) * cell);
        directions.push_back(0);
      }
      directions.back() |= bits;
    }
    near = CellGrid(middles, cell);  // has them in the same order
  }
  void find_normals(const PlaneSet& planes) {
    normals.resize(cloud.points.size());
    on_plane.resize(cloud.points.size());
    spread.resize(cloud.points.size());
    std::vector<Moments> of_planes(planes.planes.size());
    for (std::size_t i = 0; i < normals.size(); ++i)
      if (planes.label[i] >= 0) of_planes[planes.label[i]].add(cloud.points[i] - cloud.points[0]);
    std::vector<double> wide;
    for (const Moments& m : of_planes)
      wide.push_back(std::sqrt(std::max(0.0, (m.xx + m.yy + m.zz) / m.count - length_squared(m.mean()))));
    const double radius = std::max(2.5 * spacing, 4 * noise);
    for (std::uint32_t i = 0; i < normals.size(); ++i) {
      if (const std::int32_t plane = planes.label[i]; plane >= 0) {
        normals[i] = planes.planes[plane].normal;
        on_plane[i] = true, spread[i] = wide[plane];
        continue;
      }
      Moments moments;
      grid.near(cloud.points[i], radius,
                [&](std::uint32_t k, double) { moments.add(cloud.points[k] - cloud.points[i]); });
      normals[i] = moments.count >= 5 ? fit_plane(moments).normal : Vec3{0, 0, 1};
    }
  }
};

// What of an object is compared with a cloud.
struct Template {
  const KnownObject& object;
  std::vector<KnownObject::Sample> samples;
  std::vector<std::uint32_t> face;  // by sample: those of one direction
  std::uint32_t faces = 0;
  std::vector<std::uint32_t> face_of;  // by triangle of the surface
  std::vector<Vec3> normal_of;
  Vec3 middle;
  double reach = 0;     // m, of the surface from the middle
  double expected = 0;  // points of the cloud on the whole surface
  // Just beyond the edges of its faces, where no surface goes on; by edge: one direction on one face.
  std::vector<KnownObject::Sample> beyond;
  std::vector<std::uint32_t> edge;
  // Just within the outline of its foot, where nobody sees the floor.
  std::vector<Vec3> under;
  std::vector<std::uint32_t> under_edge;
  double margin = 0;  // m, of `beyond` and `under` from the edges
  TriangleTree tree;

  Template(const KnownObject& known, const Scene& scene)
      : object(known), margin(std::max({0.03, 2 * scene.spacing, 4 * scene.noise})), tree(known.surface()) {
    const model::Bounds box = object.bounds();
    middle = (box.low + box.high) / 2;
    const double spacing = std::max(0.6 * scene.spacing, std::sqrt(area(object.surface()) / 500));
    samples = object.samples(spacing);
    std::vector<Vec3> ways;
    for (const auto& sample : samples) {
      reach = std::max(reach, length(sample.point - middle));
      std::uint32_t which = 0;
      while (which < ways.size() && dot(ways[which], sample.normal) < 0.95) ++which;
      if (which == ways.size()) ways.push_back(sample.normal);
      face.push_back(which);
    }
    faces = narrow<std::uint32_t>(ways.size());
    for (const Triangle& triangle : object.surface().triangles) {
      normal_of.push_back(normalized(area_normal(object.surface(), triangle)));
      const auto nearest = std::max_element(ways.begin(), ways.end(), [&](const Vec3& a, const Vec3& b) {
        return dot(a, normal_of.back()) < dot(b, normal_of.back());
      });
      face_of.push_back(narrow<std::uint32_t>(nearest - ways.begin()));
    }
    // Faces that coincide are in the surface more than once.
    expected =
        std::min(area(object.surface()), real(samples.size()) * spacing * spacing) / (scene.spacing * scene.spacing);
    find_edges(spacing);
    find_under();
  }

 private:
  void find_edges(double spacing) {
    const double low = object.bounds().low.z;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto& [point, normal] = samples[i];
      const Vec3 u = std::fabs(normal.z) > 0.99 ? Vec3{1, 0, 0} : normalized(cross({0, 0, 1}, normal)),
                 v = cross(normal, u);
      const std::array<Vec3, 4> ways = {u, -u, v, -v};
      for (std::uint32_t w = 0; w < 4; ++w)
        for (double t = margin / 2; t < spacing + 1.2 * margin; t += margin / 4) {
          const Vec3 q = point + ways[w] * t;
          if (object.outside(q) < 0.9 * margin) continue;
          // A floor meets a slope at its low end; an upright side ends there, or the object stands higher than it
          // seems.
          if (std::fabs(normal.z) < 0.4 || q.z > low + margin / 2)
            beyond.push_back({q, normal}), edge.push_back(4 * face[i] + w);
          break;
        }
    }
  }
  void find_under() {
    const std::vector<Vec2>& foot = object.foot();
    const double low = object.bounds().low.z;
    for (std::uint32_t i = 0; i < foot.size(); ++i) {
      const Vec2 a = foot[i], b = foot[(i + 1) % foot.size()];
      const double way = length(b - a);
      if (!(way > 0)) continue;
      const Vec2 inwards = Vec2{a.y - b.y, b.x - a.x} * (1 / way);
      // Directions in eighths of a turn, so that a round foot has edges, too.
      const int eighth = truncated<int>(std::floor(volvox::atan2(inwards.y, inwards.x) / (pi / 4) + 0.5)) + 4;
      const int steps = std::max(1, truncated<int>(way / (0.5 * margin)));
      for (int k = 0; k < steps; ++k) {
        const Vec2 q = a + (b - a) * ((k + 0.5) / steps) + inwards * margin;
        bool within = true;
        for (std::size_t e = 0; e < foot.size(); ++e) {
          const Vec2 side = foot[(e + 1) % foot.size()] - foot[e];
          within = within && cross(side, q - foot[e]) > 0.9 * margin * length(side);
        }
        // Under the thin end of a ramp, its surface is as near as the floor.
        within = within && tree.nearest({q.x, q.y, low}).distance > 0.9 * margin;
        // Between legs the floor is seen.
        within = within && object.outside({q.x, q.y, low + 0.001}) < 0;
        if (within) under.push_back({q.x, q.y, low}), under_edge.push_back(narrow<std::uint32_t>(eighth % 8));
      }
    }
  }
};

// Poses at which an object may be, the best first.
class Candidates {
 public:
  Candidates(const Scene& scene, const Template& shape) : scene_(scene), shape_(shape) {
    // Spread over the whole surface from the first on: what does not fit is dropped after few looks.
    const std::size_t n = shape.samples.size(), wanted = std::min<std::size_t>(120, n);
    for (std::size_t k = 0; k < wanted; ++k) {
      const double part = 0.6180339887498949 * real(k + 1);
      const auto& sample = shape.samples[truncated<std::uint32_t>((part - std::floor(part)) * real(n))];
      checked_.push_back({sample.point, Direction(sample.normal)});
    }
    // So far out that the surface itself is not seen there.
    for (std::size_t k = 0; k < shape.beyond.size(); k += 1 + shape.beyond.size() / 60) {
      const auto& sample = shape.beyond[k];
      const Vec3 at = sample.point + normalized(across(sample)) * (2 * scene.cell);
      if (shape.object.outside(at) > 1.9 * scene.cell && at.z > shape.object.bounds().low.z + scene.cell)
        free_.push_back({at, Direction(sample.normal)});
    }
  }

  std::vector<Pose> find() {
    for (const std::uint32_t ref : references()) try_everywhere(shape_.samples[ref]);
    std::vector<Best> all;
    for (const auto& [key, best] : best_) all.push_back(best);
    std::stable_sort(all.begin(), all.end(), [](const Best& a, const Best& b) { return a.score > b.score; });
    std::vector<Pose> poses;
    for (const Best& best : all) poses.push_back(best.pose);
    return poses;
  }

 private:
  struct Best {
    double score = -1;
    Pose pose;
  };
  struct Look {
    Vec3 point;
    Direction direction;
  };

  // From the nearest point of the surface to a point beyond it, along the face.
  Vec3 across(const KnownObject::Sample& sample) const {
    const Vec3 way = sample.point - shape_.tree.nearest(sample.point).point;
    return way - sample.normal * dot(way, sample.normal);
  }

  // Two points of each of the largest faces. Level ones say nothing of the turn: they serve where there are no others.
  std::vector<std::uint32_t> references() const {
    std::vector<std::vector<std::uint32_t>> faces(shape_.faces);
    std::size_t upright = 0;
    for (std::uint32_t i = 0; i < shape_.samples.size(); ++i) {
      faces[shape_.face[i]].push_back(i);
      upright += Direction(shape_.samples[i].normal).bins > 0;
    }
    const bool flat = real(upright) < 0.4 * real(shape_.samples.size());
    std::stable_sort(faces.begin(), faces.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    std::vector<std::uint32_t> chosen;
    std::size_t used = 0;
    for (const std::vector<std::uint32_t>& face : faces) {
      if (used == 8) break;
      if (!flat && Direction(shape_.samples[face[0]].normal).bins == 0) continue;
      ++used;
      Vec3 centre, high{0, 0, -1e300};
      for (const std::uint32_t i : face) {
        centre += shape_.samples[i].point / real(face.size());
        if (shape_.samples[i].point.z > high.z) high = shape_.samples[i].point;
      }
      for (const Vec3& wish : {centre, (centre + high) / 2}) {
        std::uint32_t best = face[0];
        for (const std::uint32_t i : face)
          if (length(shape_.samples[i].point - wish) < length(shape_.samples[best].point - wish)) best = i;
        if (chosen.empty() || chosen.back() != best) chosen.push_back(best);
      }
    }
    return chosen;
  }

  void try_everywhere(const KnownObject::Sample& ref) {
    const Direction direction(ref.normal);
    const Vec3 upper = ref.normal.z < 0 ? -ref.normal : ref.normal;  // as those of the scene
    const double azimuth = volvox::atan2(upper.y, upper.x), around = shape_.object.symmetry();
    for (const std::uint32_t seed : scene_.seeds) {
      if (scene_.spread[seed] > shape_.reach) continue;  // a wall or a floor
      Vec3 normal = scene_.normals[seed];
      if (normal.z < 0) normal = -normal;
      const Vec3 at = scene_.cloud.points[seed];
      if (direction.bins == 0) {
        if (normal.z < 0.85) continue;
        const double step = std::min(pi / 12, scene_.cell / shape_.reach), all = around > 0 ? around : step / 2;
        for (double yaw = 0; yaw < all; yaw += step) judge(ref, at, yaw);
        continue;
      }
      const bool upright = direction.bins == half_turn_bins;
      if (upright ? normal.z > 0.5 : std::fabs(normal.z - upper.z) > 0.2) continue;
      const double found = volvox::atan2(normal.y, normal.x) - azimuth;
      for (const double side : {0.0, pi}) {
        if (side > 0 && !upright) break;
        judge(ref, at, found + side);
        if (!scene_.on_plane[seed])
          for (const double aside : {-radians(8), radians(8)}) judge(ref, at, found + side + aside);
      }
    }
  }

  void judge(const KnownObject::Sample& ref, const Vec3& at, double yaw) {
    const Quat turn = Quat::axis_angle({0, 0, 1}, yaw);
    const Pose pose{at - turn * ref.point, turn};
    const double turned = (yaw - 2 * pi * std::floor(yaw / (2 * pi))) / bin;
    std::size_t missed = 0;
    const std::size_t most = checked_.size() * 45 / 100;
    for (std::size_t k = 0; k < checked_.size(); ++k) {
      missed += !scene_.roughly(pose * checked_[k].point, checked_[k].direction.turned(turned));
      if (missed > most || (k == 15 && missed > 9)) return;
    }
    std::size_t goes_on = 0;
    for (const Look& look : free_) {
      goes_on += scene_.roughly(pose * look.point, look.direction.turned(turned));
      if (2 * goes_on > free_.size()) return;
    }
    const double score =
        1 - real(missed) / real(checked_.size()) - (free_.empty() ? 0 : 0.5 * real(goes_on) / real(free_.size()));
    const double around = shape_.object.symmetry();
    const CellKey cell = cell_of(pose * shape_.middle, 2 * scene_.cell);
    const double part = around > 0 ? yaw - around * std::floor(yaw / around) : 0;
    Best& best = best_[{cell, truncated<int>(part / (pi / 12))}];
    if (score > best.score) best = {score, pose};
  }

  const Scene& scene_;
  const Template& shape_;
  std::vector<Look> checked_, free_;
  std::map<std::pair<CellKey, int>, Best> best_;
};

// Points of the cloud on the surface of an object at a pose.
struct Match {
  double rms = 0;
  std::size_t points = 0;
  double held = 0, lifted = 0;     // points that hold it along the direction in which it is held least; along z
  std::vector<double> sum, count;  // by face: of how far points are off, and of points
};

class Fit {
 public:
  Fit(const Scene& scene, const Template& shape, const Pose& start) : scene_(scene), shape_(shape), pose_(start) {
    all_near(scene.grid, scene.cloud.points, start * shape.middle, shape.reach + 0.06,
             [&](std::uint32_t i) { points_.push_back(i); });
    std::sort(points_.begin(), points_.end());
  }

  const Pose& pose() const { return pose_; }

  void improve() {
    constexpr int rounds = 16;
    const double tight = 3 * scene_.noise + 0.004;
    for (int round = 0; round < rounds; ++round) {
      const double gate = std::max(tight, 0.045 * (1 - real(round) / 10));
      const std::size_t stride = round < 13 ? 1 + points_.size() / 600 : 1;
      step(gate, stride);
      // Hopeless: a third of what would be on its surface.
      if (round == 5 && real(match(gate).points) < 0.3 * shape_.expected) return;
    }
  }

  Match match(double gate) const {
    Match match;
    match.sum.resize(shape_.faces), match.count.resize(shape_.faces);
    double xx = 0, xy = 0, yy = 0;
    each_beside(gate, 1, [&](double) { match.lifted += 1; });
    each(gate, 1, [&](const Vec3& normal, const Vec3&, double off, std::uint32_t face) {
      match.rms += off * off, ++match.points;
      xx += normal.x * normal.x, xy += normal.x * normal.y, yy += normal.y * normal.y;
      match.lifted += normal.z * normal.z;
      match.sum[face] += off, match.count[face] += 1;
    });
    if (match.points > 0) match.rms = std::sqrt(match.rms / real(match.points));
    match.held = (xx + yy) / 2 - std::sqrt((xx - yy) * (xx - yy) / 4 + xy * xy);
    return match;
  }

 private:
  // visit(normal, nearest point of the surface, how far a point of the cloud is outside it, face) for points on it.
  template <class Visit>
  void each(double gate, std::size_t stride, const Visit& visit) const {
    const Pose into = pose_.inverse();
    const model::Bounds box = shape_.object.bounds();
    for (std::size_t k = 0; k < points_.size(); k += stride) {
      const Vec3 p = into * scene_.cloud.points[points_[k]];
      if (p.x < box.low.x - gate || p.y < box.low.y - gate || p.z < box.low.z - gate || p.x > box.high.x + gate ||
          p.y > box.high.y + gate || p.z > box.high.z + gate)
        continue;
      const TriangleTree::Nearest nearest = shape_.tree.nearest(p);
      if (nearest.distance > gate) continue;
      const Vec3& normal = shape_.normal_of[nearest.triangle];
      const Vec3 seen = into.rotation * scene_.normals[points_[k]];
      if (std::fabs(dot(seen, normal)) < roughly_alike) continue;
      visit(pose_.rotation * normal, pose_ * nearest.point, dot(p - nearest.point, normal),
            shape_.face_of[nearest.triangle]);
    }
  }
  // visit(how far a point of what it stands on is above its foot) for points beside the foot. From where a laser sees
  // little of its top, this says how high it stands.
  template <class Visit>
  void each_beside(double gate, std::size_t stride, const Visit& visit) const {
    const Pose into = pose_.inverse();
    const model::Bounds box = shape_.object.bounds();
    for (std::size_t k = 0; k < points_.size(); k += stride) {
      const Vec3 p = into * scene_.cloud.points[points_[k]];
      if (std::fabs(p.z - box.low.z) < gate && std::fabs(scene_.normals[points_[k]].z) > same_face &&
          !contains(shape_.object.foot(), {p.x, p.y}))
        visit(p.z - box.low.z);
    }
  }

  // Point to plane, for a shift and a turn about the vertical through the object's middle.
  void step(double gate, std::size_t stride) {
    double a[4][5] = {};
    const Vec3 centre = pose_ * shape_.middle;
    double count = 0;
    each(gate, stride, [&](const Vec3& normal, const Vec3& at, double off, std::uint32_t) {
      const double row[4] = {normal.x, normal.y, normal.z,
                             dot(normal, cross(Vec3{0, 0, 1}, at - centre)) / shape_.reach};
      for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 4; ++k) a[i][k] += row[i] * row[k];
        a[i][4] += row[i] * off;
      }
      ++count;
    });
    each_beside(gate, stride, [&](double above) { a[2][2] += 1, a[2][4] += above; });
    if (count < 6) return;
    for (int i = 0; i < 4; ++i) a[i][i] += 1e-3 * count;  // what nothing holds stays
    for (int i = 0; i < 4; ++i)
      for (int k = i + 1; k < 4; ++k) {
        const double part = a[k][i] / a[i][i];
        for (int j = i; j < 5; ++j) a[k][j] -= part * a[i][j];
      }
    double x[4];
    for (int i = 3; i >= 0; --i) {
      x[i] = a[i][4];
      for (int k = i + 1; k < 4; ++k) x[i] -= a[i][k] * x[k];
      x[i] /= a[i][i];
    }
    const Quat turn = Quat::axis_angle({0, 0, 1}, x[3] / shape_.reach);
    pose_ = {centre + Vec3{x[0], x[1], x[2]} + turn * (pose_.position - centre), normalized(turn * pose_.rotation)};
  }

  const Scene& scene_;
  const Template& shape_;
  Pose pose_;
  std::vector<std::uint32_t> points_;
};

// Whether more than half of the samples of one edge are among the chosen.
template <class Chosen>
bool an_edge_is(const std::vector<std::uint32_t>& edge, const Chosen& chosen) {
  std::map<std::uint32_t, std::array<double, 2>> edges;
  for (std::size_t i = 0; i < edge.size(); ++i) {
    auto& [all, some] = edges[edge[i]];
    all += 1, some += chosen(i);
  }
  return std::any_of(edges.begin(), edges.end(),
                     [](const auto& e) { return e.second[0] >= 3 && e.second[1] > most_of_an_edge * e.second[0]; });
}

// Nothing, unless the object is there.
std::optional<FoundObject> judged(const Scene& scene, const Template& shape, const Fit& fit) {
  const Pose& pose = fit.pose();
  const double off = 3.5 * scene.noise;
  const Match on_it = fit.match(off);
  if (real(on_it.points) < 4 * least_held || std::min(on_it.held, on_it.lifted) < least_held) return std::nullopt;
  // A face that is off on average is that of a thing of another size.
  const Match about = fit.match(0.04);
  for (std::uint32_t f = 0; f < shape.faces; ++f)
    if (about.count[f] >= 12 &&
        std::fabs(about.sum[f] / about.count[f]) > mean_off + 3 * scene.noise / std::sqrt(about.count[f]))
      return std::nullopt;
  double covered = 0;
  for (const auto& sample : shape.samples)
    covered += scene.there(pose * sample.point, pose.rotation * sample.normal, 1.6 * scene.spacing, off, roughly_alike);
  covered /= real(shape.samples.size());
  if (covered < least_covered) return std::nullopt;
  const double aside = 0.6 * shape.margin, thin = 3 * scene.noise;
  if (an_edge_is(shape.edge,
                 [&](std::size_t i) {
                   return scene.there(pose * shape.beyond[i].point, pose.rotation * shape.beyond[i].normal, aside, thin,
                                      same_face);
                 }) ||
      an_edge_is(shape.under_edge, [&](std::size_t i) {
        return scene.there(pose * shape.under[i], {0, 0, 1}, aside, thin, same_face);
      }))
    return std::nullopt;
  std::size_t inside = 0;
  const Pose into = pose.inverse();
  all_near(scene.grid, scene.cloud.points, pose * shape.middle, shape.reach, [&](std::uint32_t i) {
    const Vec3 p = into * scene.cloud.points[i];
    inside += p.z > shape.object.bounds().low.z + shape.margin && shape.object.outside(p) < -shape.margin;
  });
  if (real(inside) > most_inside * real(on_it.points)) return std::nullopt;
  return FoundObject{0, pose, covered, on_it.rms, on_it.points};
}

// Whether two objects would be in one place.
bool overlap(const KnownObject& a, const Pose& at_a, const KnownObject& b, const Pose& at_b) {
  if (length(at_a.position - at_b.position) >
      length(a.bounds().high - a.bounds().low) + length(b.bounds().high - b.bounds().low))
    return false;
  const Pose into = at_b.inverse() * at_a;
  const auto samples = a.samples(0.04);
  // Just below the surface: of two poses that are the same, the surfaces themselves are not within each other.
  const auto within = std::count_if(samples.begin(), samples.end(), [&](const auto& s) {
    return b.outside(into * (s.point - s.normal * 0.03)) < -0.01;
  });
  return real(within) > 0.2 * real(samples.size());
}

}  // namespace

std::vector<FoundObject> find_objects(const Cloud& cloud, const PlaneSet& planes,
                                      std::span<const KnownObject> library) {
  if (library.empty() || cloud.points.empty()) return {};
  const Scene scene(cloud, planes);
  std::vector<FoundObject> all;
  for (std::size_t k = 0; k < library.size(); ++k) {
    const Template shape(library[k], scene);
    std::vector<Pose> here;  // of this object
    std::size_t tried = 0;
    for (const Pose& start : Candidates(scene, shape).find()) {
      if (tried == most_tried) break;
      const Vec3 middle = start * shape.middle;
      if (std::any_of(here.begin(), here.end(),
                      [&](const Pose& p) { return length(p * shape.middle - middle) < 0.7 * shape.reach; }))
        continue;
      ++tried;
      Fit fit(scene, shape, start);
      fit.improve();
      if (auto found = judged(scene, shape, fit)) {
        found->object = k;
        here.push_back(found->pose);
        all.push_back(*found);
      }
    }
  }
  // Of two in one place, the one that explains more.
  std::stable_sort(all.begin(), all.end(), [](const FoundObject& a, const FoundObject& b) {
    return a.covered * real(a.points) > b.covered * real(b.points);
  });
  std::vector<FoundObject> kept;
  for (const FoundObject& one : all) {
    const bool taken = std::any_of(kept.begin(), kept.end(), [&](const FoundObject& other) {
      const KnownObject &a = library[one.object], &b = library[other.object];
      return overlap(a, one.pose, b, other.pose) || overlap(b, other.pose, a, one.pose);
    });
    if (!taken) kept.push_back(one);
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const FoundObject& a, const FoundObject& b) { return a.object < b.object; });
  return kept;
}

PoseError pose_error(const KnownObject& object, const Pose& a, const Pose& b) {
  const Vec3 middle = (object.bounds().low + object.bounds().high) / 2;
  PoseError error{length(a * middle - b * middle), 0};
  const double turn = wrapped(yaw_of(a.rotation) - yaw_of(b.rotation)), again = object.symmetry();
  if (again > 0) error.turn = std::fabs(turn - again * std::floor(turn / again + 0.5));
  return error;
}

Cloud without_objects(const Cloud& cloud, const PlaneSet& planes, std::span<const KnownObject> library,
                      std::span<const FoundObject> found) {
  if (found.empty()) return cloud;
  const double off = 3.5 * std::max(planes.noise, 5e-4), spacing = 1 / std::sqrt(std::max(planes.density, 1.0));
  const CellGrid grid(cloud.points, 2 * spacing);
  std::vector<bool> gone(cloud.points.size());
  Cloud added;
  for (const FoundObject& one : found) {
    const KnownObject& object = library[one.object];
    const model::Bounds box = object.bounds();
    const Pose into = one.pose.inverse();
    const auto on_foot = [&](const Vec3& p) { return contains(object.foot(), {p.x, p.y}); };
    Moments around;                    // of the floor beside the foot, from the object's frame
    std::vector<std::uint32_t> at_it;  // points of the floor or of the object's lower edge
    std::uint32_t model_point = 0;
    all_near(grid, cloud.points, one.pose * ((box.low + box.high) / 2), length(box.high - box.low) / 2 + 0.1,
             [&](std::uint32_t i) {
               const Vec3 p = into * cloud.points[i];
               const bool floor = std::fabs(p.z - box.low.z) < off && !on_foot(p);
               const bool on_it = object.outside(p) < off;
               if (floor && on_it) at_it.push_back(i);
               else if (floor) around.add(p), model_point = i;
               else if (on_it) gone[i] = true;
             });
    if (around.count < 20) {  // it hangs at a wall
      for (const std::uint32_t i : at_it) gone[i] = true;
      continue;
    }
    const FittedPlane floor = fit_plane(around);
    if (std::fabs(floor.normal.z) < 0.9) continue;
    for (double x = box.low.x + spacing / 2; x < box.high.x; x += spacing)
      for (double y = box.low.y + spacing / 2; y < box.high.y; y += spacing) {
        if (!on_foot({x, y, 0})) continue;
        const double z = (floor.offset - floor.normal.x * x - floor.normal.y * y) / floor.normal.z;
        const Vec3 point = one.pose * Vec3{x, y, z};
        const bool on_another = std::any_of(found.begin(), found.end(), [&](const FoundObject& other) {
          return &other != &one && library[other.object].outside(other.pose.inverse() * point) < off;
        });
        if (on_another) continue;
        added.points.push_back(point);
        if (!cloud.colors.empty()) added.colors.push_back(cloud.colors[model_point]);
      }
  }
  Cloud rest;
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    if (gone[i]) continue;
    rest.points.push_back(cloud.points[i]);
    if (!cloud.colors.empty()) rest.colors.push_back(cloud.colors[i]);
  }
  rest.points.insert(rest.points.end(), added.points.begin(), added.points.end());
  rest.colors.insert(rest.colors.end(), added.colors.begin(), added.colors.end());
  return rest;
}

}  // namespace volvox::scan
