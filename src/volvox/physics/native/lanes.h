// Doubles side by side. Kernels are templates over T = double, four lanes or eight, and choose
// between values instead of branching, so that a lane has the bits that the scalar has,
// whatever register width the machine offers. Eight lanes want registers of 512 bits: with narrower ones the compiler
// (GCC 12) moves vectors that are wider than a register through memory, which took most of a kernel's time.
#pragma once

#include <cmath>
#include <concepts>
#include <cstring>
#include <new>
#include <vector>

#include "volvox/base/isa.h"

// Every kernel is inlined, so that no vector crosses a call.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace volvox::physics::native {

template <int count>
struct VectorOf {
  typedef double Lanes __attribute__((vector_size(8 * count)));
  typedef long Mask __attribute__((vector_size(8 * count)));  // what comparisons give
};
using FourLanes = VectorOf<4>::Lanes;
using EightLanes = VectorOf<8>::Lanes;

template <class T>
struct LaneTraits {
  static constexpr int count = sizeof(T) / sizeof(double);
  using Mask = typename VectorOf<count>::Mask;
};
template <>
struct LaneTraits<double> {
  using Mask = bool;
  static constexpr int count = 1;
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

template <class T>
concept SideBySide = std::same_as<T, FourLanes> || std::same_as<T, EightLanes>;
template <class M>
concept MaskSideBySide = std::same_as<M, MaskOf<FourLanes>> || std::same_as<M, MaskOf<EightLanes>>;

VOLVOX_KERNEL double choose(bool which, double yes, double no) { return which ? yes : no; }
template <SideBySide T>
VOLVOX_KERNEL T choose(const MaskOf<T>& which, const T& yes, const T& no) {
  return which ? yes : no;
}
VOLVOX_KERNEL double square_root(double x) { return std::sqrt(x); }
template <SideBySide T>
VOLVOX_KERNEL T square_root(const T& x) {
  T root;
  for (int i = 0; i < lane_count<T>; ++i) root[i] = __builtin_sqrt(x[i]);
  return root;
}

VOLVOX_KERNEL bool any(bool mask) { return mask; }
template <MaskSideBySide Mask>
VOLVOX_KERNEL bool any(const Mask& mask) {
  long all = 0;
  for (int i = 0; i < static_cast<int>(sizeof mask / sizeof all); ++i) all |= mask[i];
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
template <SideBySide T>
VOLVOX_KERNEL void put(T& all, int lane, double value) {
  std::memcpy(reinterpret_cast<char*>(&all) + lane * static_cast<int>(sizeof value), &value, sizeof value);
}
VOLVOX_KERNEL void put(bool& all, int /*lane*/, bool value) { all = value; }
template <MaskSideBySide Mask>
VOLVOX_KERNEL void put(Mask& all, int lane, bool value) {
  const long bits = value ? -1 : 0;
  std::memcpy(reinterpret_cast<char*>(&all) + lane * static_cast<int>(sizeof bits), &bits, sizeof bits);
}
VOLVOX_KERNEL double take(const double& all, int /*lane*/) { return all; }
template <SideBySide T>
VOLVOX_KERNEL double take(const T& all, int lane) {
  double value;
  std::memcpy(&value, reinterpret_cast<const char*>(&all) + lane * static_cast<int>(sizeof value), sizeof value);
  return value;
}
VOLVOX_KERNEL bool take(const bool& all, int /*lane*/) { return all; }
template <MaskSideBySide Mask>
VOLVOX_KERNEL bool take(const Mask& all, int lane) {
  long bits;
  std::memcpy(&bits, reinterpret_cast<const char*>(&all) + lane * static_cast<int>(sizeof bits), sizeof bits);
  return bits != 0;
}

}  // namespace volvox::physics::native
