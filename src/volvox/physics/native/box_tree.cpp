#include "volvox/physics/native/box_tree.h"

#include <algorithm>

namespace volvox::physics::native {
namespace {

constexpr std::uint32_t leaf_size = 4;

double along(const Vec3& v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

}  // namespace

BoxTree::BoxTree(std::span<const Box3> boxes) {
  for (std::size_t i = 0; i < boxes.size(); ++i) order_.push_back(static_cast<std::uint32_t>(i));
  if (!boxes.empty()) build(boxes, 0, static_cast<std::uint32_t>(boxes.size()));
  for (std::uint32_t i : order_) boxes_.push_back(boxes[i]);
}

// Halves at the median along the longest side.
void BoxTree::build(std::span<const Box3> boxes, std::uint32_t first, std::uint32_t last) {
  const std::size_t node = nodes_.size();
  nodes_.push_back({});
  Box3 all = boxes[order_[first]];
  for (std::uint32_t i = first + 1; i < last; ++i) all = around(all, boxes[order_[i]]);
  nodes_[node].box = all;
  if (last - first <= leaf_size) {
    nodes_[node].first = first, nodes_[node].count = last - first;
  } else {
    const int axis = all.half.x >= all.half.y && all.half.x >= all.half.z ? 0 : all.half.y >= all.half.z ? 1 : 2;
    const std::uint32_t middle = (first + last) / 2;
    std::nth_element(order_.begin() + first, order_.begin() + middle, order_.begin() + last, [&](std::uint32_t a, std::uint32_t b) {
      const double x = along(boxes[a].centre, axis), y = along(boxes[b].centre, axis);
      return x != y ? x < y : a < b;
    });
    build(boxes, first, middle);
    build(boxes, middle, last);
  }
  nodes_[node].beyond = static_cast<std::uint32_t>(nodes_.size());
}

void BoxTree::find(const Box3& box, double reach, std::vector<std::uint32_t>& found) const {
  const auto near = [&](const Box3& other) { return overlap(other, box) && distance_squared(other, box.centre) <= reach * reach; };
  found.clear();
  for (std::size_t i = 0; i < nodes_.size();) {
    const Node& node = nodes_[i];
    if (!near(node.box)) {
      i = node.beyond;
      continue;
    }
    for (std::uint32_t k = node.first; k < node.first + node.count; ++k) {
      if (near(boxes_[k])) found.push_back(order_[k]);
    }
    ++i;
  }
  std::sort(found.begin(), found.end());
}

}  // namespace volvox::physics::native
