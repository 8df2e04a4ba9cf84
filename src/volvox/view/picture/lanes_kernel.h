// Numbers, vectors and colours, n side by side: what the kernels of pictures share. Included after
// raster_surroundings.h. Pure functions; every lane has the bits that it would have alone.
#pragma once

#include "volvox/physics/native/lanes.h"

namespace volvox::view::picture {

template <int n>
using Number = physics::native::Floats<n>;
template <int n>
using Whole = typename Number<n>::Mask;  // as many int32; comparisons give 0 or -1
using physics::native::any;
using physics::native::bounded;
using physics::native::choose;
using physics::native::larger;
using physics::native::magnitude;
using physics::native::smaller;
using physics::native::square_root;

// Lambdas, too: a call would take vectors through memory.
#define VOLVOX_INLINED __attribute__((always_inline))

typedef float FourFloats __attribute__((vector_size(16), may_alias));

// In memory at any address.
template <int n>
struct Anywhere;
template <>
struct Anywhere<4> {
  typedef float Floats __attribute__((vector_size(16), aligned(4), may_alias));
  typedef std::int32_t Wholes __attribute__((vector_size(16), aligned(4), may_alias));
};
template <>
struct Anywhere<8> {
  typedef float Floats __attribute__((vector_size(32), aligned(4), may_alias));
  typedef std::int32_t Wholes __attribute__((vector_size(32), aligned(4), may_alias));
};
template <>
struct Anywhere<16> {
  typedef float Floats __attribute__((vector_size(64), aligned(4), may_alias));
  typedef std::int32_t Wholes __attribute__((vector_size(64), aligned(4), may_alias));
};
template <int n>
VOLVOX_KERNEL Number<n> load(const float* p) {
  const typename Number<n>::Vector x =
      *reinterpret_cast<const typename Anywhere<n>::Floats*>(p);  // not a reference to it
  return Number<n>::of(x);
}
template <int n>
VOLVOX_KERNEL void store(float* p, const Number<n>& x) {
  *reinterpret_cast<typename Anywhere<n>::Floats*>(p) = x.v;
}
template <int n>
VOLVOX_KERNEL Whole<n> load_whole(const std::uint32_t* p) {
  return *reinterpret_cast<const typename Anywhere<n>::Wholes*>(p);
}
template <int n>
VOLVOX_KERNEL void store_whole(std::uint32_t* p, const Whole<n>& x) {
  *reinterpret_cast<typename Anywhere<n>::Wholes*>(p) = x;
}
template <int n>
VOLVOX_KERNEL Whole<n> same(std::int32_t x) {
  return Whole<n>{} + x;
}
template <int n>
VOLVOX_KERNEL Number<n> numbers(const Whole<n>& x) {
  return Number<n>::of(__builtin_convertvector(x, typename Number<n>::Vector));
}
template <int n>
VOLVOX_KERNEL Whole<n> truncated_lanes(const Number<n>& x) {
  return __builtin_convertvector(x.v, Whole<n>);
}
// As bounded(), but NaN becomes `low`: for what is to be a place in memory.
template <int n>
VOLVOX_KERNEL Number<n> bounded_place(const Number<n>& x, const Number<n>& low, const Number<n>& high) {
  return smaller(larger(low, x), high);
}
template <int n>
VOLVOX_KERNEL Whole<n> count_up() {
  Whole<n> x{};
  for (int i = 0; i < n; ++i) x[i] = i;
  return x;
}
template <int n>
VOLVOX_KERNEL bool all(const Whole<n>& mask) {
  return !any(~mask);
}

// base[index[k] * stride] in lane k.
template <int n, int stride>
VOLVOX_KERNEL Number<n> gather(const float* base, const Whole<n>& index) {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  if constexpr (n == 8)
    return Number<n>::of(reinterpret_cast<typename Number<n>::Vector>(
        _mm256_i32gather_ps(base, reinterpret_cast<__m256i>(index), 4 * stride)));
  if constexpr (n == 16)
    return Number<n>::of(reinterpret_cast<typename Number<n>::Vector>(
        _mm512_mask_i32gather_ps(_mm512_setzero_ps(), 0xffff, reinterpret_cast<__m512i>(index), base, 4 * stride)));
#endif
  Number<n> x;
  for (int k = 0; k < n; ++k) x.v[k] = base[index[k] * stride];
  return x;
}

VOLVOX_KERNEL float as_float(std::int64_t x) { return static_cast<float>(x); }
VOLVOX_KERNEL float as_float(int x) { return static_cast<float>(x); }

template <int n>
struct Vector3 {
  Number<n> x, y, z;

