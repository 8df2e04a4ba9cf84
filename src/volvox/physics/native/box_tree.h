// Boxes in a tree, so that those that overlap another are found without looking at all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/physics/native/box.h"

namespace volvox::physics::native {

class BoxTree {
 public:
  BoxTree() = default;
  explicit BoxTree(std::span<const Box3> boxes);

  // The numbers of the boxes that overlap `box` and come within `reach` of its centre, ascending.
  void find(const Box3& box, double reach, std::vector<std::uint32_t>& found) const;

 private:
  struct Node {
    Box3 box;
    std::uint32_t first = 0, count = 0;  // of a leaf, in order_
    std::uint32_t beyond = 0;            // the node that follows this one and all below it
  };
  void build(std::span<const Box3> boxes, std::uint32_t first, std::uint32_t last);

  std::vector<Node> nodes_;  // each before those below it
  std::vector<std::uint32_t> order_;
  std::vector<Box3> boxes_;  // in that order
};

}  // namespace volvox::physics::native
