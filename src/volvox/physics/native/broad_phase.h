// Which bodies may touch: those whose boxes overlap. Bodies of one owner that follow each other
// form a cluster, and clusters are looked at first: a hashed grid for those of similar size;
// the few that are much larger are tried against everything. Stateless.
// Lengths in m, world frame. Pairs come sorted, and do not depend on threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/cell_grid.h"
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
  void find_pairs(std::span<const Item> items, std::vector<Pair>& pairs);

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
  void for_small_pairs(const Visit& visit) const;
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
};

}  // namespace volvox::physics::native
