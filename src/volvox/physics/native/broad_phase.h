// Which bodies may touch: those whose boxes overlap. Bodies of one owner that follow each other
// form a cluster, and clusters are looked at first: a hashed grid for those of similar size;
// the few that are much larger are tried against everything. Stateless.
// Lengths in m, world frame. Pairs come sorted, and do not depend on threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/cell_grid.h"
#include "volvox/base/thread_pool.h"
#include "volvox/physics/native/shape.h"

namespace volvox::physics::native {

class BroadPhase {
 public:
  struct Item {
    int body = -1;
    bool moves = false;       // of two bodies that do not, nothing is asked
    std::uint32_t owner = 0;  // 0: nobody
    bool quiet = false;       // does not touch others of its owner that are quiet, too
    bool asks = true;         // of two bodies that do not, nothing is asked either
    Box3 box;
  };
  struct Pair {
    int a, b;  // a moves; if both do, a < b
    friend auto operator<=>(const Pair&, const Pair&) = default;
  };

  // Items sorted by body. Pairs come out sorted.
  void find_pairs(std::span<const Item> items, std::vector<Pair>& pairs, ThreadPool* threads = nullptr);
  // visit(first, last) of the items of the last find_pairs(), cluster by cluster: of those whose box is near another.
  template <class Visit>
  void for_clusters_near(const Box3& box, double distance, const Visit& visit) const;

 private:
  struct Cluster {
    std::size_t first = 0, last = 0;  // items
    bool moves = false, quiet = true, asks = false;
    Box3 box;
  };

  void make_clusters(std::span<const Item> items);
  void choose_cell();
  void fill_grid();
  template <class Visit>
  void for_small_pairs(std::size_t first_cell, std::size_t last_cell, const Visit& visit) const;
  template <class Visit>
  void for_near(std::size_t small, const Visit& visit) const;
  void pair_up(std::span<const Item> items, const Cluster& x, const Cluster& y, std::vector<Pair>& pairs) const;

  void sort(std::size_t bodies, std::vector<Pair>& pairs);

  double cell_ = 1;
  std::vector<Cluster> clusters_;
  std::vector<std::size_t> large_;  // clusters
  std::vector<std::uint8_t> is_large_;
  std::vector<std::size_t> small_;  // the other clusters
  std::vector<Vec3> centres_;       // of those
  CellGrid grid_;
  CellKey lowest_, highest_;           // of its cells
  std::vector<std::uint32_t> places_;  // of the pairs of each body, while they are sorted
  std::vector<Pair> sorted_;
  std::vector<std::vector<Pair>> found_;  // by chunk of cells
};

template <class Visit>
void BroadPhase::for_clusters_near(const Box3& box, double distance, const Visit& visit) const {
  const Vec3 more{distance, distance, distance};
  const Box3 around{box.centre, box.half + more};
  const auto look = [&](std::size_t i) {
    if (overlap(clusters_[i].box, around)) visit(clusters_[i].first, clusters_[i].last);
  };
  for (const std::size_t i : large_) look(i);
  if (small_.empty()) return;
  // Small ones are no wider than a cell.
  const Vec3 reach = around.half + Vec3{cell_, cell_, cell_} * 0.5;
  const CellKey from = cell_of(box.centre - reach, cell_), to = cell_of(box.centre + reach, cell_);
  const CellKey low{std::max(from.x, lowest_.x), std::max(from.y, lowest_.y), std::max(from.z, lowest_.z)};
  const CellKey high{std::min(to.x, highest_.x), std::min(to.y, highest_.y), std::min(to.z, highest_.z)};
  if (low.x > high.x || low.y > high.y || low.z > high.z) return;
  const double cells = (1.0 + high.x - low.x) * (1.0 + high.y - low.y) * (1.0 + high.z - low.z);
  if (cells > static_cast<double>(small_.size()))
    for (const std::size_t i : small_) look(i);
  else grid_.within(low, high, [&](std::uint32_t i) { look(small_[i]); });
}

}  // namespace volvox::physics::native
