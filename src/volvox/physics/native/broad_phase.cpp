#include "volvox/physics/native/broad_phase.h"

#include <algorithm>
#include <cmath>

namespace volvox::physics::native {
namespace {

double size_of(const Box3& box) { return 2 * std::max({box.half.x, box.half.y, box.half.z}); }

constexpr std::int64_t offset = 1 << 20;  // cells are counted from -offset; 21 bits a coordinate

std::uint64_t pack(std::int64_t x, std::int64_t y, std::int64_t z) {
  const auto bits = [](std::int64_t v) {
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(v + offset, 0, 2 * offset - 1));
  };
  return bits(x) << 42 | bits(y) << 21 | bits(z);
}

std::uint64_t scatter(std::uint64_t cell) {
  cell ^= cell >> 31;
  cell *= 0x9e3779b97f4a7c15ull;
  return cell ^ cell >> 29;
}

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

std::uint64_t BroadPhase::cell_of(const Vec3& p) const {
  return pack(static_cast<std::int64_t>(std::floor(p.x / cell_)), static_cast<std::int64_t>(std::floor(p.y / cell_)),
              static_cast<std::int64_t>(std::floor(p.z / cell_)));
}

void BroadPhase::fill_grid() {
  std::uint64_t slots = 16;
  while (slots < 2 * clusters_.size()) slots *= 2;
  mask_ = slots - 1;
  head_.assign(slots, -1);
  entries_.resize(clusters_.size());
  // Backwards, so that chains run in the order of the clusters.
  for (std::size_t i = clusters_.size(); i-- > 0;) {
    if (is_large_[i]) continue;
    Entry& entry = entries_[i];
    entry.cell = cell_of(clusters_[i].box.centre);
    int& head = head_[scatter(entry.cell) & mask_];
    entry.next = head;
    head = static_cast<int>(i);
  }
}

// Visits every cluster that may be near one, at least once.
template <class Visit>
void BroadPhase::for_near(std::size_t index, const Visit& visit) const {
  for (int i : large_) visit(static_cast<std::size_t>(i));
  if (is_large_[index]) {
    for (std::size_t i = 0; i < clusters_.size(); ++i) {
      if (!is_large_[i]) visit(i);
    }
    return;
  }
  const Vec3& c = clusters_[index].box.centre;
  const auto x = static_cast<std::int64_t>(std::floor(c.x / cell_)),
             y = static_cast<std::int64_t>(std::floor(c.y / cell_));
  const auto z = static_cast<std::int64_t>(std::floor(c.z / cell_));
  for (std::int64_t dx = -1; dx <= 1; ++dx) {
    for (std::int64_t dy = -1; dy <= 1; ++dy) {
      for (std::int64_t dz = -1; dz <= 1; ++dz) {
        const std::uint64_t cell = pack(x + dx, y + dy, z + dz);
        for (int i = head_[scatter(cell) & mask_]; i >= 0; i = entries_[static_cast<std::size_t>(i)].next) {
          if (entries_[static_cast<std::size_t>(i)].cell == cell) visit(static_cast<std::size_t>(i));
        }
      }
    }
  }
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
  // At the edge of the grid cells coincide, and a pair may be found twice.
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
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
