// Numbers side by side. Kernels are templates over T: doubles (one, four, eight) or Floats (one, four, eight, sixteen).
// They choose between values instead of branching, so that a lane has the bits that the scalar has, whatever register
// width the machine offers. Each width has the registers that it fits: with narrower ones the compiler (GCC 12) moves
// vectors that are wider than a register through memory, which took most of a kernel's time.
//
// What floats are too coarse for, poses and velocities that add up over a run, is Exact<T>: doubles, as many as T has
// lanes. Between the two go rounded() and widened(), which do nothing where T is of doubles.
// Plain values and pure functions; every lane has the bits that it would have alone.
#pragma once

#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>
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

// Floats, or one. Numbers in the text of a kernel are doubles, and a float times a double would be a double: as a
// struct, it takes them as floats.
template <int lanes>
struct VectorOfFloats {
  typedef float Lanes __attribute__((vector_size(4 * lanes)));
  typedef int Mask __attribute__((vector_size(4 * lanes)));
};
template <>
struct VectorOfFloats<1> {
  using Lanes = float;
  using Mask = bool;
};
template <int lanes>
struct Floats {
  using Vector = typename VectorOfFloats<lanes>::Lanes;
  using Mask = typename VectorOfFloats<lanes>::Mask;
  alignas(sizeof(Vector)) Vector v;

  Floats() = default;
  VOLVOX_KERNEL Floats(double x) : v(Vector{} + static_cast<float>(x)) {}  // implicit: see above
  VOLVOX_KERNEL static Floats of(const Vector& v) {
    Floats f;
    f.v = v;
    return f;
  }

  VOLVOX_KERNEL friend Floats operator+(const Floats& a, const Floats& b) { return of(a.v + b.v); }
  VOLVOX_KERNEL friend Floats operator-(const Floats& a, const Floats& b) { return of(a.v - b.v); }
  VOLVOX_KERNEL friend Floats operator*(const Floats& a, const Floats& b) { return of(a.v * b.v); }
  VOLVOX_KERNEL friend Floats operator/(const Floats& a, const Floats& b) { return of(a.v / b.v); }
  VOLVOX_KERNEL friend Floats operator-(const Floats& a) { return of(-a.v); }
  VOLVOX_KERNEL friend Mask operator<(const Floats& a, const Floats& b) { return a.v < b.v; }
  VOLVOX_KERNEL friend Mask operator>(const Floats& a, const Floats& b) { return a.v > b.v; }
  VOLVOX_KERNEL friend Mask operator<=(const Floats& a, const Floats& b) { return a.v <= b.v; }
  VOLVOX_KERNEL friend Mask operator>=(const Floats& a, const Floats& b) { return a.v >= b.v; }
  VOLVOX_KERNEL friend Mask operator==(const Floats& a, const Floats& b) { return a.v == b.v; }
  VOLVOX_KERNEL friend Mask operator!=(const Floats& a, const Floats& b) { return a.v != b.v; }
};

// As many doubles as there are Floats, in two vectors, each as wide as that of the floats.
template <int lanes>
struct Doubles {
  using Half = typename VectorOf<lanes / 2>::Lanes;
  alignas(sizeof(Half)) Half low;
  Half high;

  VOLVOX_KERNEL friend Doubles operator+(const Doubles& a, const Doubles& b) {
    return {a.low + b.low, a.high + b.high};
  }
  VOLVOX_KERNEL friend Doubles operator-(const Doubles& a, const Doubles& b) {
    return {a.low - b.low, a.high - b.high};
  }
  VOLVOX_KERNEL friend Doubles operator*(const Doubles& a, const Doubles& b) {
    return {a.low * b.low, a.high * b.high};
  }
};

