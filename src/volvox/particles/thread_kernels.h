// The arithmetic of threads, once for the processor (`Number` is Lanes: eight threads side by side) and for a GPU.
#pragma once

#include "volvox/particles/lanes.h"

namespace volvox::particles {

// With the pull t of each segment, (w_k + w_k+1 + a) t_k - w_k (n_k-1 . n_k) t_k-1 - w_k+1 (n_k . n_k+1) t_k+1 =
// length - rest: elimination forward, then back.
template <class Number>
struct Eliminated {
  Number nx, ny, nz, share, pull;  // direction, and the two numbers of the elimination
};

// From a segment's ends, as PointLanes or Point (w: 1 / mass), and the one before it, whose share is its 1 / pivot.
template <class Number, class Four>
VOLVOX_KERNEL Eliminated<Number> eliminate(const Four& a, const Four& b, const Number& length, const Number& rest,
                                           float compliance, Eliminated<Number>& before) {
  const auto holds = (rest >= 0) & (length > 0) & (a.w + b.w > 0);
  const Number inverse = holds ? 1 / length : Number{};
  Eliminated<Number> s;
  s.nx = (b.x - a.x) * inverse, s.ny = (b.y - a.y) * inverse, s.nz = (b.z - a.z) * inverse;
  const Number couple = -a.w * (s.nx * before.nx + s.ny * before.ny + s.nz * before.nz);
  s.share = couple * before.share;
  const Number pivot = holds ? a.w + b.w + compliance - couple * s.share : 1 - Number{};
  s.pull = holds ? (length - rest - couple * before.pull) * (1 / pivot) : Number{};
  before = s;
  before.share = 1 / pivot;
  return s;
}

// On the way back, from the last segment to the first.
template <class Number>
struct Pulled {
  Number pull, share, x, y, z;  // of the segment after
};
// What the segment's end moves, over its w.
template <class Number>
struct EndMove {
  Number x, y, z;
};
template <class Number>
VOLVOX_KERNEL EndMove<Number> pull_back(const Eliminated<Number>& s, Pulled<Number>& after) {
  after.pull = s.pull - after.share * after.pull;
  after.share = s.share;
  const Number x = s.nx * after.pull, y = s.ny * after.pull, z = s.nz * after.pull;
  const EndMove<Number> move{after.x - x, after.y - y, after.z - z};
  after.x = x, after.y = y, after.z = z;
  return move;
}

}  // namespace volvox::particles
