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

// Some lanes of a batch at work.
template <class T>
class BatchStep {
 public:
  VOLVOX_KERNEL BatchStep(const Batches& all, ContactBatch& batch, int first_lane)
      : c_(batch),
        lane_(first_lane),
        columns_(batch.columns_a + batch.columns_b),
        blocks_(all.blocks + batch.first_block),
        rows_(all.rows + batch.first_row),
        nothing_(all.nothing) {}

  // Returns by how much the velocities change, m/s.
  VOLVOX_KERNEL T run() {
    const int blocks_a = ContactBatch::blocks(c_.columns_a);
    gather(blocks_, c_.columns_a, x_);
    gather(blocks_ + blocks_a * ContactBatch::lanes, c_.columns_b, x_ + c_.columns_a);
    const T zero{}, before = at(c_.impulse[0]), spare = velocity(0) - at(c_.target);
    if (!any((before != zero) | (spare < zero))) return zero;  // they do not touch, and stay so
    const T normal = larger(zero, before * at(c_.keep) - spare * at(c_.normal_gain)), dn = normal - before;
    const T before_t = at(c_.impulse[1]), before_u = at(c_.impulse[2]), gain = at(c_.tangent_gain);
    const T free_t = before_t - gain * (velocity(1) + at(c_.gram[1]) * dn);
    const T free_u = before_u - gain * (velocity(2) + at(c_.gram[2]) * dn);
    const T most = at(c_.friction) * normal, size = free_t * free_t + free_u * free_u;
    const T scale = choose(size > most * most, most / square_root(size), zero + 1.0);
    // What does not push has zeros without a sign, whether it is alone in its registers or not.
    const MaskOf<T> pushes = normal > zero;
    const T lt = choose(pushes, free_t * scale, zero), lu = choose(pushes, free_u * scale, zero), dt = lt - before_t,
            du = lu - before_u;
    put_lanes(c_.impulse[0] + lane_, normal), put_lanes(c_.impulse[1] + lane_, lt);
    put_lanes(c_.impulse[2] + lane_, lu);
    for (int k = 0; k < columns_; ++k) x_[k] = x_[k] + (row(0, k) * dn + row(1, k) * dt + row(2, k) * du);
    scatter(x_, c_.columns_a, blocks_);
    scatter(x_ + c_.columns_a, c_.columns_b, blocks_ + blocks_a * ContactBatch::lanes);
    return larger(magnitude(dn) * at(c_.gram[0]),
                  larger(magnitude(dt) * at(c_.gram[3]), magnitude(du) * at(c_.gram[5])));
  }

 private:
  static constexpr int width = lane_count<T>;
  static constexpr int most_columns = 2 * ContactBatch::most_blocks * row_block;

  VOLVOX_KERNEL T at(const double* numbers) const { return lanes_at<T>(numbers + lane_); }
  VOLVOX_KERNEL T row(int direction, int column) const {
    return lanes_at<T>(rows_ + (direction * columns_ + column) * ContactBatch::lanes + lane_);
  }
  VOLVOX_KERNEL T velocity(int direction) const {
    T a{}, b{};
    for (int k = 0; k < c_.columns_a; ++k) a = a + row(direction, k) * x_[k];
    for (int k = c_.columns_a; k < columns_; ++k) b = b + row(direction, k) * x_[k];
    return at(c_.free[direction]) + (a + b);
  }

  // Block by block, as many columns of it at a time as there are lanes. Blocks have eight columns in memory, whether
  // they are used or not.
  VOLVOX_KERNEL void gather(double* const* blocks, int columns, T* x) const {
    for (int first = 0; first < columns; first += row_block, blocks += ContactBatch::lanes) {
      const int here = columns - first < row_block ? columns - first : row_block;
      for (int k = 0; k < here; k += width) {
        if (here - k == 1) {
          alignas(64) double column[width];
          for (int i = 0; i < width; ++i) column[i] = blocks[lane_ + i][k];
          x[first + k] = lanes_at<T>(column);
          break;
        }
        T m[width];
        for (int i = 0; i < width; ++i) m[i] = lanes_at<T>(blocks[lane_ + i] + k);
        transpose(m);
        for (int i = 0; i < width && k + i < here; ++i) x[first + k + i] = m[i];
      }
    }
  }
  VOLVOX_KERNEL void scatter(const T* x, int columns, double* const* blocks) const {
    for (int first = 0; first < columns; first += row_block, blocks += ContactBatch::lanes) {
      const int here = columns - first < row_block ? columns - first : row_block;
      for (int k = 0; k < here; k += width) {
        if (here - k == 1) {
          alignas(64) double column[width];
          put_lanes(column, x[first + k]);
          for (int i = 0; i < width; ++i)
            if (blocks[lane_ + i] != nothing_) blocks[lane_ + i][k] = column[i];
          break;
        }
        T m[width];
        for (int i = 0; i < width; ++i) m[i] = k + i < here ? x[first + k + i] : T{};
        transpose(m);
        for (int i = 0; i < width; ++i)
          if (blocks[lane_ + i] != nothing_) put_lanes(blocks[lane_ + i] + k, m[i]);
      }
    }
  }

  ContactBatch& c_;
  int lane_, columns_;
  double* const* blocks_;
  const double *rows_, *nothing_;
  alignas(64) T x_[most_columns];
};

template <class T>
VOLVOX_KERNEL double solve_all_batches(const Batches& all) {
  T most{};
  for (std::size_t i = 0; i < all.count; ++i) {
    for (int lane = 0; lane < ContactBatch::lanes; lane += lane_count<T>)
      most = larger(most, BatchStep<T>(all, all.first[i], lane).run());
  }
  double largest = 0;
  for (int i = 0; i < lane_count<T>; ++i) largest = largest < take(most, i) ? take(most, i) : largest;
  return largest;
}

}  // namespace volvox::physics::native
