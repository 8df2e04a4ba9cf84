// Gilbert, Johnson and Keerthi's algorithm for several pairs of polyhedra side by side (T = lanes), or for one
// (T = double), with the same bits. It starts from any corners of the difference, best from those where it ended
// the last time, and the first polyhedron may be shifted away from the second: of two that overlap by less than the
// shift, it then finds the distance, and no polytope has to be expanded.
#pragma once

#include "volvox/physics/native/shape.h"
#include "volvox/physics/native/wide.h"

namespace volvox::physics::native {

// How a search ended, as a number in lanes.
enum class Search : int { open, far, near, inside };  // open: it has used up its rounds

template <class T>
VOLVOX_KERNEL T all_lanes(double x) {
  return T{} + x;
}
template <class T>
VOLVOX_KERNEL T all_lanes(Search x) {
  return T{} + static_cast<double>(x);
}

namespace detail {
// The lanes of v in another order: that of i is that of i ^ step.
template <int step, class T, int... all>
VOLVOX_KERNEL T crossed(const T& v, std::integer_sequence<int, all...>) {
  return __builtin_shufflevector(v, v, (all ^ step)...);
}
template <int step, class T>
VOLVOX_KERNEL void take_up_farther(T& most, T& which) {
  if constexpr (step > 0) {
    constexpr std::make_integer_sequence<int, lane_count<T>> all;
    const T other = crossed<step>(most, all), there = crossed<step>(which, all);
    const MaskOf<T> better = (other > most) | ((other == most) & (there < which));
    most = choose(better, other, most), which = choose(better, there, which);
    take_up_farther<step / 2>(most, which);
  }
}
}  // namespace detail

// The corner that is farthest along a direction, of several the first. T: as many corners at a time. (With a lane for
// each direction, all lanes would have to ask for the same polyhedron, and half of them stood empty.)
template <class T>
VOLVOX_KERNEL double farthest_corner(const Convex& hull, double dx, double dy, double dz) {
  const double *x = hull.x.data(), *y = hull.y.data(), *z = hull.z.data();
  const int count = static_cast<int>(hull.x.size());
  if constexpr (std::same_as<T, double>) {
    return wide_farthest(x, y, z, count, {dx, dy, dz});
  } else {
    typedef double Anywhere __attribute__((vector_size(sizeof(T)), aligned(8), may_alias));
    const auto at = [](const double* p) -> T { return *reinterpret_cast<const Anywhere*>(p); };
    T here, which, most = at(x) * dx + at(y) * dy + at(z) * dz;
    for (int i = 0; i < lane_count<T>; ++i) here[i] = i;
    which = here;
    for (int i = lane_count<T>; i < count; i += lane_count<T>) {
      const T along = at(x + i) * dx + at(y + i) * dy + at(z + i) * dz;
      here = here + static_cast<double>(lane_count<T>);
      const MaskOf<T> farther = along > most;
      most = choose(farther, along, most), which = choose(farther, here, which);
    }
    detail::take_up_farther<lane_count<T> / 2>(most, which);
    return which[0];
  }
}

template <class T>
class LaneSearch {
 public:
  using Mask = MaskOf<T>;
  static constexpr double none = -1;  // in place of a corner

  const Convex *a[lane_count<T>], *b[lane_count<T>];
  // Of the second polyhedron in the frame of the first.
  M3<T> axes;
  V3<T> position;
  V3<T> shift;  // of the first polyhedron
  T reach;      // farther apart is far
  // In: corners to start from, or none, and then `nearest` is a guess of the normal. Out: the corners that carry the
  // nearest point of the (shifted) difference to the origin, how much each, and that point.
  T corner_a[3], corner_b[3], weight[3];
  V3<T> nearest;
  T outcome, rounds;

  VOLVOX_KERNEL void run(int most_rounds) {
    for (int k = 0; k < 3; ++k) {
      const Mask has = corner_a[k] >= 0.0;
      point_[k] = difference(choose(has, corner_a[k], T{}), choose(has, corner_b[k], T{}));
    }
    const Mask begun = (corner_a[0] >= 0.0) | (corner_a[1] >= 0.0) | (corner_a[2] >= 0.0);
    nearest = choose(begun, nearest_of_three(), nearest);
    outcome = all_lanes<T>(Search::open), rounds = T{};
    for (int i = 0; i < most_rounds; ++i) {
      if (!any(outcome == all_lanes<T>(Search::open))) break;
      round();
    }
  }

 private:
  V3<T> point_[3];  // of the difference, at the corners

