// Eight doubles side by side. Kernels are templates over T = double or Lanes and choose
// between values instead of branching, so that a lane has the bits that the scalar has,
// whatever register width the machine offers.
#pragma once

#include <cmath>
#include <cstring>
#include <new>
#include <vector>

#include "volvox/base/isa.h"

// Every kernel is inlined, so that no vector crosses a call.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace volvox::physics::native {

typedef double Lanes __attribute__((vector_size(64)));
typedef long long LaneMask __attribute__((vector_size(64)));

template <class T>
struct LaneTraits;
template <>
struct LaneTraits<double> {
  using Mask = bool;
  static constexpr int count = 1;
};
template <>
struct LaneTraits<Lanes> {
  using Mask = LaneMask;
  static constexpr int count = 8;
};
// Code for wide registers takes lanes to be aligned, but code for narrow ones does not align
// them: memory for them says so itself, by alignas(sizeof(T)) or by this vector.
template <class T>
struct LaneAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};
  LaneAllocator() = default;
  template <class U>
  LaneAllocator(const LaneAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), alignment)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, alignment); }
  friend bool operator==(const LaneAllocator&, const LaneAllocator&) { return true; }
};
template <class T>
using LaneVector = std::vector<T, LaneAllocator<T>>;

template <class T>
using MaskOf = typename LaneTraits<T>::Mask;
template <class T>
inline constexpr int lane_count = LaneTraits<T>::count;

VOLVOX_KERNEL double choose(bool which, double yes, double no) { return which ? yes : no; }
VOLVOX_KERNEL Lanes choose(const LaneMask& which, const Lanes& yes, const Lanes& no) { return which ? yes : no; }
VOLVOX_KERNEL double square_root(double x) { return std::sqrt(x); }
VOLVOX_KERNEL Lanes square_root(const Lanes& x) {
  Lanes root;
  for (int i = 0; i < lane_count<Lanes>; ++i) root[i] = __builtin_sqrt(x[i]);
  return root;
}

VOLVOX_KERNEL bool any(bool mask) { return mask; }
VOLVOX_KERNEL bool any(const LaneMask& mask) {
  long long all = 0;
  for (int i = 0; i < lane_count<Lanes>; ++i) all |= mask[i];
  return all != 0;
}

template <class T>
VOLVOX_KERNEL T larger(const T& a, const T& b) {
  return choose(a < b, b, a);
}
template <class T>
VOLVOX_KERNEL T smaller(const T& a, const T& b) {
  return choose(b < a, b, a);
}
template <class T>
VOLVOX_KERNEL T bounded(const T& x, const T& low, const T& high) {
  return smaller(larger(x, low), high);
}
template <class T>
VOLVOX_KERNEL T magnitude(const T& x) {
  return choose(x < T{}, -x, x);
}

// One lane of many, in memory: a subscript would take the whole vector through registers.
VOLVOX_KERNEL void put(double& all, int /*lane*/, double value) { all = value; }
VOLVOX_KERNEL void put(Lanes& all, int lane, double value) {
  std::memcpy(reinterpret_cast<char*>(&all) + lane * static_cast<int>(sizeof value), &value, sizeof value);
}
VOLVOX_KERNEL void put(bool& all, int /*lane*/, bool value) { all = value; }
VOLVOX_KERNEL void put(LaneMask& all, int lane, bool value) { all[lane] = value ? -1 : 0; }
VOLVOX_KERNEL double take(const double& all, int /*lane*/) { return all; }
VOLVOX_KERNEL double take(const Lanes& all, int lane) {
  double value;
  std::memcpy(&value, reinterpret_cast<const char*>(&all) + lane * static_cast<int>(sizeof value), sizeof value);
  return value;
}
VOLVOX_KERNEL bool take(const bool& all, int /*lane*/) { return all; }
VOLVOX_KERNEL bool take(const LaneMask& all, int lane) { return all[lane] != 0; }

}  // namespace volvox::physics::native
