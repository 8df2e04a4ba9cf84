#include "volvox/physics/native/box_tree.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "volvox/physics/native/eight.h"

namespace volvox::physics::native {
namespace {

double along(const Vec3& v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

Box3 around_all(std::span<const Box3> boxes, std::span<const std::uint32_t> numbers) {
  Box3 all = boxes[numbers.front()];
  for (std::uint32_t i : numbers.subspan(1)) all = around(all, boxes[i]);
  return all;
}

// Of eight boxes, those that are near, as bits.
VOLVOX_FOR_EACH_ISA(std::uint32_t, near_of_eight,
                    (const double (&centres)[3][8], const double (&halves)[3][8], const double (&box)[6], double reach),
                    (centres, halves, box, reach)) {
  constexpr double values[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  Eight bits;
  load(bits, values);
  Eight farthest = {}, square = {};
  for (int axis = 0; axis < 3; ++axis) {
    Eight centre, half;
    std::memcpy(&centre, centres[axis], sizeof centre);
    std::memcpy(&half, halves[axis], sizeof half);
    const Eight gap = magnitude(centre - box[axis]) - half, outside = larger(gap, Eight{});
    farthest = larger(farthest, gap - box[3 + axis]);
    square += outside * outside;
  }
  const Eight found = choose((farthest <= 0.0) & (square <= reach * reach), bits, Eight{});
  double one[8];
  std::memcpy(one, &found, sizeof one);
  return static_cast<std::uint32_t>(((one[0] + one[1]) + (one[2] + one[3])) + ((one[4] + one[5]) + (one[6] + one[7])));
}

}  // namespace

BoxTree::BoxTree(std::span<const Box3> boxes) {
  std::vector<std::uint32_t> numbers(boxes.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i);
  if (!boxes.empty()) (void)build(boxes, numbers);
}

void BoxTree::Node::set(std::uint32_t place, const Box3& box, std::uint32_t number) {
  for (int axis = 0; axis < 3; ++axis)
    centre[axis][place] = along(box.centre, axis), half[axis][place] = along(box.half, axis);
  below[place] = number;
}

// At the median along the longest side.
std::size_t BoxTree::halve(std::span<const Box3> boxes, Range numbers) {
  const Box3 all = around_all(boxes, numbers);
  const int axis = all.half.x >= all.half.y && all.half.x >= all.half.z ? 0 : all.half.y >= all.half.z ? 1 : 2;
  const std::size_t middle = numbers.size() / 2;
  std::nth_element(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(middle), numbers.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     const double x = along(boxes[a].centre, axis), y = along(boxes[b].centre, axis);
                     return x != y ? x < y : a < b;
                   });
  return middle;
}

std::uint32_t BoxTree::build(std::span<const Box3> boxes, Range numbers) {
  const std::uint32_t index = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  Node node;
  // Nothing is as near as nowhere.
  const double nowhere = std::numeric_limits<double>::infinity();
  for (std::uint32_t i = 0; i < width; ++i) node.set(i, {{nowhere, nowhere, nowhere}, {}}, 0);
  node.leaf = numbers.size() <= width;
  if (node.leaf) {
    for (std::uint32_t i = 0; i < numbers.size(); ++i) node.set(i, boxes[numbers[i]], numbers[i]);
  } else {
    Range parts[width] = {numbers};
    std::uint32_t count = 1;
    for (; count < width; ++count) {
      Range& largest =
          *std::max_element(parts, parts + count, [](const Range& a, const Range& b) { return a.size() < b.size(); });
      if (largest.size() <= width) break;
      const std::size_t middle = halve(boxes, largest);
      parts[count] = largest.subspan(middle);
      largest = largest.first(middle);
    }
    for (std::uint32_t i = 0; i < count; ++i) node.set(i, around_all(boxes, parts[i]), build(boxes, parts[i]));
  }
  nodes_[index] = node;
  return index;
}

std::uint32_t BoxTree::Node::near(const Box3& box, double reach) const {
  const double other[6] = {box.centre.x, box.centre.y, box.centre.z, box.half.x, box.half.y, box.half.z};
  return near_of_eight(centre, half, other, reach);
}

void BoxTree::find(const Box3& box, double reach, std::vector<std::uint32_t>& found) const {
  found.clear();
  if (nodes_.empty()) return;
  std::uint32_t waiting[128] = {0};  // at most seven of each level, and levels grow by the power of eight
  int count = 1;
  while (count > 0) {
    const Node& node = nodes_[waiting[--count]];
    for (std::uint32_t left = node.near(box, reach); left != 0; left &= left - 1) {
      const std::uint32_t number = node.below[std::countr_zero(left)];
      if (node.leaf) found.push_back(number);
      else waiting[count++] = number;
    }
  }
  std::sort(found.begin(), found.end());
}

}  // namespace volvox::physics::native