  VOLVOX_KERNEL static V3<T> corners_at(const Convex* const (&hulls)[lane_count<T>], const T& index) {
    alignas(sizeof(T)) V3<T> corner;
    for (int lane = 0; lane < lane_count<T>; ++lane) {
      const std::size_t i = static_cast<std::size_t>(take(index, lane));
      const Convex& hull = *hulls[lane];
      put(corner.x, lane, hull.x[i]), put(corner.y, lane, hull.y[i]), put(corner.z, lane, hull.z[i]);
    }
    return corner;
  }
  VOLVOX_KERNEL V3<T> difference(const T& i, const T& k) const {
    return corners_at(a, i) - (axes * corners_at(b, k) + position) + shift;
  }
  // Of the lanes that are open; of the others any corner.
  VOLVOX_KERNEL static T farthest(const Convex* const (&hulls)[lane_count<T>], const V3<T>& direction,
                                  const Mask& open) {
    T corner{};
    for (int lane = 0; lane < lane_count<T>; ++lane) {
      if (!take(open, lane)) continue;
      put(corner, lane,
          farthest_corner<T>(*hulls[lane], take(direction.x, lane), take(direction.y, lane), take(direction.z, lane)));
    }
    return corner;
  }
  VOLVOX_KERNEL Mask has(int k) const { return corner_a[k] >= 0.0; }

  VOLVOX_KERNEL void round() {
    const Mask open = outcome == all_lanes<T>(Search::open);
    const T size = dot(nearest, nearest);
    const T i = farthest(a, -nearest, open), k = farthest(b, transposed_times(axes, nearest), open);
    const V3<T> next = difference(i, k);
    const T progress = dot(nearest, next), bound = progress - dot(nearest, shift), gap = size - progress;
    rounds = choose(open, rounds + 1.0, rounds);
    // Whatever direction `nearest` is, bound / |nearest| is no more than the distance without the shift.
    const Mask far = open & (bound > 0.0) & (bound * bound > size * (reach * reach));
    Mask known = (i == corner_a[0]) & (k == corner_b[0]);
    for (int c = 1; c < 3; ++c) known = known | ((i == corner_a[c]) & (k == corner_b[c]));
    const Mask begun = has(0) | has(1) | has(2);
    const Mask near = open & !far & begun & (known | (gap <= size * 1e-13) | (gap * gap <= size * 1e-28));
    outcome = choose(far, all_lanes<T>(Search::far), choose(near, all_lanes<T>(Search::near), outcome));
    step(next, i, k, open & !far & !near, size, begun);
  }

  // Takes up another corner, in the lanes that are open.
  VOLVOX_KERNEL void step(const V3<T>& next, const T& i, const T& k, const Mask& open, const T& size,
                          const Mask& begun) {
    if (!any(open)) return;
    T weights[3];
    Mask inside;
    const V3<T> nearer = nearest_with(next, weights, inside);
    const T less = dot(nearer, nearer);
    const Mask overlaps = open & (inside | (less < 1e-22));
    const Mask stuck = open & !overlaps & begun & !(less < size);
    outcome = choose(overlaps, all_lanes<T>(Search::inside), choose(stuck, all_lanes<T>(Search::near), outcome));
    const Mask goes_on = open & !overlaps & !stuck;
    nearest = choose(goes_on, nearer, nearest);
    const T rest = 1.0 - weights[0] - weights[1] - weights[2];
    Mask placed = !goes_on;  // the new corner takes the first slot that is free
    for (int c = 0; c < 3; ++c) {
      const Mask kept = weights[c] > 0.0, taken = goes_on & !placed & !kept, freed = goes_on & !kept & !taken;
      placed = placed | taken;
      weight[c] = choose(taken, rest, choose(goes_on, choose(kept, weights[c], T{}), weight[c]));
      corner_a[c] = choose(taken, i, choose(freed, all_lanes<T>(none), corner_a[c]));
      corner_b[c] = choose(taken, k, choose(freed, all_lanes<T>(none), corner_b[c]));
      point_[c] = choose(taken, next, point_[c]);
    }
  }

  // A candidate for the nearest point: how far it is, and the weights of three corners.
  struct Candidate {
    T square, weight[3];
    VOLVOX_KERNEL void take_up(const Mask& better, const T& other, const T& w0, const T& w1, const T& w2) {
      square = choose(better, other, square);
      weight[0] = choose(better, w0, weight[0]), weight[1] = choose(better, w1, weight[1]);
      weight[2] = choose(better, w2, weight[2]);
    }
  };

