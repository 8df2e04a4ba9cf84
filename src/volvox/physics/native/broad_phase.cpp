#include "volvox/physics/native/broad_phase.h"

#include <algorithm>

namespace volvox::physics::native {
namespace {

constexpr std::size_t cells_of_a_chunk = 32;

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
      large_.push_back(i);
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
  if (grid_.cells().empty()) return;
  lowest_ = highest_ = grid_.cells().front().key;
  for (const CellGrid::Cell& cell : grid_.cells()) {
    lowest_ = {std::min(lowest_.x, cell.key.x), std::min(lowest_.y, cell.key.y), std::min(lowest_.z, cell.key.z)};
    highest_ = {std::max(highest_.x, cell.key.x), std::max(highest_.y, cell.key.y), std::max(highest_.z, cell.key.z)};
  }
}

// All small clusters that may be near each other: cells are at least as wide as the widest of them. Each cell looks at
// itself and at one of every two neighbours that lie opposite each other. Robots that drive about on a plane have cells
// in a layer or two, and nobody looks beyond.
template <class Visit>
void BroadPhase::for_small_pairs(std::size_t first_cell, std::size_t last_cell, const Visit& visit) const {
  for (const CellGrid::Cell& cell : std::span(grid_.cells()).subspan(first_cell, last_cell - first_cell)) {
    const std::span<const std::uint32_t> own = grid_.members(cell);
    for (std::size_t i = 0; i < own.size(); ++i)
      for (std::size_t k = i + 1; k < own.size(); ++k) visit(small_[own[i]], small_[own[k]]);
    const auto look = [&](int dx, int dy, int dz) {
      const CellKey key{cell.key.x + dx, cell.key.y + dy, cell.key.z + dz};
      if (key.x < lowest_.x || key.y < lowest_.y || key.x > highest_.x || key.y > highest_.y) return;
      const std::int64_t other = grid_.find(key);
      if (other < 0) return;
      for (const std::uint32_t i : own)
        for (const std::uint32_t k : grid_.members(grid_.cells()[static_cast<std::size_t>(other)]))
          visit(small_[i], small_[k]);
    };
    look(1, 0, 0);
    for (int dx = -1; dx <= 1; ++dx) look(dx, 1, 0);
    if (cell.key.z == highest_.z) continue;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx) look(dx, dy, 1);
  }
}

// The same of those that are near one.
template <class Visit>
void BroadPhase::for_near(std::size_t small, const Visit& visit) const {
  const CellKey own = cell_of(centres_[small], cell_);
  const CellKey low{std::max(own.x - 1, lowest_.x), std::max(own.y - 1, lowest_.y), std::max(own.z - 1, lowest_.z)};
  const CellKey high{std::min(own.x + 1, highest_.x), std::min(own.y + 1, highest_.y), std::min(own.z + 1, highest_.z)};
  grid_.within(low, high, [&](std::uint32_t i) { visit(small_[i]); });
}

void BroadPhase::find_pairs(std::span<const Item> items, std::vector<Pair>& pairs, ThreadPool* threads) {
  pairs.clear();
  make_clusters(items);
  choose_cell();
  fill_grid();
  const auto looks = [&](std::size_t i) { return clusters_[i].asks && clusters_[i].moves; };
  const auto meet_in = [&](std::size_t i, std::size_t k, std::vector<Pair>& found) {
    if ((looks(i) || looks(k)) && overlap(clusters_[i].box, clusters_[k].box))
      pair_up(items, clusters_[i], clusters_[k], found);
  };
  const auto meet = [&](std::size_t i, std::size_t k) { meet_in(i, k, pairs); };
  std::size_t looking = 0;
  for (std::size_t i = 0; i < clusters_.size(); ++i) {
    const Cluster& cluster = clusters_[i];
    if (cluster.asks && cluster.last - cluster.first > 1 && !cluster.quiet) pair_up(items, cluster, cluster, pairs);
    looking += looks(i);
  }
  for (std::size_t i = 0; i < large_.size(); ++i) {
    for (std::size_t k = i + 1; k < large_.size(); ++k) meet(large_[i], large_[k]);
    for (const std::size_t k : small_) meet(large_[i], k);
  }
  if (4 * looking > clusters_.size()) {
    const std::size_t cells = grid_.cells().size(), chunks = (cells + cells_of_a_chunk - 1) / cells_of_a_chunk;
    if (found_.size() < chunks) found_.resize(chunks);
    parallel_for(threads, chunks, 1, [&](std::size_t chunk) {
      std::vector<Pair>& found = found_[chunk];
      found.clear();
      const std::size_t first = chunk * cells_of_a_chunk;
      for_small_pairs(first, std::min(first + cells_of_a_chunk, cells),
                      [&](std::size_t i, std::size_t k) { meet_in(i, k, found); });
    });
    for (std::size_t chunk = 0; chunk < chunks; ++chunk)
      pairs.insert(pairs.end(), found_[chunk].begin(), found_[chunk].end());
  } else {
    for (std::size_t n = 0; n < small_.size(); ++n) {
      const std::size_t i = small_[n];
      if (!looks(i)) continue;
      for_near(n, [&](std::size_t k) {
        // Of two that look, the first finds the second.
        if (k != i && (!looks(k) || i < k)) meet(i, k);
      });
    }
  }
  if (!pairs.empty()) sort(static_cast<std::size_t>(items.back().body) + 1, pairs);
}

// By the first body, and then, few each time, by the second.
void BroadPhase::sort(std::size_t bodies, std::vector<Pair>& pairs) {
  places_.assign(bodies + 1, 0);
  for (const Pair& pair : pairs) ++places_[static_cast<std::size_t>(pair.a) + 1];
  for (std::size_t i = 1; i <= bodies; ++i) places_[i] += places_[i - 1];
  sorted_.resize(pairs.size());
  for (const Pair& pair : pairs) sorted_[places_[static_cast<std::size_t>(pair.a)]++] = pair;
  pairs.swap(sorted_);
  for (auto first = pairs.begin(); first != pairs.end();) {
    const auto last = std::find_if(first, pairs.end(), [&](const Pair& pair) { return pair.a != first->a; });
    std::sort(first, last);
    first = last;
  }
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
