#include "volvox/physics/native/broad_phase.h"

#include <algorithm>

namespace volvox::physics::native {
namespace {

double size_of(const Box3& box) { return 2 * std::max({box.half.x, box.half.y, box.half.z}); }

}  // namespace

void BroadPhase::make_clusters(std::span<const Item> items) {
  clusters_.clear();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    const bool joins = i > 0 && item.owner != 0 && item.owner == items[i - 1].owner;
    if (!joins) clusters_.push_back({i, i, false, true, false, item.box});
    Cluster& cluster = clusters_.back();
    cluster.last = i + 1;
    cluster.moves = cluster.moves || item.moves;
    cluster.asks = cluster.asks || item.asks;
    cluster.quiet = cluster.quiet && item.quiet;
    if (joins) cluster.box = around(cluster.box, item.box);
  }
}

// The mean size, or rather the largest that is not far above it.
void BroadPhase::choose_cell() {
  double total = 0;
  std::size_t count = 0;
  for (const Cluster& cluster : clusters_) {
    if (cluster.moves) total += size_of(cluster.box), ++count;
  }
  const double limit = count > 0 ? 4 * total / static_cast<double>(count) : 0;
  cell_ = 1e-3;
  large_.clear();
  is_large_.assign(clusters_.size(), 0);
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    const double size = size_of(clusters_[i].box);
    if (size > limit) {
      is_large_[i] = 1;
      large_.push_back(static_cast<int>(i));
    } else {
      cell_ = std::max(cell_, size);
    }
  }
}

void BroadPhase::fill_grid() {
  small_.clear();
  centres_.clear();
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    if (is_large_[i]) continue;
    small_.push_back(i);
    centres_.push_back(clusters_[i].box.centre);
  }
  grid_.fill(centres_, cell_);
}

// Visits every cluster that may be near one.
template <class Visit>
void BroadPhase::for_near(std::size_t index, const Visit& visit) const {
  for (int i : large_) visit(static_cast<std::size_t>(i));
  if (is_large_[index]) {
    for (const std::size_t i : small_) visit(i);
    return;
  }
  const CellKey own = cell_of(clusters_[index].box.centre, cell_);
  grid_.any_within({own.x - 1, own.y - 1, own.z - 1}, {own.x + 1, own.y + 1, own.z + 1}, [&](std::uint32_t i) {
    visit(small_[i]);
    return false;
  });
}

void BroadPhase::find_pairs(std::span<const Item> items, std::vector<Pair>& pairs) {
  pairs.clear();
  make_clusters(items);
  choose_cell();
  fill_grid();
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    const Cluster& cluster = clusters_[i];
    if (!cluster.asks) continue;
    if (cluster.last - cluster.first > 1 && !cluster.quiet) pair_up(items, cluster, cluster, pairs);
    if (!cluster.moves) continue;
    for_near(i, [&](std::size_t other) {
      const Cluster& o = clusters_[other];
      // Of two that move and ask, the first finds the second.
      if (other != i && (!o.moves || !o.asks || i < other) && overlap(cluster.box, o.box))
        pair_up(items, cluster, o, pairs);
    });
  }
  std::sort(pairs.begin(), pairs.end());
}

void BroadPhase::pair_up(std::span<const Item> items, const Cluster& x, const Cluster& y,
                         std::vector<Pair>& pairs) const {
  for (std::size_t i = x.first; i < x.last; ++i) {
    if (!overlap(items[i].box, y.box)) continue;
    for (std::size_t k = &x == &y ? i + 1 : y.first; k < y.last; ++k) {
      const Item &a = items[i], &b = items[k];
      if ((!a.moves && !b.moves) || (!a.asks && !b.asks) || !overlap(a.box, b.box)) continue;
      const bool in_order = a.moves && (!b.moves || a.body < b.body);
      pairs.push_back(in_order ? Pair{a.body, b.body} : Pair{b.body, a.body});
    }
  }
}

}  // namespace volvox::physics::native