  // The nearest point of the corners and a new one, which is sure to be part of what carries it. `weights` of the old
  // corners; the rest is the new one's.
  VOLVOX_KERNEL V3<T> nearest_with(const V3<T>& next, T (&weights)[3], Mask& inside) const {
    const V3<T> origin = -next;
    const V3<T> edge[3] = {point_[0] - next, point_[1] - next, point_[2] - next};
    const V3<T> turn[3] = {cross(origin, edge[0]), cross(origin, edge[1]), cross(origin, edge[2])};
    Candidate best{dot(origin, origin), {T{}, T{}, T{}}};
    for (int k = 0; k < 3; ++k) {
      const T along = dot(origin, edge[k]), length = dot(edge[k], edge[k]), square = dot(turn[k], turn[k]) / length;
      const Mask better = has(k) & (along > 0.0) & (along < length) & (square < best.square);
      const T t = along / length;
      best.take_up(better, square, k == 0 ? t : T{}, k == 1 ? t : T{}, k == 2 ? t : T{});
    }
    V3<T> normal[3];  // of the face of corners k and k + 1
    for (int k = 0; k < 3; ++k) {
      const int l = (k + 1) % 3;
      normal[k] = cross(edge[k], edge[l]);
      const T area = dot(normal[k], normal[k]), height = dot(origin, normal[k]), scale = 1.0 / area;
      const T u = dot(turn[l], normal[k]), w = -dot(turn[k], normal[k]), square = height * height * scale;
      const Mask better = has(k) & has(l) & (u > 0.0) & (w > 0.0) & (u + w < area) & (square <= best.square);
      const T of_k = u * scale, of_l = w * scale;
      best.take_up(better, square,
                   k == 0   ? of_k
                   : l == 0 ? of_l
                            : T{},
                   k == 1   ? of_k
                   : l == 1 ? of_l
                            : T{},
                   k == 2   ? of_k
                   : l == 2 ? of_l
                            : T{});
    }
    const T volume = dot(edge[0], normal[1]), sign = choose(volume > 0.0, all_lanes<T>(1.0), all_lanes<T>(-1.0));
    const T u = dot(origin, normal[1]) * sign, v = dot(origin, normal[2]) * sign, w = dot(origin, normal[0]) * sign;
    inside = has(0) & has(1) & has(2) & (u > 0.0) & (v > 0.0) & (w > 0.0) & (u + v + w < volume * sign);
    for (int k = 0; k < 3; ++k) weights[k] = best.weight[k];
    return next + edge[0] * weights[0] + edge[1] * weights[1] + edge[2] * weights[2];
  }

  // Of the corners from the last time, any of which may carry it. Those that do not are dropped.
  VOLVOX_KERNEL V3<T> nearest_of_three() {
    const T one = all_lanes<T>(1.0), zero{};
    Candidate best{all_lanes<T>(1e300), {zero, zero, zero}};
    for (int k = 0; k < 3; ++k) {
      const T square = dot(point_[k], point_[k]);
      best.take_up(has(k) & (square < best.square), square, k == 0 ? one : zero, k == 1 ? one : zero,
                   k == 2 ? one : zero);
    }
    for (int k = 0; k < 3; ++k) {
      const int l = (k + 1) % 3;
      const V3<T> edge = point_[l] - point_[k], turn = cross(point_[k], edge);
      const T along = -dot(point_[k], edge), length = dot(edge, edge), square = dot(turn, turn) / length;
      const Mask better = has(k) & has(l) & (along > 0.0) & (along < length) & (square < best.square);
      const T t = along / length, u = 1.0 - t;
      best.take_up(better, square,
                   k == 0   ? u
                   : l == 0 ? t
                            : zero,
                   k == 1   ? u
                   : l == 1 ? t
                            : zero,
                   k == 2   ? u
                   : l == 2 ? t
                            : zero);
    }
    const V3<T> e = point_[1] - point_[0], f = point_[2] - point_[0], normal = cross(e, f);
    const T area = dot(normal, normal), scale = 1.0 / area, height = dot(point_[0], normal);
    const T u = -dot(cross(point_[0], f), normal), w = dot(cross(point_[0], e), normal);
    const Mask better =
        has(0) & has(1) & has(2) & (u > 0.0) & (w > 0.0) & (u + w < area) & (height * height * scale <= best.square);
    const T of_1 = u * scale, of_2 = w * scale;
    best.take_up(better, height * height * scale, 1.0 - of_1 - of_2, of_1, of_2);
    for (int k = 0; k < 3; ++k) {
      weight[k] = best.weight[k];
      const Mask kept = weight[k] > 0.0;
      corner_a[k] = choose(kept, corner_a[k], all_lanes<T>(none));
      corner_b[k] = choose(kept, corner_b[k], all_lanes<T>(none));
    }
    return point_[0] * weight[0] + point_[1] * weight[1] + point_[2] * weight[2];
  }
};

}  // namespace volvox::physics::native
