// One projected step of eight contacts at a time, for one instruction set: batch_avx512.cpp and its like include it.
// The step is that of wide_solve (wide.cpp), lane by lane; the sums run over the columns in their order.
// Pure functions of their arguments, so that threads may run batches that share no island; every instruction set has
// the same bits.
#pragma once

#include "volvox/physics/native/contact_batch.h"
#include "volvox/physics/native/lanes.h"

namespace volvox::physics::native {

// Lanes at an address that is aligned to what a batch is aligned to, or to nothing.
template <class T>
struct Unaligned {
  typedef T Type __attribute__((aligned(8), may_alias));
};
template <>
struct Unaligned<double> {
  using Type = double;
};
template <class T>
VOLVOX_KERNEL T lanes_at(const double* p) {
  return *reinterpret_cast<const typename Unaligned<T>::Type*>(p);
}
template <class T>
VOLVOX_KERNEL void put_lanes(double* p, const T& v) {
  *reinterpret_cast<typename Unaligned<T>::Type*>(p) = v;
}

// As many vectors as they have lanes: rows become columns.
VOLVOX_KERNEL void transpose(double (&)[1]) {}
VOLVOX_KERNEL void transpose(FourLanes (&m)[4]) {
  for (int i = 0; i < 4; i += 2) {
    const FourLanes low = __builtin_shufflevector(m[i], m[i + 1], 0, 4, 2, 6);
    m[i + 1] = __builtin_shufflevector(m[i], m[i + 1], 1, 5, 3, 7), m[i] = low;
  }
  for (int i = 0; i < 2; ++i) {
    const FourLanes low = __builtin_shufflevector(m[i], m[i + 2], 0, 1, 4, 5);
    m[i + 2] = __builtin_shufflevector(m[i], m[i + 2], 2, 3, 6, 7), m[i] = low;
  }
}
VOLVOX_KERNEL void transpose(EightLanes (&m)[8]) {
  for (int i = 0; i < 8; i += 2) {
    const EightLanes low = __builtin_shufflevector(m[i], m[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    m[i + 1] = __builtin_shufflevector(m[i], m[i + 1], 1, 9, 3, 11, 5, 13, 7, 15), m[i] = low;
  }
  for (int k = 0; k < 4; ++k) {
    const int i = k / 2 * 4 + k % 2;
    const EightLanes low = __builtin_shufflevector(m[i], m[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    m[i + 2] = __builtin_shufflevector(m[i], m[i + 2], 2, 3, 10, 11, 6, 7, 14, 15), m[i] = low;
  }
  for (int i = 0; i < 4; ++i) {
    const EightLanes low = __builtin_shufflevector(m[i], m[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    m[i + 4] = __builtin_shufflevector(m[i], m[i + 4], 4, 5, 6, 7, 12, 13, 14, 15), m[i] = low;
  }
}

// One column of some blocks.
VOLVOX_KERNEL double column_of(double* const* blocks, int k, double) { return blocks[0][k]; }
VOLVOX_KERNEL FourLanes column_of(double* const* blocks, int k, FourLanes) {
  return FourLanes{blocks[0][k], blocks[1][k], blocks[2][k], blocks[3][k]};
}
VOLVOX_KERNEL EightLanes column_of(double* const* blocks, int k, EightLanes) {
  return EightLanes{blocks[0][k], blocks[1][k], blocks[2][k], blocks[3][k],
                    blocks[4][k], blocks[5][k], blocks[6][k], blocks[7][k]};
}

// Some lanes of a batch at work. Where the numbers of columns are known, loops over them are unrolled and coordinates
// stay in registers; -1: they are not.
template <class T, int known_a = -1, int known_b = -1>
class BatchStep {
 public:
  VOLVOX_KERNEL BatchStep(const Batches& all, ContactBatch& batch, int first_lane)
      : c_(batch),
        lane_(first_lane),
        blocks_(all.blocks + batch.first_block),
        rows_(all.rows + batch.first_row),
        nothing_(all.nothing) {}

  // Returns by how much the velocities change, m/s.
  VOLVOX_KERNEL T run() {
    alignas(64) T x[known_a < 0 ? most_columns : known_a + known_b];
    double* const* const blocks_b = blocks_ + ContactBatch::blocks(columns_a()) * ContactBatch::lanes;
    gather(blocks_, columns_a(), x);
    gather(blocks_b, columns_b(), x + columns_a());
    const T zero{}, before = at(c_.impulse[0]), spare = velocity(0, x) - at(c_.target);
    if (!any((before != zero) | (spare < zero))) return zero;  // they do not touch, and stay so
    const T normal = larger(zero, before * at(c_.keep) - spare * at(c_.normal_gain)), dn = normal - before;
    const T before_t = at(c_.impulse[1]), before_u = at(c_.impulse[2]), gain = at(c_.tangent_gain);
    const T free_t = before_t - gain * (velocity(1, x) + at(c_.gram[1]) * dn);
    const T free_u = before_u - gain * (velocity(2, x) + at(c_.gram[2]) * dn);
    const T most = at(c_.friction) * normal, size = free_t * free_t + free_u * free_u;
    const T scale = choose(size > most * most, most / square_root(size), zero + 1.0);
    // What does not push has zeros without a sign, whether it is alone in its registers or not.
    const MaskOf<T> pushes = normal > zero;
    const T lt = choose(pushes, free_t * scale, zero), lu = choose(pushes, free_u * scale, zero), dt = lt - before_t,
            du = lu - before_u;
    put_lanes(c_.impulse[0] + lane_, normal), put_lanes(c_.impulse[1] + lane_, lt);
    put_lanes(c_.impulse[2] + lane_, lu);
    const int all = columns();
#pragma GCC unroll 24
    for (int k = 0; k < all; ++k) x[k] = x[k] + (row(0, k) * dn + row(1, k) * dt + row(2, k) * du);
    scatter(x, columns_a(), blocks_);
    scatter(x + columns_a(), columns_b(), blocks_b);
    return larger(magnitude(dn) * at(c_.gram[0]),
                  larger(magnitude(dt) * at(c_.gram[3]), magnitude(du) * at(c_.gram[5])));
  }

 private:
  static constexpr int width = lane_count<T>;
  static constexpr int most_columns = 2 * ContactBatch::most_blocks * row_block;

  VOLVOX_KERNEL int columns_a() const {
    if constexpr (known_a >= 0) return known_a;
    else return c_.columns_a;
  }
  VOLVOX_KERNEL int columns_b() const {
    if constexpr (known_b >= 0) return known_b;
    else return c_.columns_b;
  }
  VOLVOX_KERNEL int columns() const { return columns_a() + columns_b(); }

  VOLVOX_KERNEL T at(const double* numbers) const { return lanes_at<T>(numbers + lane_); }
  VOLVOX_KERNEL T row(int direction, int column) const {
    return lanes_at<T>(rows_ + (direction * columns() + column) * ContactBatch::lanes + lane_);
  }
  VOLVOX_KERNEL T velocity(int direction, const T* x) const {
    T a{}, b{};
    const int end_a = columns_a(), end_b = columns();
#pragma GCC unroll 12
    for (int k = 0; k < end_a; ++k) a = a + row(direction, k) * x[k];
#pragma GCC unroll 12
    for (int k = end_a; k < end_b; ++k) b = b + row(direction, k) * x[k];
    return at(c_.free[direction]) + (a + b);
  }

  // Block by block, as many columns of it at a time as there are lanes. Blocks have eight columns in memory, whether
  // they are used or not.
  VOLVOX_KERNEL void gather(double* const* blocks, int columns, T* x) const {
#pragma GCC unroll 3
    for (int first = 0; first < columns; first += row_block, blocks += ContactBatch::lanes) {
      const int here = columns - first < row_block ? columns - first : row_block;
#pragma GCC unroll 8
      for (int k = 0; k < here; k += width) {
        if (here - k == 1) {
          x[first + k] = column_of(blocks + lane_, k, T{});
          break;
        }
        T m[width];
        for (int i = 0; i < width; ++i) m[i] = lanes_at<T>(blocks[lane_ + i] + k);
        transpose(m);
#pragma GCC unroll 8
        for (int i = 0; i < width; ++i)
          if (k + i < here) x[first + k + i] = m[i];
      }
    }
  }
  VOLVOX_KERNEL void scatter(const T* x, int columns, double* const* blocks) const {
#pragma GCC unroll 3
    for (int first = 0; first < columns; first += row_block, blocks += ContactBatch::lanes) {
      const int here = columns - first < row_block ? columns - first : row_block;
#pragma GCC unroll 8
      for (int k = 0; k < here; k += width) {
        if (here - k == 1) {
          alignas(64) double column[width];
          put_lanes(column, x[first + k]);
          for (int i = 0; i < width; ++i)
            if (blocks[lane_ + i] != nothing_) blocks[lane_ + i][k] = column[i];
          break;
        }
        T m[width];
#pragma GCC unroll 8
        for (int i = 0; i < width; ++i) m[i] = k + i < here ? x[first + k + i] : T{};
        transpose(m);
        for (int i = 0; i < width; ++i)
          if (blocks[lane_ + i] != nothing_) put_lanes(blocks[lane_ + i] + k, m[i]);
      }
    }
  }

  ContactBatch& c_;
  int lane_;
  double* const* blocks_;
  const double *rows_, *nothing_;
};

template <class T, int columns>
VOLVOX_KERNEL T solve_batch_of(const Batches& all, ContactBatch& batch, int lane) {
  if (batch.columns_b == columns) return BatchStep<T, columns, columns>(all, batch, lane).run();
  if (batch.columns_b == 0) return BatchStep<T, columns, 0>(all, batch, lane).run();
  return BatchStep<T>(all, batch, lane).run();
}

// Free bodies have six columns, and most robots of modules one, two or three more.
template <class T>
VOLVOX_KERNEL T solve_batch(const Batches& all, ContactBatch& batch, int lane) {
  if constexpr (lane_count < T >> 1) {
    if (batch.columns_a == 9) return solve_batch_of<T, 9>(all, batch, lane);
    if (batch.columns_a == 8) return solve_batch_of<T, 8>(all, batch, lane);
    if (batch.columns_a == 7) return solve_batch_of<T, 7>(all, batch, lane);
    if (batch.columns_a == 6) return solve_batch_of<T, 6>(all, batch, lane);
  }
  return BatchStep<T>(all, batch, lane).run();
}

template <class T>
VOLVOX_KERNEL double solve_all_batches(const Batches& all) {
  T most{};
  for (std::size_t i = 0; i < all.count; ++i) {
    for (int lane = 0; lane < ContactBatch::lanes; lane += lane_count<T>)
      most = larger(most, solve_batch<T>(all, all.first[i], lane));
  }
  double largest = 0;
  for (int i = 0; i < lane_count<T>; ++i) largest = largest < take(most, i) ? take(most, i) : largest;
  return largest;
}

}  // namespace volvox::physics::native
