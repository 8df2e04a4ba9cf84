// Eight doubles for loops that load eight numbers at a time, whose sums must not depend on the instruction set: two
// vectors of 256 bits (vectors that are wider than a register go through memory), and in loops over rows one of 512
// where there are such registers (EightOf<Set>).
// Pure functions.
#pragma once

#include <cstring>

#include "volvox/physics/native/lanes.h"

namespace volvox::physics::native {

struct EightMasks {
  MaskOf<FourLanes> low, high;
};
struct Eight {
  FourLanes low, high;
};

VOLVOX_KERNEL Eight operator+(const Eight& a, const Eight& b) { return {a.low + b.low, a.high + b.high}; }
VOLVOX_KERNEL Eight operator-(const Eight& a, const Eight& b) { return {a.low - b.low, a.high - b.high}; }
VOLVOX_KERNEL Eight operator*(const Eight& a, const Eight& b) { return {a.low * b.low, a.high * b.high}; }
VOLVOX_KERNEL Eight operator+(const Eight& a, double b) { return {a.low + b, a.high + b}; }
VOLVOX_KERNEL Eight operator-(const Eight& a, double b) { return {a.low - b, a.high - b}; }
VOLVOX_KERNEL Eight operator*(const Eight& a, double b) { return {a.low * b, a.high * b}; }
VOLVOX_KERNEL Eight operator-(const Eight& a) { return {-a.low, -a.high}; }
VOLVOX_KERNEL void operator+=(Eight& a, const Eight& b) { a.low += b.low, a.high += b.high; }

VOLVOX_KERNEL EightMasks operator<(const Eight& a, const Eight& b) { return {a.low < b.low, a.high < b.high}; }
VOLVOX_KERNEL EightMasks operator>(const Eight& a, const Eight& b) { return {a.low > b.low, a.high > b.high}; }
VOLVOX_KERNEL EightMasks operator<=(const Eight& a, double b) { return {a.low <= b, a.high <= b}; }
VOLVOX_KERNEL EightMasks operator&(const EightMasks& a, const EightMasks& b) {
  return {a.low & b.low, a.high & b.high};
}
VOLVOX_KERNEL void operator+=(EightMasks& a, long b) { a.low += b, a.high += b; }

VOLVOX_KERNEL Eight choose(const EightMasks& which, const Eight& yes, const Eight& no) {
  return {choose(which.low, yes.low, no.low), choose(which.high, yes.high, no.high)};
}
// Of whole numbers.
VOLVOX_KERNEL EightMasks choose(const EightMasks& which, const EightMasks& yes, const EightMasks& no) {
  return {which.low ? yes.low : no.low, which.high ? yes.high : no.high};
}
// Vectors at any address. (Copied by memcpy, GCC 12 takes them through memory in pieces.)
typedef double FourAnywhere __attribute__((vector_size(32), aligned(8), may_alias));
VOLVOX_KERNEL void load(Eight& v, const double* p) {
  v.low = *reinterpret_cast<const FourAnywhere*>(p), v.high = *reinterpret_cast<const FourAnywhere*>(p + 4);
}
VOLVOX_KERNEL void store(double* p, const Eight& v) {
  *reinterpret_cast<FourAnywhere*>(p) = v.low, *reinterpret_cast<FourAnywhere*>(p + 4) = v.high;
}

// The same numbers in one register.
struct WideEight {
  EightLanes v;
};
VOLVOX_KERNEL WideEight operator+(const WideEight& a, const WideEight& b) { return {a.v + b.v}; }
VOLVOX_KERNEL WideEight operator-(const WideEight& a, const WideEight& b) { return {a.v - b.v}; }
VOLVOX_KERNEL WideEight operator*(const WideEight& a, const WideEight& b) { return {a.v * b.v}; }
VOLVOX_KERNEL WideEight operator*(const WideEight& a, double b) { return {a.v * b}; }
VOLVOX_KERNEL WideEight operator-(const WideEight& a, double b) { return {a.v - b}; }
VOLVOX_KERNEL void operator+=(WideEight& a, const WideEight& b) { a.v += b.v; }
typedef double EightAnywhere __attribute__((vector_size(64), aligned(8), may_alias));
VOLVOX_KERNEL void load(WideEight& v, const double* p) { v.v = *reinterpret_cast<const EightAnywhere*>(p); }
VOLVOX_KERNEL void store(double* p, const WideEight& v) { *reinterpret_cast<EightAnywhere*>(p) = v.v; }

template <Isa set>
struct EightFor {
  using Type = Eight;
};
template <>
struct EightFor<Isa::avx512> {
  using Type = WideEight;
};
template <Isa set>
using EightOf = typename EightFor<set>::Type;

// ((v0 + v4) + (v2 + v6)) + ((v1 + v5) + (v3 + v7)), by halves.
VOLVOX_KERNEL double sum(const Eight& v) {
  const FourLanes four = v.low + v.high;
  return (four[0] + four[2]) + (four[1] + four[3]);
}
VOLVOX_KERNEL double sum(const WideEight& v) {
  return sum(Eight{__builtin_shufflevector(v.v, v.v, 0, 1, 2, 3), __builtin_shufflevector(v.v, v.v, 4, 5, 6, 7)});
}

}  // namespace volvox::physics::native