  VOLVOX_KERNEL friend Vector3 operator+(const Vector3& a, const Vector3& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  VOLVOX_KERNEL friend Vector3 operator*(const Vector3& a, const Number<n>& b) { return {a.x * b, a.y * b, a.z * b}; }
  VOLVOX_KERNEL friend Number<n> dot(const Vector3& a, const Vector3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
};
template <int n>
VOLVOX_KERNEL Vector3<n> lanes_of(const Floats3& v) {
  return {v[0], v[1], v[2]};
}
template <int n>
VOLVOX_KERNEL Number<n> inverse_length(const Vector3<n>& v) {
  return Number<n>(1) / square_root(larger(dot(v, v), Number<n>(1e-30)));
}
template <int n>
VOLVOX_KERNEL Vector3<n> choose3(const Whole<n>& which, const Vector3<n>& yes, const Vector3<n>& no) {
  return {choose(which, yes.x, no.x), choose(which, yes.y, no.y), choose(which, yes.z, no.z)};
}
template <int n>
VOLVOX_KERNEL Vector3<n> mix(const Vector3<n>& a, const Vector3<n>& b, const Number<n>& part) {
  return a * (Number<n>(1) - part) + b * part;
}
template <int n>
VOLVOX_KERNEL Number<n> smooth_step(const Number<n>& from, const Number<n>& to, const Number<n>& x) {
  const Number<n> t = bounded((x - from) / (to - from), Number<n>(0), Number<n>(1));
  return t * t * (Number<n>(3) - t * 2);
}
// a + b x + c y
template <int n>
VOLVOX_KERNEL Number<n> plane(const Floats3& p, const Number<n>& x, const Number<n>& y) {
  return x * p[1] + y * p[2] + p[0];
}

// x^2.2 for 0 to 1, to 1e-4; and its inverse, of the square root of light, to half a step of what a screen shows.
template <int n>
VOLVOX_KERNEL Number<n> to_light(const Number<n>& x) {
  return x * (x * (x * (x * (x * 0.11931489 - 0.38986467) + 0.618386) + 0.66084053) - 0.00858416);
}
template <int n>
VOLVOX_KERNEL Number<n> from_light(const Number<n>& light) {
  const Number<n> x = square_root(bounded(light, Number<n>(0), Number<n>(1)));
  return x * (x * (x * (x * (x * 1.21986915 - 3.31017316) + 3.3326677) - 1.61812671) + 1.3774239);
}
// Tone mapping: a soft shoulder, so that white plastic in the sun keeps its shading.
template <int n>
VOLVOX_KERNEL Vector3<n> to_screen(const Vector3<n>& light) {
  using F = Number<n>;
  const F r = light.x * 0.62, g = light.y * 0.62, b = light.z * 0.62, of_r = r * 0.72 + 1, of_g = g * 0.72 + 1,
          of_b = b * 0.72 + 1,
          each = F(1.22) / (of_r * of_g * of_b);  // one division for three: it takes as long as ten products
  const auto shown = [&](const F& x, const F& by) VOLVOX_INLINED { return from_light<n>(x * (x * 0.16 + 1) * by); };
  return {shown(r, of_g * of_b * each), shown(g, of_r * of_b * each), shown(b, of_r * of_g * each)};
}

// Red in the lowest byte; 0 to 1.
template <int n>
VOLVOX_KERNEL Vector3<n> unpacked(const Whole<n>& color) {
  const Number<n> scale = 1 / 255.0;
  return {numbers<n>(color & 255) * scale, numbers<n>((color >> 8) & 255) * scale,
          numbers<n>((color >> 16) & 255) * scale};
}
template <int n>
VOLVOX_KERNEL Whole<n> packed(const Vector3<n>& color) {
  const auto byte = [](const Number<n>& x) {
    return truncated_lanes(bounded(x, Number<n>(0), Number<n>(1)) * 255 + 0.5);
  };
  return byte(color.x) | byte(color.y) << 8 | byte(color.z) << 16;
}

}  // namespace volvox::view::picture
