#include "volvox/scan/growing_grid.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/scan/node_index.h"
#include "volvox/scan/settle.h"

namespace volvox::scan {
namespace {

class Grid {
 public:
  Grid(const Cloud& cloud, const GrowingGridOptions& options)
      : cloud_(cloud), options_(options), random_(options.seed, 0, "scan:growing_grid"), index_({}, {}, 1) {
    // The first four nodes are in the plane of the two longest axes of the cloud.
    Moments moments;
    for (const Vec3& p : cloud.points) {
      box_.add(p);
      moments.add(p - cloud.points[0]);
    }
    const FittedPlane plane = fit_plane(moments);
    const Vec3 middle = moments.mean() + cloud.points[0];
    const Vec3 u = perpendicular(plane.normal), v = cross(plane.normal, u);
    for (const double y : {-0.5, 0.5})
      for (const double x : {-0.5, 0.5}) nodes_.push_back(middle + (u * x + v * y) * plane.spread);
    rows_ = columns_ = 2;
    wins_.assign(4, 0);
    for (int d = 0; d <= reach; ++d) kernel_[d] = volvox::exp(-d * d / (2 * options.radius * options.radius));
    make_index();
  }

  std::size_t triangles() const { return std::size_t{2} * (rows_ - 1) * (columns_ - 1); }
  std::size_t size() const { return nodes_.size(); }

  void learn(double step) {
    const Vec3& signal = cloud_.points[random_.below(cloud_.points.size())];
    const std::uint32_t winner = index_.nearest<1>(signal)[0].node;
    ++wins_[winner];
    const int rows = rows_, columns = columns_, row = winner / columns_, column = winner % columns_;
    for (int dy = -reach; dy <= reach; ++dy) {
      const int y = row + dy;
      if (y < 0 || y >= rows) continue;
      const int width = reach - std::abs(dy);
      for (int x = std::max(0, column - width); x <= std::min(columns - 1, column + width); ++x) {
        const std::uint32_t n = y * columns + x;
        nodes_[n] += (signal - nodes_[n]) * (step * kernel_[std::abs(dy) + std::abs(x - column)]);
        index_.move(n, nodes_[n]);
      }
    }
  }

  // Inserts a row or column between the node that won most often and one of its direct neighbours.
  void grow() {
    const std::size_t most = std::max_element(wins_.begin(), wins_.end()) - wins_.begin();
    const std::size_t row = most / columns_, column = most % columns_;
    double largest = -1;
    bool along_row = true;
    std::size_t before = 0;  // the new one is inserted after this
    const auto try_neighbour = [&](bool in_row, std::size_t other, std::size_t first) {
      const double measure = options_.by_wins ? real(wins_[other]) : length(nodes_[other] - nodes_[most]);
      if (measure > largest) largest = measure, along_row = in_row, before = first;
    };
    if (column > 0) try_neighbour(true, most - 1, column - 1);
    if (column + 1 < columns_) try_neighbour(true, most + 1, column);
    if (row > 0) try_neighbour(false, most - columns_, row - 1);
    if (row + 1 < rows_) try_neighbour(false, most + columns_, row);
    std::vector<Vec3> grown;
    if (along_row) {
      for (std::size_t y = 0; y < rows_; ++y) {
        for (std::size_t x = 0; x < columns_; ++x) {
          grown.push_back(nodes_[y * columns_ + x]);
          if (x == before) grown.push_back((nodes_[y * columns_ + x] + nodes_[y * columns_ + x + 1]) * 0.5);
        }
      }
      ++columns_;
    } else {
      for (std::size_t y = 0; y < rows_; ++y) {
        for (std::size_t x = 0; x < columns_; ++x) grown.push_back(nodes_[y * columns_ + x]);
        if (y == before)
          for (std::size_t x = 0; x < columns_; ++x)
            grown.push_back((nodes_[y * columns_ + x] + nodes_[(y + 1) * columns_ + x]) * 0.5);
      }
      ++rows_;
    }
    nodes_ = std::move(grown);
    wins_.assign(nodes_.size(), 0);
    make_index();
  }

