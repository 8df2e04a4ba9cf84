// Boxes in a tree, so that those that are near another are found without looking at all. Those
// below a node are tried eight at a time: a large mesh costs few steps more than a small one.
// Lengths in m, in whatever frame the boxes are. It does not change once it is built, so that any number of threads may
// search; the same boxes give the same tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/physics/native/box.h"
#include "volvox/physics/native/lanes.h"

namespace volvox::physics::native {

class BoxTree {
 public:
  BoxTree() = default;
  explicit BoxTree(std::span<const Box3> boxes);

  // The numbers of the boxes that overlap `box` and come within `reach` of its centre, ascending.
  void find(const Box3& box, double reach, std::vector<std::uint32_t>& found) const;

 private:
  static constexpr std::uint32_t width = 8;
  struct Node {
    alignas(64) double centre[3][width];  // of what is below it, by axis
    double half[3][width];
    std::uint32_t below[width];  // nodes, or, of a leaf, boxes
    bool leaf = true;
    void set(std::uint32_t place, const Box3& box, std::uint32_t number);
    std::uint32_t near(const Box3& box, double reach) const;
  };
  using Range = std::span<std::uint32_t>;  // of numbers of boxes
  std::uint32_t build(std::span<const Box3> boxes, Range numbers);
  static std::size_t halve(std::span<const Box3> boxes, Range numbers);

  LaneVector<Node> nodes_;  // the root comes first
};

}  // namespace volvox::physics::native
