// Eight floats side by side, whatever the instruction set: sums over neighbours have eight lanes, which are added in a
// fixed order, so that every set (and a GPU, with eight partial sums) has the same bits.
#pragma once

#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
// On a GPU a lane is a thread. What is here is all that isa.h has for it.
#  define VOLVOX_KERNEL __host__ __device__ __forceinline__
#else
#  ifdef __SSE2__
#    include <xmmintrin.h>
#  endif

#  include "volvox/base/isa.h"

// Every kernel is inlined, so that no vector crosses a call.
#  pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace volvox::particles {

// Three numbers and a fourth that travels with them: one load of 16 bytes fetches all of a neighbour.
struct alignas(16) Point {
  float x = 0, y = 0, z = 0, w = 0;
};

inline constexpr int lanes = 8;
VOLVOX_KERNEL float square_root(float a) {
#ifdef __CUDA_ARCH__
  return __fsqrt_rn(a);
#else
  return __builtin_sqrtf(a);
#endif
}
VOLVOX_KERNEL float positive(float a) { return a > 0 ? a : 0; }
VOLVOX_KERNEL float smaller(float a, float b) { return a < b ? a : b; }
VOLVOX_KERNEL float larger(float a, float b) { return a > b ? a : b; }

#ifndef __CUDACC__
typedef float Lanes __attribute__((vector_size(32)));
typedef std::int32_t LaneMask __attribute__((vector_size(32)));
typedef float LanesAnywhere __attribute__((vector_size(32), aligned(4), may_alias));
typedef float FourFloats __attribute__((vector_size(16), may_alias));

struct PointLanes {
  Lanes x, y, z, w;
};

VOLVOX_KERNEL Lanes all_lanes(float a) { return a - Lanes{}; }
VOLVOX_KERNEL Lanes load(const float* p) { return *reinterpret_cast<const LanesAnywhere*>(p); }
VOLVOX_KERNEL void store(float* p, const Lanes& a) { *reinterpret_cast<LanesAnywhere*>(p) = a; }
VOLVOX_KERNEL Lanes square_root(const Lanes& a) {
  Lanes root;
  for (int i = 0; i < lanes; ++i) root[i] = __builtin_sqrtf(a[i]);
  return root;
}
VOLVOX_KERNEL Lanes positive(const Lanes& a) { return a > 0 ? a : Lanes{}; }
VOLVOX_KERNEL Lanes smaller(const Lanes& a, const Lanes& b) { return a < b ? a : b; }
VOLVOX_KERNEL Lanes larger(const Lanes& a, const Lanes& b) { return a > b ? a : b; }
// ((v0 + v4) + (v2 + v6)) + ((v1 + v5) + (v3 + v7)), by halves.
VOLVOX_KERNEL float sum(const Lanes& v) {
  const FourFloats four = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
  return (four[0] + four[2]) + (four[1] + four[3]);
}

// Bit k: lane k is set.
VOLVOX_KERNEL unsigned bits_of(const LaneMask& mask) {
#  ifdef __SSE2__
  // GCC 12 takes a mask apart number by number.
  const FourFloats low = reinterpret_cast<FourFloats>(__builtin_shufflevector(mask, mask, 0, 1, 2, 3));
  const FourFloats high = reinterpret_cast<FourFloats>(__builtin_shufflevector(mask, mask, 4, 5, 6, 7));
  return static_cast<unsigned>(_mm_movemask_ps(low)) | static_cast<unsigned>(_mm_movemask_ps(high)) << 4;
#  else
  unsigned bits = 0;
  for (int k = 0; k < lanes; ++k) bits |= (mask[k] != 0 ? 1u : 0u) << k;
  return bits;
#  endif
}

// Eight points from anywhere: eight loads and a transposition.
VOLVOX_KERNEL void gather(PointLanes& out, const Point* points, const std::uint32_t* which) {
  FourFloats p[8];
  for (int k = 0; k < 8; ++k) p[k] = *reinterpret_cast<const FourFloats*>(points + which[k]);
  const Lanes a = __builtin_shufflevector(p[0], p[4], 0, 1, 2, 3, 4, 5, 6, 7);
  const Lanes b = __builtin_shufflevector(p[1], p[5], 0, 1, 2, 3, 4, 5, 6, 7);
  const Lanes c = __builtin_shufflevector(p[2], p[6], 0, 1, 2, 3, 4, 5, 6, 7);
  const Lanes d = __builtin_shufflevector(p[3], p[7], 0, 1, 2, 3, 4, 5, 6, 7);
  const Lanes ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);     // x0 x1 y0 y1 | x4 x5 y4 y5
  const Lanes cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);     // x2 x3 y2 y3 | x6 x7 y6 y7
  const Lanes ab2 = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);  // z0 z1 w0 w1 | ...
  const Lanes cd2 = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
  out.x = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13);
  out.y = __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
  out.z = __builtin_shufflevector(ab2, cd2, 0, 1, 8, 9, 4, 5, 12, 13);
  out.w = __builtin_shufflevector(ab2, cd2, 2, 3, 10, 11, 6, 7, 14, 15);
}
#endif

}  // namespace volvox::particles
