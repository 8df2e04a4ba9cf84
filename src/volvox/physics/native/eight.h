// Eight doubles in the registers that an instruction set has: one of 512 bits, or two of 256. For loops that load eight
// numbers at a time, whose sums must not depend on the set; see lanes.h for why it is not one vector everywhere.
#pragma once

#include <type_traits>

#include "volvox/physics/native/lanes.h"

namespace volvox::physics::native {

struct TwoMasks {
  MaskOf<FourLanes> low, high;
};
struct TwoFours {
  FourLanes low, high;
};

VOLVOX_KERNEL TwoFours operator+(const TwoFours& a, const TwoFours& b) { return {a.low + b.low, a.high + b.high}; }
VOLVOX_KERNEL TwoFours operator-(const TwoFours& a, const TwoFours& b) { return {a.low - b.low, a.high - b.high}; }
VOLVOX_KERNEL TwoFours operator*(const TwoFours& a, const TwoFours& b) { return {a.low * b.low, a.high * b.high}; }
VOLVOX_KERNEL TwoFours operator+(const TwoFours& a, double b) { return {a.low + b, a.high + b}; }
VOLVOX_KERNEL TwoFours operator-(const TwoFours& a, double b) { return {a.low - b, a.high - b}; }
VOLVOX_KERNEL TwoFours operator*(const TwoFours& a, double b) { return {a.low * b, a.high * b}; }
VOLVOX_KERNEL TwoFours operator-(const TwoFours& a) { return {-a.low, -a.high}; }
VOLVOX_KERNEL void operator+=(TwoFours& a, const TwoFours& b) { a.low += b.low, a.high += b.high; }

VOLVOX_KERNEL TwoMasks operator<(const TwoFours& a, const TwoFours& b) { return {a.low < b.low, a.high < b.high}; }
VOLVOX_KERNEL TwoMasks operator>(const TwoFours& a, const TwoFours& b) { return {a.low > b.low, a.high > b.high}; }
VOLVOX_KERNEL TwoMasks operator<=(const TwoFours& a, double b) { return {a.low <= b, a.high <= b}; }
VOLVOX_KERNEL TwoMasks operator&(const TwoMasks& a, const TwoMasks& b) { return {a.low & b.low, a.high & b.high}; }
VOLVOX_KERNEL void operator+=(TwoMasks& a, long b) { a.low += b, a.high += b; }

VOLVOX_KERNEL TwoFours choose(const TwoMasks& which, const TwoFours& yes, const TwoFours& no) {
  return {choose(which.low, yes.low, no.low), choose(which.high, yes.high, no.high)};
}
// Of whole numbers.
VOLVOX_KERNEL TwoMasks choose(const TwoMasks& which, const TwoMasks& yes, const TwoMasks& no) {
  return {which.low ? yes.low : no.low, which.high ? yes.high : no.high};
}
VOLVOX_KERNEL MaskOf<EightLanes> choose(const MaskOf<EightLanes>& which, const MaskOf<EightLanes>& yes,
                                        const MaskOf<EightLanes>& no) {
  return which ? yes : no;
}

template <Isa set>
using EightOf = std::conditional_t<set == Isa::avx512, EightLanes, TwoFours>;
// As many whole numbers.
template <Isa set>
using EightWholeOf = std::conditional_t<set == Isa::avx512, MaskOf<EightLanes>, TwoMasks>;

// Vectors at any address. (Copied by memcpy, GCC 12 takes them through memory in pieces.)
typedef double FourAnywhere __attribute__((vector_size(32), aligned(8), may_alias));
typedef double EightAnywhere __attribute__((vector_size(64), aligned(8), may_alias));
VOLVOX_KERNEL void load(EightLanes& v, const double* p) { v = *reinterpret_cast<const EightAnywhere*>(p); }
VOLVOX_KERNEL void load(TwoFours& v, const double* p) {
  v.low = *reinterpret_cast<const FourAnywhere*>(p), v.high = *reinterpret_cast<const FourAnywhere*>(p + 4);
}
VOLVOX_KERNEL void store(double* p, const EightLanes& v) { *reinterpret_cast<EightAnywhere*>(p) = v; }
VOLVOX_KERNEL void store(double* p, const TwoFours& v) {
  *reinterpret_cast<FourAnywhere*>(p) = v.low, *reinterpret_cast<FourAnywhere*>(p + 4) = v.high;
}

// ((v0 + v4) + (v2 + v6)) + ((v1 + v5) + (v3 + v7)), by halves.
VOLVOX_KERNEL double sum(const FourLanes& v) {
  return (v[0] + v[2]) + (v[1] + v[3]);
}
VOLVOX_KERNEL double sum(const TwoFours& v) { return sum(v.low + v.high); }
VOLVOX_KERNEL double sum(const EightLanes& v) {
  return sum(FourLanes{v[0], v[1], v[2], v[3]} + FourLanes{v[4], v[5], v[6], v[7]});
}

}  // namespace volvox::physics::native
