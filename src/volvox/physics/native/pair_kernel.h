// Where one body of a pair lies in the frame of the other, and whether their boxes come near each other: several pairs
// side by side, with the bits of one alone. search_avx512.cpp and its like include it.
// SI units. Plain values; whoever lists pairs owns them, and one thread works at a pair.
#pragma once

#include <cstddef>
#include <span>

#include "volvox/physics/native/contact.h"
#include "volvox/physics/native/placement.h"
#include "volvox/physics/native/shape.h"

namespace volvox::physics::native {

// Two bodies whose contacts are looked for.
struct BodyPair {
  // Asked.
  int a = -1, b = -1;
  const Body *body_a = nullptr, *body_b = nullptr;
  const Shape *shape_a = nullptr, *shape_b = nullptr;
  double slack = 0;    // m; points nearer than this are looked for, whoever moves
  double turning = 0;  // m/s; how fast turning may move the surfaces of both

  // Found.
  Placement place;    // of b in a's frame
  double margin = 0;  // m; points farther apart than this do not touch within the horizon
  bool near = false;  // by the sides of the two boxes, the first in a's frame, the second in b's

  std::span<ContactPoint> past;                  // the contacts that they had
  std::size_t first_listed = 0, end_listed = 0;  // of their convexes that are near each other
};

// Sets what is found, for the next `horizon` seconds; by the instructions that a machine may have.
void place_pairs_sse2(BodyPair* pairs, std::size_t count, double horizon);
void place_pairs_avx2(BodyPair* pairs, std::size_t count, double horizon);
void place_pairs_avx512(BodyPair* pairs, std::size_t count, double horizon);

template <class T>
struct BoxOf {
  V3<T> centre, half;
};

// bounds_in() and overlap(), see box.h.
template <class T>
VOLVOX_KERNEL T spread(const V3<T>& half, const V3<T>& row) {
  return magnitude(row.x) * half.x + magnitude(row.y) * half.y + magnitude(row.z) * half.z;
}
template <class T>
VOLVOX_KERNEL BoxOf<T> bounds_in(const BoxOf<T>& box, const M3<T>& axes, const V3<T>& position, const T& margin) {
  return {axes * box.centre + position,
          {spread(box.half, axes.r0) + margin, spread(box.half, axes.r1) + margin, spread(box.half, axes.r2) + margin}};
}
template <class T>
VOLVOX_KERNEL MaskOf<T> overlap(const BoxOf<T>& a, const BoxOf<T>& b) {
  const V3<T> between = a.centre - b.centre, both = a.half + b.half;
  return (magnitude(between.x) <= both.x) & (magnitude(between.y) <= both.y) & (magnitude(between.z) <= both.z);
}

template <class T>
class LanePairs {
 public:
  VOLVOX_KERNEL void run(BodyPair* pairs, int count, double horizon) {
    for (int lane = 0; lane < lane_count<T>; ++lane) {
      const BodyPair& pair = pairs[lane < count ? lane : count - 1];
      load(a_, lane, *pair.body_a, *pair.shape_a), load(b_, lane, *pair.body_b, *pair.shape_b);
      put(slack_, lane, pair.slack), put(turning_, lane, pair.turning);
    }
    const T margin = slack_ + (length(a_.linear - b_.linear) + turning_) * horizon;
    const M3<T> axes = seen_from(a_.axes, b_.axes);
    const V3<T> position = transposed_times(a_.axes, b_.position - a_.position);
    const M3<T> back{
        {axes.r0.x, axes.r1.x, axes.r2.x}, {axes.r0.y, axes.r1.y, axes.r2.y}, {axes.r0.z, axes.r1.z, axes.r2.z}};
    const MaskOf<T> near = overlap(a_.box, bounds_in(b_.box, axes, position, margin)) &
                           overlap(b_.box, bounds_in(a_.box, back, back * -position, margin));
    for (int lane = 0; lane < count; ++lane) {
      BodyPair& pair = pairs[lane];
      pair.place = {{row(axes.r0, lane), row(axes.r1, lane), row(axes.r2, lane)}, plain(row(position, lane))};
      pair.margin = take(margin, lane), pair.near = take(near, lane);
    }
  }

 private:
  struct Side {
    M3<T> axes;
    V3<T> position, linear;
    BoxOf<T> box;
  };
  VOLVOX_KERNEL static void load(Side& side, int lane, const Body& body, const Shape& shape) {
    put(side.axes.r0, lane, plain(body.axes.r0)), put(side.axes.r1, lane, plain(body.axes.r1));
    put(side.axes.r2, lane, plain(body.axes.r2));
    put(side.position, lane, body.position), put(side.linear, lane, body.linear);
    put(side.box.centre, lane, shape.bounds.centre), put(side.box.half, lane, shape.bounds.half);
  }
  VOLVOX_KERNEL static V3<double> row(const V3<T>& v, int lane) {
    return {take(v.x, lane), take(v.y, lane), take(v.z, lane)};
  }
  alignas(64) Side a_, b_;
  T slack_, turning_;
};

template <class T>
VOLVOX_KERNEL void place_all(BodyPair* pairs, std::size_t count, double horizon) {
  constexpr std::size_t width = lane_count<T>;
  LanePairs<T> lanes;
  for (std::size_t first = 0; first < count; first += width)
    lanes.run(pairs + first, static_cast<int>(count - first < width ? count - first : width), horizon);
}

}  // namespace volvox::physics::native
