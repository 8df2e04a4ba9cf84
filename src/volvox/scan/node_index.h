// The nearest nodes of a net that moves and grows: a grid of cells, each with a list of its nodes.
// Internal to scan/. Not a CellGrid, which is filled as a whole: here every signal moves a few nodes and asks for the
// nearest, however far away.
// Lengths in m. Owns its nodes; one thread. Nearest nodes do not depend on the order in which nodes came.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/base/math.h"

namespace volvox::scan {

class NodeIndex {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  // Nodes stay within these bounds, or count to the cells at their ends.
  NodeIndex(const Vec3& low, const Vec3& high, double cell) : low_(low), cell_(cell) {
    const Vec3 size = high - low;
    // Cells without nodes cost memory and nothing else, but not without end.
    while ((size.x / cell_ + 1) * (size.y / cell_ + 1) * (size.z / cell_ + 1) > 4e6) cell_ *= 1.3;
    for (int i = 0; i < 3; ++i) count_[i] = truncated(size[i] / cell_) + 1;
    inverse_ = 1 / cell_;
    head_.assign(narrow<std::size_t>(count_[0]) * count_[1] * count_[2], none);
  }

  double cell() const { return cell_; }
  const Vec3& position(std::uint32_t node) const { return nodes_[node].position; }
  bool holds(std::uint32_t node) const { return node < nodes_.size() && nodes_[node].cell != none; }

  void insert(std::uint32_t node, const Vec3& position) {
    if (node >= nodes_.size()) nodes_.resize(node + 1);
    nodes_[node].position = position;
    link(node, cell_of(position));
  }
  void erase(std::uint32_t node) { unlink(node); }
  void move(std::uint32_t node, const Vec3& position) {
    nodes_[node].position = position;
    const std::uint32_t cell = cell_of(position);
    if (cell == nodes_[node].cell) return;
    unlink(node);
    link(node, cell);
  }

  struct Found {
    std::uint32_t node = none;
    double distance_squared = 1e300;
  };
  // The K nearest, the nearest first; of two as near the one with the lower number. `none` where there
  // are fewer.
  template <int K>
  std::array<Found, K> nearest(const Vec3& p) const {
    std::array<Found, K> best;
    int at[3];
    double inside = 1e300;  // to the nearest side of p's cell
    for (int i = 0; i < 3; ++i) {
      const double x = (p[i] - low_[i]) * inverse_;
      at[i] = std::clamp(truncated(clamp(x, -1, 1e9)), 0, count_[i] - 1);
      inside = std::min({inside, (x - at[i]) * cell_, (at[i] + 1 - x) * cell_});
    }
    for (int ring = 0;; ++ring) {
      bool any = false;
      const int z0 = std::max(0, at[2] - ring), z1 = std::min(count_[2] - 1, at[2] + ring);
      const int y0 = std::max(0, at[1] - ring), y1 = std::min(count_[1] - 1, at[1] + ring);
      const int x0 = std::max(0, at[0] - ring), x1 = std::min(count_[0] - 1, at[0] + ring);
      for (int z = z0; z <= z1; ++z) {
        for (int y = y0; y <= y1; ++y) {
          const bool side = z == at[2] - ring || z == at[2] + ring || y == at[1] - ring || y == at[1] + ring;
          // Within a shell only the two ends of a row belong to it.
          const int step = side || ring == 0 ? 1 : std::max(1, 2 * ring);
          for (int x = side ? x0 : at[0] - ring; x <= x1; x += step) {
            if (x < x0) continue;
            any = true;
            look<K>(p, (narrow<std::size_t>(z) * count_[1] + y) * count_[0] + x, best);
          }
        }
      }
      const double searched = ring * cell_ + inside;
      if (searched > 0 && best[K - 1].distance_squared <= searched * searched) break;
      if (!any && ring > 0) break;  // beyond all cells
    }
    return best;
  }

 private:
  struct Node {
    Vec3 position;
    std::uint32_t cell = none, next = none, previous = none;
  };

  std::uint32_t cell_of(const Vec3& p) const {
    std::size_t number = 0;
    for (int i = 2; i >= 0; --i)
      number = number * count_[i] + std::clamp(truncated(clamp((p[i] - low_[i]) * inverse_, 0, 1e9)), 0, count_[i] - 1);
    return narrow<std::uint32_t>(number);
  }
  void link(std::uint32_t node, std::uint32_t cell) {
    Node& n = nodes_[node];
    n.cell = cell;
    n.previous = none;
    n.next = head_[cell];
    if (n.next != none) nodes_[n.next].previous = node;
    head_[cell] = node;
  }
  void unlink(std::uint32_t node) {
    Node& n = nodes_[node];
    (n.previous != none ? nodes_[n.previous].next : head_[n.cell]) = n.next;
    if (n.next != none) nodes_[n.next].previous = n.previous;
    n.cell = none;
  }
  template <int K>
  void look(const Vec3& p, std::size_t cell, std::array<Found, K>& best) const {
    for (std::uint32_t i = head_[cell]; i != none; i = nodes_[i].next) {
      const double d = length_squared(nodes_[i].position - p);
      if (d > best[K - 1].distance_squared) continue;
      Found found{i, d};
      for (int k = 0; k < K; ++k) {
        const bool before = found.distance_squared < best[k].distance_squared ||
                            (found.distance_squared == best[k].distance_squared && found.node < best[k].node);
        if (before) std::swap(found, best[k]);
      }
    }
  }

  Vec3 low_;
  double cell_, inverse_ = 1;
  int count_[3] = {1, 1, 1};
  std::vector<std::uint32_t> head_;
  std::vector<Node> nodes_;
};

}  // namespace volvox::scan
