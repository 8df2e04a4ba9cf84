#include "volvox/scan/planes.h"

#include <algorithm>

#include "volvox/base/cell_grid.h"
#include "volvox/base/index.h"

namespace volvox::scan {

FittedPlane fit_plane(const Moments& m) {
  const Vec3 c = m.mean();
  const Inertia spread{m.xx / m.count - c.x * c.x, m.yy / m.count - c.y * c.y, m.zz / m.count - c.z * c.z,
                       m.xy / m.count - c.x * c.y, m.xz / m.count - c.x * c.z, m.yz / m.count - c.y * c.z};
  const PrincipalInertia principal = principal_axes(spread);
  int least = 0;
  for (int i = 1; i < 3; ++i)
    if (principal.moments[i] < principal.moments[least]) least = i;
  Vec3 axis;
  axis[least] = 1;
  FittedPlane plane;
  plane.normal = normalized(principal.axes * axis);
  plane.offset = dot(plane.normal, c);
  plane.rms = std::sqrt(std::max(0.0, principal.moments[least]) * m.count / std::max(1.0, m.count - 3));
  plane.spread =
      std::sqrt(std::max(0.0, std::min(principal.moments[(least + 1) % 3], principal.moments[(least + 2) % 3])));
  return plane;
}

double cell_for(std::span<const Vec3> points, double points_a_cell) {
  Vec3 low = points[0], high = points[0];
  for (const Vec3& p : points)
    for (int i = 0; i < 3; ++i) low[i] = std::min(low[i], p[i]), high[i] = std::max(high[i], p[i]);
  const double size = std::max(length(high - low), 1e-6);
  double cell = size / 100;
  // The number of occupied cells is proportional to the area. A few iterations reach the wanted mean (more if there
  // are distant outliers).
  for (int round = 0; round < 24; ++round) {
    const CellGrid grid(points, cell);
    const double mean = real(points.size()) / real(grid.cells().size());
    const double change = clamp(std::sqrt(points_a_cell / mean), 0.25, 4);
    cell = clamp(cell * change, size * 1e-10, size);
    if (change > 0.9 && change < 1.1) break;
  }
  return cell;
}

namespace {

constexpr double same_way =
    0.9;  // cosine of the largest angle (26 degrees) between the normals of a cell and its plane
constexpr double one_way = 0.97;  // 14 degrees: planes that may be the same

// One cell of the grid with the plane fitted around it.
struct Place {
  Moments moments;
  FittedPlane around;       // of the cell and its 26 neighbours
  double around_count = 0;  // points
  bool flat = false;
  std::int32_t plane = -1;
};

class PlaneFinder {
 public:
  PlaneFinder(std::span<const Vec3> points, const PlaneOptions& options, double cell, const Vec3& origin)
      : points_(points), origin_(origin), options_(options), grid_(points, cell) {}

  PlaneSet find() {
    measure_places();
    grow_from_everywhere();
    for (std::uint32_t i = 0; i < points_.size(); ++i) set_.first.push_back(places_[grid_.cell_of_point(i)].plane);
    merge();
    assign();
    reach_edges();
    add_from_rest();
    for (int round = 0; round < 3; ++round) {
      refit();
      if (round == 0) {
        // Parts of one face may have been too small to touch each other when they were found.
        extend_clusters();
        merge();
        assign();
        drop_explained();
      }
      assign();
    }
    reach_edges();
    drop_empty();
    return std::move(set_);
  }

 private:
  struct Cluster {
    Moments moments;
    FittedPlane plane;
    std::vector<std::uint32_t> members;
  };

  // Small faces consist of edges only; they become flat places after the points of the large faces are removed.
  void add_from_rest() {
    std::vector<Vec3> rest;
    for (std::size_t i = 0; i < points_.size(); ++i)
      if (set_.label[i] < 0) rest.push_back(points_[i]);
    if (rest.size() < 16) return;
    PlaneFinder finder(rest, {options_.seed, set_.noise}, grid_.cell_size(), origin_);
    // The remainder of a plane has a low density; a missed face has a higher one.
    finder.least_around_ = 0.3 * set_.density * 9 * set_.cell * set_.cell;
    finder.measure_places();
    finder.grow_from_everywhere();
    for (Cluster& cluster : finder.clusters_) {
      for (std::uint32_t& c : cluster.members) {
        // Both grids have the same cells.
        c = narrow<std::uint32_t>(grid_.find(finder.grid_.cells()[c].key));
        if (places_[c].plane < 0) places_[c].plane = narrow<std::int32_t>(clusters_.size());
      }
      clusters_.push_back(std::move(cluster));
    }
    merge();
  }

