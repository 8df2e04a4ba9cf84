// The search for pairs of polyhedra side by side, for one instruction set: search_avx512.cpp and its like include it.
#pragma once

#include "volvox/physics/native/gjk_lanes.h"
#include "volvox/physics/native/narrow_phase.h"

namespace volvox::physics::native {

template <class T>
VOLVOX_KERNEL void load(LaneSearch<T>& search, int lane, const ConvexPair& pair) {
  search.a[lane] = pair.a, search.b[lane] = pair.b;
  put(search.axes.r0, lane, plain(pair.place.axes.r0)), put(search.axes.r1, lane, plain(pair.place.axes.r1));
  put(search.axes.r2, lane, plain(pair.place.axes.r2)), put(search.position, lane, pair.place.position);
  put(search.shift, lane, pair.shift), put(search.reach, lane, pair.reach);
  put(search.nearest, lane, pair.guess);
  for (int k = 0; k < 3; ++k) {
    const bool has = pair.corners.has(k);
    put(search.corner_a[k], lane, has ? pair.corners.a(k) : LaneSearch<T>::none);
    put(search.corner_b[k], lane, has ? pair.corners.b(k) : LaneSearch<T>::none);
  }
}

template <class T>
VOLVOX_KERNEL void store(const LaneSearch<T>& search, int lane, ConvexPair& pair) {
  pair.nearest = {take(search.nearest.x, lane), take(search.nearest.y, lane), take(search.nearest.z, lane)};
  pair.outcome = static_cast<int>(take(search.outcome, lane));
  pair.rounds += static_cast<std::uint64_t>(take(search.rounds, lane));
  for (int k = 0; k < 3; ++k) {
    pair.corners.set(k, static_cast<int>(take(search.corner_a[k], lane)),
                     static_cast<int>(take(search.corner_b[k], lane)));
    pair.weight[static_cast<std::size_t>(k)] = take(search.weight[k], lane);
  }
}

template <class T>
VOLVOX_KERNEL void search_together(ConvexPair* const* pairs, int count, int rounds) {
  alignas(64) LaneSearch<T> search;
  for (int lane = 0; lane < lane_count<T>; ++lane) load(search, lane, *pairs[lane < count ? lane : count - 1]);
  search.run(rounds);
  for (int lane = 0; lane < count; ++lane) store(search, lane, *pairs[lane]);
}

// One that is left over is searched for alone, which has the same bits.
template <class T>
VOLVOX_KERNEL void search_all(ConvexPair* const* pairs, std::size_t count, int rounds) {
  constexpr std::size_t width = lane_count<T>;
  for (std::size_t first = 0; first < count; first += width) {
    const int here = static_cast<int>(count - first < width ? count - first : width);
    if (width == 1 || here == 1) search_together<double>(pairs + first, 1, rounds);
    else search_together<T>(pairs + first, here, rounds);
  }
}

}  // namespace volvox::physics::native