  TriangleMesh finish(const PlaneSet& planes) {
    std::vector<bool> alive(nodes_.size(), true);
    const NodePlanes node_planes = settle(cloud_, planes, index_, nodes_, alive, 1, options_.sharpen);
    ManifoldMesh net;
    for (std::size_t n = 0; n < nodes_.size(); ++n) net.add_node();
    const auto common = [&](std::uint32_t a, std::uint32_t b) {
      int count = 0;
      for (const std::int32_t p : node_planes[a])
        count += std::count(node_planes[b].begin(), node_planes[b].end(), p) > 0;
      return count;
    };
    std::vector<Triangle> faces;
    for (std::uint32_t y = 0; y + 1 < rows_; ++y) {
      for (std::uint32_t x = 0; x + 1 < columns_; ++x) {
        const std::uint32_t a = y * columns_ + x, b = a + 1, d = a + columns_, c = d + 1;
        // The diagonal that stays on a plane; otherwise the shorter one.
        const int ac = common(a, c), bd = common(b, d);
        const bool first = ac != bd ? ac > bd : length(nodes_[a] - nodes_[c]) <= length(nodes_[b] - nodes_[d]);
        if (first) faces.insert(faces.end(), {{a, b, c}, {a, c, d}});
        else faces.insert(faces.end(), {{a, b, d}, {b, c, d}});
      }
    }
    const std::vector<Triangle> refused = net.add_faces(std::move(faces));
    VOLVOX_CHECK(refused.empty(), "a grid is a two-manifold");
    TriangleMesh mesh;
    if (options_.sharpen) stretch_boundary(cloud_, planes, node_planes, index_, net, nodes_);
    mesh.vertices = nodes_;
    mesh.triangles = net.triangles();
    return oriented(std::move(mesh));
  }

 private:
  static constexpr int reach = 3;  // farther nodes would move by less than 1/250 of the winner

  void make_index() {
    if (base_cell_ == 0) base_cell_ = index_cell(cloud_, 1);
    index_ = NodeIndex(box_.low, box_.high, base_cell_ / std::sqrt(real(nodes_.size())));
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) index_.insert(n, nodes_[n]);
  }

  const Cloud& cloud_;
  GrowingGridOptions options_;
  RandomStream random_;
  NodeIndex index_;
  model::Bounds box_;
  double base_cell_ = 0;
  std::uint32_t rows_ = 0, columns_ = 0;
  std::vector<Vec3> nodes_;  // row by row
  std::vector<std::uint32_t> wins_;
  double kernel_[reach + 1] = {};
};

}  // namespace

TriangleMesh build_growing_grid(const Cloud& cloud, const PlaneSet& planes, const GrowingGridOptions& options,
                                const Progress& progress) {
  Grid grid(cloud, options);
  std::size_t steps = 0;
  while (grid.triangles() < options.triangles && (options.steps == 0 || steps < options.steps)) {
    const double nodes = real(grid.size());
    auto signals = truncated<std::size_t>(
        std::max(std::min(options.signals_a_node * nodes, options.most_signals), options.least_a_node * nodes));
    if (options.steps > 0) signals = std::min(signals, options.steps - steps);
    for (std::size_t i = 0; i < signals; ++i, ++steps) grid.learn(options.growing_step);
    if (options.steps > 0 && steps == options.steps) break;  // what is learned last is not followed by an insertion
    grid.grow();
    if (progress) progress(0.7 * real(grid.triangles()) / real(options.triangles));
  }
  const auto tuning = truncated<std::size_t>(options.tuning_signals_a_node * real(grid.size()));
  const double decay = volvox::log(options.last_step / options.growing_step);
  for (std::size_t i = 0; i < tuning; ++i) {
    grid.learn(options.growing_step * volvox::exp(decay * real(i) / real(tuning)));
    if (progress && i % 65536 == 0) progress(0.7 + 0.3 * real(i) / real(tuning));
  }
  return grid.finish(planes);
}

}  // namespace volvox::scan