  template <class Visit>
  void neighbours(std::size_t cell, std::int32_t reach, Visit visit) const {
    const CellKey k = grid_.cells()[cell].key;
    for (std::int32_t z = -reach; z <= reach; ++z)
      for (std::int32_t y = -reach; y <= reach; ++y)
        for (std::int32_t x = -reach; x <= reach; ++x)
          if (const std::int64_t found = grid_.find({k.x + x, k.y + y, k.z + z}); found >= 0) visit(found);
  }

  // The occupied cells within two cells, including the cell itself. Cached, because this took most of the time.
  std::span<const std::uint32_t> within_two(std::size_t cell) {
    if (first_within_two_.empty()) {
      for (std::size_t c = 0; c < grid_.cells().size(); ++c) {
        first_within_two_.push_back(within_two_.size());
        neighbours(c, 2, [&](std::size_t near) { within_two_.push_back(narrow<std::uint32_t>(near)); });
      }
      first_within_two_.push_back(within_two_.size());
    }
    return {within_two_.data() + first_within_two_[cell], first_within_two_[cell + 1] - first_within_two_[cell]};
  }

  // Sums are relative to the first point, because far from the origin their differences would lose precision.
  Vec3 local(std::uint32_t point) const { return points_[point] - origin_; }

  void measure_places() {
    const auto& cells = grid_.cells();
    places_.resize(cells.size());
    for (std::size_t c = 0; c < cells.size(); ++c)
      for (const std::uint32_t i : grid_.members(cells[c])) places_[c].moments.add(local(i));
    std::vector<double> roughness;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      Moments around;
      neighbours(c, 1, [&](std::size_t near) { around.add(places_[near].moments); });
      if (around.count < least_around_) continue;
      places_[c].around = fit_plane(around);
      places_[c].around_count = around.count;
      places_[c].flat = places_[c].around.spread > 0.3 * grid_.cell_size();
      if (places_[c].flat) roughness.push_back(places_[c].around.rms);
    }
    set_.cell = grid_.cell_size();
    set_.noise = options_.noise;
    if (set_.noise <= 0 && !roughness.empty()) {
      // Most places are flat; places at edges are rougher, so a lower quantile than the median is used.
      const auto middle = roughness.begin() + (roughness.size() * 2 / 5);
      std::nth_element(roughness.begin(), middle, roughness.end());
      set_.noise = *middle;
    }
    set_.noise = std::max(set_.noise, 0.01 * set_.cell);
    std::vector<double> densities;
    for (Place& place : places_) {
      place.flat = place.flat && place.around.rms < 1.4 * set_.noise;
      if (place.flat) densities.push_back(place.around_count / (9 * set_.cell * set_.cell));
    }
    if (!densities.empty()) {
      const auto middle = densities.begin() + (densities.size() / 2);
      std::nth_element(densities.begin(), middle, densities.end());
      set_.density = *middle;
    }
  }

