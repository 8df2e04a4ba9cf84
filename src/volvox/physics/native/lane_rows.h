// Rows of numbers, one for each lane, turned into lanes in registers, and lanes into rows. Copies: nothing is rounded.
// Pure functions.
#pragma once

#include <cstring>
#include <utility>

#include "volvox/physics/native/lanes.h"

namespace volvox::physics::native {

namespace detail {

template <int stride, class Vector, int... lane>
VOLVOX_KERNEL void exchange(Vector& a, Vector& b, std::integer_sequence<int, lane...>) {
  constexpr int count = sizeof...(lane);
  const Vector x = a, y = b;
  a = __builtin_shufflevector(x, y, ((lane & stride) != 0 ? count + lane - stride : lane)...);
  b = __builtin_shufflevector(x, y, ((lane & stride) != 0 ? count + lane : lane + stride)...);
}

template <int stride, class Vector, int count>
VOLVOX_KERNEL void exchange_all(Vector (&rows)[count]) {
  for (int i = 0; i < count; ++i)
    if ((i & stride) == 0) exchange<stride>(rows[i], rows[i + stride], std::make_integer_sequence<int, count>{});
}

// Number k of row i becomes number i of row k.
template <class Vector, int count>
VOLVOX_KERNEL void transpose(Vector (&rows)[count]) {
  static_assert(count == 2 || count == 4 || count == 8);
  exchange_all<1>(rows);
  if constexpr (count > 2) exchange_all<2>(rows);
  if constexpr (count > 4) exchange_all<4>(rows);
}

// Of T, as many doubles as a vector of Exact<T> has; those of lanes from `first` on.
template <class T>
inline constexpr int doubles_side_by_side = coarse<T> ? lane_count<T> / 2 : lane_count<T>;
template <class T>
VOLVOX_KERNEL auto& vector_of(Exact<T>& all, [[maybe_unused]] int first) {
  if constexpr (!coarse<T>) return all;
  else return first == 0 ? all.low : all.high;
}
// The same where there may be one lane.
template <class T>
VOLVOX_KERNEL const auto& part_of(const Exact<T>& all, [[maybe_unused]] int first) {
  if constexpr (lane_count<T> == 1) return all;
  else return vector_of<T>(const_cast<Exact<T>&>(all), first);
}

}  // namespace detail

// `count` numbers of each row, a row for each lane; a multiple of eight.
template <class T>
VOLVOX_KERNEL void rows_to_lanes(const double* const* rows, int count, Exact<T>* to) {
  if constexpr (lane_count<T> == 1) {
    for (int k = 0; k < count; ++k) to[k] = rows[0][k];
  } else {
    constexpr int wide = detail::doubles_side_by_side<T>;
    typedef typename VectorOf<wide>::Lanes Vector;
    for (int first = 0; first < lane_count<T>; first += wide) {
      for (int block = 0; block < count; block += wide) {
        Vector v[wide];
        for (int i = 0; i < wide; ++i) std::memcpy(&v[i], rows[first + i] + block, sizeof(Vector));
        detail::transpose(v);
        for (int k = 0; k < wide; ++k) detail::vector_of<T>(to[block + k], first) = v[k];
      }
    }
  }
}
template <class T>
VOLVOX_KERNEL void lanes_to_rows(const Exact<T>* from, int count, double* const* rows) {
  if constexpr (lane_count<T> == 1) {
    for (int k = 0; k < count; ++k) rows[0][k] = from[k];
  } else {
    constexpr int wide = detail::doubles_side_by_side<T>;
    typedef typename VectorOf<wide>::Lanes Vector;
    for (int first = 0; first < lane_count<T>; first += wide) {
      for (int block = 0; block < count; block += wide) {
        Vector v[wide];
        for (int k = 0; k < wide; ++k) v[k] = detail::vector_of<T>(const_cast<Exact<T>&>(from[block + k]), first);
        detail::transpose(v);
        for (int i = 0; i < wide; ++i) std::memcpy(rows[first + i] + block, &v[i], sizeof(Vector));
      }
    }
  }
}
// Rows of less than eight numbers, from the first of `rows` on: as many as V has lanes.
template <int count, class V>
VOLVOX_KERNEL void columns_to_rows(const V (&columns)[8], double* const* rows) {
  if constexpr (std::same_as<V, double>) {
    for (int k = 0; k < count; ++k) rows[0][k] = columns[k];
  } else {
    constexpr int wide = sizeof(V) / sizeof(double);
    for (int block = 0; block < count; block += wide) {
      V v[wide];
      for (int k = 0; k < wide; ++k) v[k] = columns[block + k];
      detail::transpose(v);
      const std::size_t some = static_cast<std::size_t>(count - block < wide ? count - block : wide);
      for (int i = 0; i < wide; ++i) std::memcpy(rows[i] + block, &v[i], some * sizeof(double));
    }
  }
}

}  // namespace volvox::physics::native