template <class T>
struct ExactOf {
  using Type = T;
};
template <int lanes>
struct ExactOf<Floats<lanes>> {
  using Type = Doubles<lanes>;
};
template <>
struct ExactOf<Floats<1>> {
  using Type = double;
};
template <class T>
using Exact = typename ExactOf<T>::Type;
// The alignment of a struct that has both.
template <class T>
inline constexpr std::size_t lane_alignment = sizeof(T) < sizeof(double) ? sizeof(double) : sizeof(T);
// Whether T is coarser than that.
template <class T>
inline constexpr bool coarse = !std::same_as<T, Exact<T>>;

template <class T>
struct LaneTraits {
  static constexpr int count = sizeof(T) / sizeof(double);
  using Mask = typename VectorOf<count>::Mask;
};
template <int lanes>
struct LaneTraits<Floats<lanes>> {
  static constexpr int count = lanes;
  using Mask = typename Floats<lanes>::Mask;
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

#ifdef __CUDACC__  // on a GPU a lane is a thread, and a number is alone
template <class T>
concept SideBySide = false;
template <class M>
concept MaskSideBySide = false;
#else
template <class T>
concept SideBySide = std::same_as<T, FourLanes> || std::same_as<T, EightLanes>;
template <class M>
concept MaskSideBySide = std::same_as<M, MaskOf<FourLanes>> || std::same_as<M, MaskOf<EightLanes>> ||
    std::same_as<M, MaskOf<Floats<4>>> || std::same_as<M, MaskOf<Floats<8>>> || std::same_as<M, MaskOf<Floats<16>>>;
#endif

template <class Mask>
using MaskElement = std::remove_cvref_t<decltype(std::declval<Mask&>()[0])>;

VOLVOX_KERNEL double choose(bool which, double yes, double no) { return which ? yes : no; }
template <SideBySide T>
VOLVOX_KERNEL T choose(const MaskOf<T>& which, const T& yes, const T& no) {
  return which ? yes : no;
}
template <int lanes>
VOLVOX_KERNEL Floats<lanes> choose(const typename Floats<lanes>::Mask& which, const Floats<lanes>& yes,
                                   const Floats<lanes>& no) {
  return Floats<lanes>::of(which ? yes.v : no.v);
}
VOLVOX_KERNEL double square_root(double x) { return std::sqrt(x); }
template <SideBySide T>
VOLVOX_KERNEL T square_root(const T& x) {
  T root;
  for (int i = 0; i < lane_count<T>; ++i) root[i] = __builtin_sqrt(x[i]);
  return root;
}

template <int lanes>
VOLVOX_KERNEL Floats<lanes> square_root(const Floats<lanes>& x) {
  if constexpr (lanes == 1) {
    return Floats<1>::of(__builtin_sqrtf(x.v));
  } else {
    Floats<lanes> root;
    for (int i = 0; i < lanes; ++i) root.v[i] = __builtin_sqrtf(x.v[i]);
    return root;
  }
}

VOLVOX_KERNEL bool any(bool mask) { return mask; }
// By words, not by elements: GCC makes a loop of sixteen steps of those, at which a sixth of the samples of the kernel
// of lone robots were (docs/decisions/0035).
template <MaskSideBySide Mask>
VOLVOX_KERNEL bool any(const Mask& mask) {
  long words[sizeof mask / sizeof(long)], all = 0;
  std::memcpy(words, &mask, sizeof mask);
  for (const long word : words) all |= word;
  return all != 0;
}

namespace detail {
template <class Vector, class Half, int... all>
VOLVOX_KERNEL Vector joined(const Half& low, const Half& high, std::integer_sequence<int, all...>);
template <class Doubles, class Vector, int... some>
VOLVOX_KERNEL Doubles widened_halves(const Vector& v, std::integer_sequence<int, some...>);
#ifndef __CUDACC__  // which does not read these builtins
template <class Vector, class Half, int... all>
VOLVOX_KERNEL Vector joined(const Half& low, const Half& high, std::integer_sequence<int, all...>) {
  return __builtin_shufflevector(low, high, all...);
}
template <class Doubles, class Vector, int... some>
VOLVOX_KERNEL Doubles widened_halves(const Vector& v, std::integer_sequence<int, some...>) {
  constexpr int half = sizeof...(some);
  typedef typename Doubles::Half Half;
  return {__builtin_convertvector(__builtin_shufflevector(v, v, some...), Half),
          __builtin_convertvector(__builtin_shufflevector(v, v, (some + half)...), Half)};
}
#endif
}  // namespace detail

template <class T>
VOLVOX_KERNEL T rounded(const Exact<T>& x) {
  if constexpr (!coarse<T>) {
    return x;
  } else if constexpr (lane_count<T> == 1) {
    return T(x);
  } else {
    constexpr int half = lane_count<T> / 2;
    typedef typename VectorOfFloats<half>::Lanes Half;
    return T::of(detail::joined<typename T::Vector>(__builtin_convertvector(x.low, Half),
                                                    __builtin_convertvector(x.high, Half),
                                                    std::make_integer_sequence<int, 2 * half>{}));
  }
}
// The same number in all lanes.
template <class T>
VOLVOX_KERNEL Exact<T> exactly(double x) {
  if constexpr (lane_count<T> == 1) return x;
  else if constexpr (!coarse<T>) return T{} + x;
  else return {typename Exact<T>::Half{} + x, typename Exact<T>::Half{} + x};
}
template <class T>
VOLVOX_KERNEL Exact<T> widened(const T& x) {
  if constexpr (!coarse<T>) {
    return x;
  } else if constexpr (lane_count<T> == 1) {
    return x.v;
  } else {
    return detail::widened_halves<Exact<T>>(x.v, std::make_integer_sequence<int, lane_count<T> / 2>{});
  }
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
// A number that is too large for a float (no limit, no bound) becomes the largest one.
template <int lanes>
VOLVOX_KERNEL void put(Floats<lanes>& all, int lane, double value) {
  constexpr double most = std::numeric_limits<float>::max();
  const float number = static_cast<float>(value < -most ? -most : value > most ? most : value);
  std::memcpy(reinterpret_cast<char*>(&all) + lane * static_cast<int>(sizeof number), &number, sizeof number);
}
template <int lanes>
VOLVOX_KERNEL void put(Doubles<lanes>& all, int lane, double value) {
  std::memcpy(reinterpret_cast<char*>(&all) + lane * static_cast<int>(sizeof value), &value, sizeof value);
}
VOLVOX_KERNEL void put(bool& all, int /*lane*/, bool value) { all = value; }
template <MaskSideBySide Mask>
VOLVOX_KERNEL void put(Mask& all, int lane, bool value) {
  const MaskElement<Mask> bits = value ? -1 : 0;
  std::memcpy(reinterpret_cast<char*>(&all) + lane * static_cast<int>(sizeof bits), &bits, sizeof bits);
}
VOLVOX_KERNEL double take(const double& all, int /*lane*/) { return all; }
template <SideBySide T>
VOLVOX_KERNEL double take(const T& all, int lane) {
  double value;
  std::memcpy(&value, reinterpret_cast<const char*>(&all) + lane * static_cast<int>(sizeof value), sizeof value);
  return value;
}
template <int lanes>
VOLVOX_KERNEL double take(const Floats<lanes>& all, int lane) {
  float value;
  std::memcpy(&value, reinterpret_cast<const char*>(&all) + lane * static_cast<int>(sizeof value), sizeof value);
  return value;
}
template <int lanes>
VOLVOX_KERNEL double take(const Doubles<lanes>& all, int lane) {
  double value;
  std::memcpy(&value, reinterpret_cast<const char*>(&all) + lane * static_cast<int>(sizeof value), sizeof value);
  return value;
}
VOLVOX_KERNEL bool take(const bool& all, int /*lane*/) { return all; }
template <MaskSideBySide Mask>
VOLVOX_KERNEL bool take(const Mask& all, int lane) {
  MaskElement<Mask> bits;
  std::memcpy(&bits, reinterpret_cast<const char*>(&all) + lane * static_cast<int>(sizeof bits), sizeof bits);
  return bits != 0;
}

}  // namespace volvox::physics::native
