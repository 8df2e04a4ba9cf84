// Union-find (disjoint sets): connected components from connections that are added one by one.
// The root of a set is its lowest number, so that results do not depend on the order of joining.
// Not thread-safe: finding a root compresses the path to it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace volvox {

// For parents in any storage: parent(i) returns a reference to the parent of i; a root is its own parent.
template <class Index, class Parent>
Index find_root(Index i, const Parent& parent) {
  while (parent(i) != i) i = parent(i) = parent(parent(i));
  return i;
}

// False if both were in the same set.
template <class Index, class Parent>
bool join_sets(Index a, Index b, const Parent& parent) {
  a = find_root(a, parent), b = find_root(b, parent);
  parent(std::max(a, b)) = std::min(a, b);
  return a != b;
}

// Of the numbers 0 .. count - 1.
class UnionFind {
 public:
  explicit UnionFind(std::size_t count = 0) { reset(count); }

  // Makes every number a set of its own. Memory is reused.
  void reset(std::size_t count) {
    parent_.resize(count);
    std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
  }
  std::uint32_t root(std::uint32_t i) { return find_root(i, Parent{parent_}); }
  bool join(std::uint32_t a, std::uint32_t b) { return join_sets(a, b, Parent{parent_}); }  // false if already joined
  // The root of each number.
  std::vector<std::uint32_t> roots() {
    for (std::uint32_t i = 0; i < parent_.size(); ++i) parent_[i] = root(i);
    return parent_;
  }

 private:
  struct Parent {
    std::vector<std::uint32_t>& of;
    std::uint32_t& operator()(std::uint32_t i) const { return of[i]; }
  };

  std::vector<std::uint32_t> parent_;
};

}  // namespace volvox