  void grow_from_everywhere() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t c = 0; c < places_.size(); ++c)
      if (places_[c].flat) order.push_back(c);
    RandomStream random(options_.seed, 0, "scan:planes");
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    for (const std::uint32_t seed : order)
      if (places_[seed].plane < 0) grow(seed);
  }

  void grow(std::uint32_t seed) {
    const auto number = narrow<std::int32_t>(clusters_.size());
    Moments moments = places_[seed].moments;
    FittedPlane plane = places_[seed].around;
    std::vector<std::uint32_t> members = {seed};
    places_[seed].plane = number;
    double fitted_with = 0;
    for (std::size_t begin = 0; begin < members.size();) {
      const std::size_t end = members.size();  // one layer at a time, so that the plane is refitted in between
      for (std::size_t i = begin; i < end; ++i) {
        neighbours(members[i], 1, [&](std::size_t c) {
          Place& place = places_[c];
          if (!place.flat || place.plane >= 0) return;
          if (std::fabs(dot(place.around.normal, plane.normal)) < same_way) return;
          if (std::fabs(plane.distance(place.moments.mean())) > 2 * set_.noise) return;
          place.plane = number;
          moments.add(place.moments);
          members.push_back(narrow<std::uint32_t>(c));
        });
      }
      begin = end;
      if (moments.count > 1.1 * fitted_with && moments.count >= 24) {
        const FittedPlane better = fit_plane(moments);
        if (better.spread > 0.5 * set_.cell) plane = better;
        fitted_with = moments.count;
      }
    }
    if (members.size() < 4 || moments.count < 16 || plane.rms > 1.6 * set_.noise) {
      for (const std::uint32_t c : members) places_[c].plane = -1;
      return;
    }
    clusters_.push_back({moments, plane, std::move(members)});
  }

  // Merges into a cluster the clusters that it touches, if a common plane fits both about as well as their own.
  // Returns whether any was merged.
  bool merge_into(std::int32_t a, std::vector<std::vector<std::int32_t>>& owners) {
    std::vector<std::int32_t> touching;
    for (const std::uint32_t c : clusters_[a].members)
      for (const std::uint32_t near : within_two(c))
        for (const std::int32_t b : owners[near])
          if (b != a && !clusters_[b].members.empty()) touching.push_back(b);
    std::sort(touching.begin(), touching.end());
    touching.erase(std::unique(touching.begin(), touching.end()), touching.end());
    bool merged = false;
    for (const std::int32_t b : touching) {
      Cluster &one = clusters_[a], &other = clusters_[b];
      if (std::fabs(dot(one.plane.normal, other.plane.normal)) < one_way) continue;
      Moments both = one.moments;
      both.add(other.moments);
      const FittedPlane joint = fit_plane(both);
      // The smaller one is checked separately, because the larger one dominates the common residual.
      const Cluster& small = one.moments.count < other.moments.count ? one : other;
      if (joint.rms > 1.25 * set_.noise || std::fabs(joint.distance(small.moments.mean())) > 0.7 * set_.noise) continue;
      for (const std::uint32_t c : other.members) {
        if (places_[c].plane == b) places_[c].plane = a;
        owners[c].push_back(a);
      }
      one.members.insert(one.members.end(), other.members.begin(), other.members.end());
      one.moments = both;
      one.plane = joint;
      other.members.clear();
      merged = true;
    }
    return merged;
  }

  void merge() {
    // A cell at an edge may belong to several clusters.
    std::vector<std::vector<std::int32_t>> owners(places_.size());
    for (std::size_t a = 0; a < clusters_.size(); ++a)
      for (const std::uint32_t c : clusters_[a].members) owners[c].push_back(narrow<std::int32_t>(a));
    for (std::size_t a = 0; a < clusters_.size(); ++a)
      while (merge_into(narrow<std::int32_t>(a), owners)) {}
    std::vector<std::int32_t> number(clusters_.size(), -1);
    std::vector<Cluster> kept;
    set_.planes.clear();
    for (std::size_t a = 0; a < clusters_.size(); ++a) {
      if (clusters_[a].members.empty()) continue;
      number[a] = narrow<std::int32_t>(kept.size());
      set_.planes.push_back(clusters_[a].plane);
      kept.push_back(std::move(clusters_[a]));
    }
    clusters_ = std::move(kept);
    for (Place& place : places_)
      if (place.plane >= 0) place.plane = number[place.plane];
  }

  // Assigns every point to a near plane: the plane of its cell, or else the nearest plane around it.
  void assign() {
    set_.label.assign(points_.size(), -1);
    ambiguous_.assign(points_.size(), false);
    doubly_explained_.assign(points_.size(), false);
    const double limit = 3 * set_.noise;
    std::vector<std::int32_t> near;
    for (std::size_t c = 0; c < places_.size(); ++c) {
      near.clear();
      for (const std::uint32_t other : within_two(c))
        if (places_[other].plane >= 0) near.push_back(places_[other].plane);
      std::sort(near.begin(), near.end());
      near.erase(std::unique(near.begin(), near.end()), near.end());
      for (const std::uint32_t i : grid_.members(grid_.cells()[c])) {
        double least = limit;
        int on = 0;
        for (const std::int32_t p : near) {
          const double d = std::fabs(set_.planes[p].distance(local(i)));
          on += d < limit;
          if (d < least) {
            least = d;
            set_.label[i] = p;
          }
        }
        const std::int32_t own = places_[c].plane;
        if (own >= 0 && std::fabs(set_.planes[own].distance(local(i))) < limit) set_.label[i] = own;
        // Parallel planes have no edge between them.
        ambiguous_[i] = std::any_of(near.begin(), near.end(), [&](std::int32_t p) {
          return set_.label[i] >= 0 && std::fabs(set_.planes[p].distance(local(i))) < 0.9 * limit &&
                 std::fabs(dot(set_.planes[p].normal, set_.planes[set_.label[i]].normal)) < one_way;
        });
        doubly_explained_[i] = on > 1;
      }
    }
  }

  // A small face is flat only in its centre, and assign() considers planes within two cells. Unassigned points up to
  // the edges are assigned to a plane that has points next to them. (Otherwise the unassigned edges of two faces would
  // look like a plane across their corner.)
  void reach_edges() {
    std::vector<std::size_t> look, next;  // cells
    for (std::size_t c = 0; c < places_.size(); ++c) look.push_back(c);
    std::vector<std::pair<std::int32_t, int>> beside;  // planes and their numbers of points there
    std::vector<std::pair<std::uint32_t, std::int32_t>> found;
    while (!look.empty()) {
      found.clear(), next.clear();
      for (const std::size_t c : look) {
        const std::span<const std::uint32_t> members = grid_.members(grid_.cells()[c]);
        if (std::none_of(members.begin(), members.end(), [&](std::uint32_t i) { return set_.label[i] < 0; })) continue;
        beside.clear();
        neighbours(c, 1, [&](std::size_t near) {
          for (const std::uint32_t i : grid_.members(grid_.cells()[near])) {
            if (set_.label[i] < 0) continue;
            const auto known = std::find_if(beside.begin(), beside.end(),
                                            [&](const auto& entry) { return entry.first == set_.label[i]; });
            if (known != beside.end()) ++known->second;
            else beside.push_back({set_.label[i], 1});
          }
        });
        const std::size_t before = found.size();
        for (const std::uint32_t i : members) {
          if (set_.label[i] >= 0) continue;
          double least = 3 * set_.noise;
          std::int32_t nearest = -1;
          for (const auto& [plane, count] : beside) {
            const double d = std::fabs(set_.planes[plane].distance(local(i)));
            if (count > 1 && d < least) least = d, nearest = plane;  // a single point may be an outlier
          }
          if (nearest >= 0) found.push_back({i, nearest});
        }
        if (found.size() > before) neighbours(c, 1, [&](std::size_t near) { next.push_back(near); });
      }
      // Only after all cells are done, so that the order of the cells does not matter.
      for (const auto& [i, plane] : found) set_.label[i] = plane, ambiguous_[i] = true;
      std::sort(next.begin(), next.end());
      next.erase(std::unique(next.begin(), next.end()), next.end());
      look.swap(next);
    }
  }

  // Removes planes whose points are nearly all on other planes, too: they are artefacts at an edge.
  void drop_explained() {
    std::vector<double> all(set_.planes.size()), shared(set_.planes.size());
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (set_.label[i] < 0) continue;
      all[set_.label[i]] += 1;
      shared[set_.label[i]] += doubly_explained_[i];
    }
    for (Place& place : places_)
      if (place.plane >= 0 && shared[place.plane] > 0.75 * all[place.plane]) place.plane = -1;
  }

  // Adds the cells of all points that are assigned to a cluster.
  void extend_clusters() {
    for (std::uint32_t i = 0; i < points_.size(); ++i)
      if (set_.label[i] >= 0) clusters_[set_.label[i]].members.push_back(grid_.cell_of_point(i));
    for (Cluster& cluster : clusters_) {
      std::sort(cluster.members.begin(), cluster.members.end());
      cluster.members.erase(std::unique(cluster.members.begin(), cluster.members.end()), cluster.members.end());
    }
  }

  // Fits planes without the points near two planes, which would bias both.
  void refit() {
    std::vector<Moments> clear(set_.planes.size()), all(set_.planes.size());
    for (std::uint32_t i = 0; i < points_.size(); ++i) {
      if (set_.label[i] < 0) continue;
      all[set_.label[i]].add(local(i));
      if (!ambiguous_[i]) clear[set_.label[i]].add(local(i));
    }
    for (std::size_t p = 0; p < set_.planes.size(); ++p) {
      const Moments& use = clear[p].count >= 24 ? clear[p] : all[p];
      if (use.count < 8) continue;
      const FittedPlane plane = fit_plane(use);
      if (plane.spread <= 0.5 * set_.cell) continue;
      set_.planes[p] = clusters_[p].plane = plane;
      clusters_[p].moments = use;
    }
  }

  void drop_empty() {
    std::vector<std::size_t> count(set_.planes.size());
    for (const std::int32_t label : set_.label)
      if (label >= 0) ++count[label];
    std::vector<std::int32_t> number(set_.planes.size(), -1);
    std::vector<FittedPlane> kept;
    for (std::size_t p = 0; p < count.size(); ++p) {
      if (count[p] < 16) continue;
      number[p] = narrow<std::int32_t>(kept.size());
      kept.push_back(set_.planes[p]);
      kept.back().offset += dot(kept.back().normal, origin_);
    }
    set_.planes = std::move(kept);
    for (std::int32_t& label : set_.label)
      if (label >= 0) label = number[label];
  }

  std::span<const Vec3> points_;
  Vec3 origin_;
  PlaneOptions options_;
  CellGrid grid_;
  std::vector<Place> places_;
  std::vector<Cluster> clusters_;
  std::vector<bool> ambiguous_, doubly_explained_;
  std::vector<std::uint32_t> within_two_;  // of all cells, one after another
  std::vector<std::size_t> first_within_two_;
  double least_around_ = 8;  // smallest number of points in a cell and its neighbours for a plane fit
  PlaneSet set_;
};

}  // namespace

PlaneSet find_planes(std::span<const Vec3> points, const PlaneOptions& options) {
  PlaneSet none;
  none.label.assign(points.size(), -1);
  none.first = none.label;
  if (points.size() < 16) return none;
  return PlaneFinder(points, options, std::max(cell_for(points, 3), 5 * options.noise), points[0]).find();
}

}  // namespace volvox::scan
