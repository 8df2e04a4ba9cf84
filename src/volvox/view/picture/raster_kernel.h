// The loops of the rasteriser, over n samples side by side. Included by one file for each instruction set, after
// raster_surroundings.h. raster.h says what is drawn, units and threads.
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

inline constexpr int tile_row = tile_side + 16;  // what is covered beyond the end of a row is never looked at
inline constexpr std::uint32_t no_triangle = 0xffffffffu;

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
  const typename Number<n>::Vector x = *reinterpret_cast<const typename Anywhere<n>::Floats*>(p);  // not a reference to it
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
#if defined(__x86_64__)
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

template <int n>
struct Vector3 {
  Number<n> x, y, z;

  VOLVOX_KERNEL friend Vector3 operator+(const Vector3& a, const Vector3& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  VOLVOX_KERNEL friend Vector3 operator*(const Vector3& a, const Number<n>& b) {
    return {a.x * b, a.y * b, a.z * b};
  }
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
          of_b = b * 0.72 + 1, each = F(1.22) / (of_r * of_g * of_b);  // one division for three: it takes as long as ten products
  const auto shown = [&](const F& x, const F& by) VOLVOX_INLINED {
    return from_light<n>(x * (x * 0.16 + 1) * by);
  };
  return {shown(r, of_g * of_b * each), shown(g, of_r * of_b * each), shown(b, of_r * of_g * each)};
}

inline constexpr float sun_color[3] = {2.05f, 1.98f, 1.86f}, sky_color[3] = {0.66f, 0.71f, 0.80f},
                       bounce_color[3] = {0.44f, 0.42f, 0.40f};

// The triangle's edges and depth over the samples from (x0, y0) on. An edge is the signed area that a sample spans with
// it, in steps of 1/256 sample times a sample: negative outside. Whole numbers, exact within a tile.
struct Edges {
  std::int32_t start[3], along[3], down[3];
  float depth, depth_along, depth_down, least, most;
};

VOLVOX_KERNEL Edges edges_of(const Corner& a, const Corner& b, const Corner& c, int x0, int y0) {
  Edges e;
  const Corner* corners[4] = {&a, &b, &c, &a};
  const std::int32_t px = x0 * subsamples + subsamples / 2, py = y0 * subsamples + subsamples / 2;
  constexpr std::int64_t far = 900'000'000;  // it keeps its sign within the tile
  for (int i = 0; i < 3; ++i) {
    const Corner &from = *corners[i], &to = *corners[i + 1];
    const std::int32_t dx = to.x - from.x, dy = to.y - from.y;
    const bool owns_edge = dy < 0 || (dy == 0 && dx > 0);  // a left or upper edge
    const std::int64_t area = std::int64_t{dx} * (py - from.y) - std::int64_t{dy} * (px - from.x) - (owns_edge ? 0 : 1);
    const std::int64_t steps = area >> 8;
    e.start[i] = static_cast<std::int32_t>(steps < -far ? -far : steps > far ? far : steps);
    e.along[i] = -dy;
    e.down[i] = dx;
  }
  const float bx = static_cast<float>(b.x - a.x), by = static_cast<float>(b.y - a.y),
              cx = static_cast<float>(c.x - a.x), cy = static_cast<float>(c.y - a.y);
  const float scale = static_cast<float>(subsamples) / (bx * cy - by * cx), db = b.depth - a.depth,
              dc = c.depth - a.depth;
  e.depth_along = (db * cy - dc * by) * scale;
  e.depth_down = (dc * bx - db * cx) * scale;
  e.depth = a.depth + (e.depth_along * static_cast<float>(px - a.x) + e.depth_down * static_cast<float>(py - a.y)) *
                          (1.0f / subsamples);
  // At the middle of a sample that a sliver covers just so, rounding would lead anywhere.
  e.least = a.depth < b.depth ? a.depth : b.depth;
  e.least = c.depth < e.least ? c.depth : e.least;
  e.most = a.depth > b.depth ? a.depth : b.depth;
  e.most = c.depth > e.most ? c.depth : e.most;
  return e;
}

struct SampleRange {
  int x0, x1, y0, y1;  // first and last
};
// The samples of a tile that the triangle's box covers.
VOLVOX_KERNEL SampleRange samples_in(const Corner& a, const Corner& b, const Corner& c, int left, int top, int width,
                                     int height) {
  const auto lowest = [](int p, int q, int r) { return p < q ? (p < r ? p : r) : (q < r ? q : r); };
  const auto highest = [](int p, int q, int r) { return p > q ? (p > r ? p : r) : (q > r ? q : r); };
  const auto first = [](int p) { return (p + subsamples / 2 - 1) >> 8; };
  const auto last = [](int p) { return (p - subsamples / 2) >> 8; };
  return {highest(first(lowest(a.x, b.x, c.x)), left, left), lowest(last(highest(a.x, b.x, c.x)), left + width - 1, left + width - 1),
          highest(first(lowest(a.y, b.y, c.y)), top, top), lowest(last(highest(a.y, b.y, c.y)), top + height - 1, top + height - 1)};
}

// Calls at(offset in a tile of rows of tile_row, first sample's x and y, lanes covered, depths) for the samples that a
// triangle covers, n at a time; lanes may lie beyond the end of a row.
// Nearer by so much: `shift`, and `slopes` times the change of depth over a sample.
struct Raised {
  float slopes = 0, shift = 0;
};
template <int n, class At>
VOLVOX_KERNEL void cover(const Corner& a, const Corner& b, const Corner& c, int left, int top, int width, int height,
                         Raised raised, const At& at) {
  const SampleRange range = samples_in(a, b, c, left, top, width, height);
  if (range.x0 > range.x1 || range.y0 > range.y1) return;
  const Edges e = edges_of(a, b, c, range.x0, range.y0);
  const float along = e.depth_along < 0 ? -e.depth_along : e.depth_along,
              down = e.depth_down < 0 ? -e.depth_down : e.depth_down,
              nearer = raised.slopes * (along > down ? along : down) + raised.shift;
  const Whole<n> step = count_up<n>();
  Whole<n> edge0 = step * e.along[0] + e.start[0], edge1 = step * e.along[1] + e.start[1],
           edge2 = step * e.along[2] + e.start[2];
  Number<n> depth = numbers<n>(step) * e.depth_along + (e.depth + nearer);
  const Number<n> least = e.least + nearer, most = e.most + nearer;
  for (int y = range.y0; y <= range.y1; ++y) {
    Whole<n> inside0 = edge0, inside1 = edge1, inside2 = edge2;
    Number<n> here = depth;
    for (int x = range.x0; x <= range.x1; x += n) {
      const Whole<n> covered = (inside0 | inside1 | inside2) >= 0;
      at((y - top) * tile_row + x - left, x, y, covered, bounded(here, least, most));
      inside0 += e.along[0] * n, inside1 += e.along[1] * n, inside2 += e.along[2] * n;
      here = here + e.depth_along * static_cast<float>(n);
    }
    edge0 += e.down[0], edge1 += e.down[1], edge2 += e.down[2];
    depth = depth + e.depth_down;
  }
}

// The mean over a square of 2 reach texels a side: how much of it is not above h.
template <int n, int reach>
VOLVOX_KERNEL Number<n> soft_share(const ShadowMap& map, const Number<n>& u, const Number<n>& v, const Whole<n>& iu,
                                   const Whole<n>& iv, const Number<n>& h) {
  using F = Number<n>;
  const F right = u - numbers<n>(iu), down = v - numbers<n>(iv), zero = 0;
  const float* heights = map.heights.data() - (reach - 1) * (map.size + 1);
  const Whole<n> corner = iv * map.size + iu;
  constexpr int last = 2 * reach;
  F sum = zero;
#pragma GCC unroll 3
  for (int j = 0; j <= last; ++j) {
    F row = zero;
#pragma GCC unroll 3
    for (int i = 0; i <= last; ++i) {
      const Whole<n> seen = h >= gather<n, 1>(heights + (j * map.size + i), corner);
      row = row + choose(seen, i == 0 ? F(1) - right : i == last ? right : F(1), zero);
    }
    sum = sum + (j == 0 ? row * (F(1) - down) : j == last ? row * down : row);
  }
  return sum * (1.0f / (4 * reach * reach));
}

// The visible share of the sun at points of surfaces.
template <int n>
VOLVOX_KERNEL Number<n> sunlit(const ShadowMap& map, const Vector3<n>& at, const Vector3<n>& normal,
                               const Whole<n>& asked) {
  using F = Number<n>;
  const Vector3<n> p = at + normal * F(map.texel_size * map.softness);
  // Texel k is the one from k to k + 1; its height is that at its middle.
  const F u = dot(p, lanes_of<n>(map.x)) + (map.x0 - 0.5f), v = dot(p, lanes_of<n>(map.y)) + (map.y0 - 0.5f),
          h = dot(p, lanes_of<n>(map.height));
  const F low = F(map.reach), high = F(map.size - 2 - map.reach);
  const Whole<n> within = asked & (u >= low) & (u < high) & (v >= low) & (v < high);
  if (!any(within)) return F(1);
  const F cu = bounded(u, low, high), cv = bounded(v, low, high);
  const Whole<n> iu = truncated_lanes(cu), iv = truncated_lanes(cv);
  // Where all around is lower, it is lit; where all is higher, it is dark.
  const Whole<n> block = (iv / block_side) * map.block_columns() + iu / block_side;
  const float* blocks = &map.blocks.data()->high;
  const Whole<n> lit = ~within | (h >= gather<n, 2>(blocks, block));
  if (all<n>(lit)) return F(1);
  const Whole<n> dark = ~lit & (h < gather<n, 2>(blocks + 1, block));
  if (all<n>(lit | dark)) return choose(lit, F(1), F(0));
  const F seen = map.reach == 1 ? soft_share<n, 1>(map, cu, cv, iu, iv, h) : soft_share<n, 4>(map, cu, cv, iu, iv, h);
  return choose(lit, F(1), choose(dark, F(0), seen));
}

// The corners of the triangle of each lane.
template <int n>
struct CornerLanes {
  Number<n> x, y, depth, pale;
  Vector3<n> normal;
  Whole<n> color;
};

VOLVOX_KERNEL void transpose(const FourFloats* rows, float* out, int stride) {
  const FourFloats ab_low = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5),
                   cd_low = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5),
                   ab_high = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7),
                   cd_high = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  *reinterpret_cast<FourFloats*>(out) = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  *reinterpret_cast<FourFloats*>(out + stride) = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  *reinterpret_cast<FourFloats*>(out + 2 * stride) = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  *reinterpret_cast<FourFloats*>(out + 3 * stride) = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

// From the corners of n lanes, as they lie in memory.
template <int n>
VOLVOX_KERNEL CornerLanes<n> corner_lanes(const Corner* const* corners) {
  alignas(64) float parts[8][n];
  for (int k = 0; k < n; k += 4) {
    FourFloats low[4], high[4];
    for (int i = 0; i < 4; ++i) {
      low[i] = reinterpret_cast<const FourFloats*>(corners[k + i])[0];
      high[i] = reinterpret_cast<const FourFloats*>(corners[k + i])[1];
    }
    transpose(low, &parts[0][k], n);
    transpose(high, &parts[4][k], n);
  }
  const auto whole = [&](int part) { return load_whole<n>(reinterpret_cast<const std::uint32_t*>(parts[part])); };
  return {numbers<n>(whole(0)), numbers<n>(whole(1)), load<n>(parts[2]), load<n>(parts[3]),
          {load<n>(parts[4]), load<n>(parts[5]), load<n>(parts[6])}, whole(7)};
}
template <int n>
VOLVOX_KERNEL CornerLanes<n> same_corner(const Corner& c) {
  return {Number<n>(static_cast<float>(c.x)), Number<n>(static_cast<float>(c.y)), c.depth, c.pale,
          lanes_of<n>(c.normal), same<n>(static_cast<std::int32_t>(c.color))};
}

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

template <int n>
struct Lit {
  Vector3<n> color;   // sRGB, 0 to 1
  Number<n> opacity;
};

// Bodies: the sun with its shadow and a highlight, the sky, a pale rim.
template <int n>
VOLVOX_KERNEL Lit<n> lit(const Scene& scene, const CornerLanes<n>& a, const CornerLanes<n>& b, const CornerLanes<n>& c,
                         const Whole<n>& flags, const Number<n>& x, const Number<n>& y, const Number<n>& depth,
                         const Whole<n>& asked) {
  using F = Number<n>;
  // How much each corner counts: the area across from it, in perspective.
  const F px = x * subsamples, py = y * subsamples, zero = 0, one = 1;
  const F ax = a.x - px, ay = a.y - py, bx = b.x - px, by = b.y - py, cx = c.x - px, cy = c.y - py;
  const F of_a = larger(bx * cy - cx * by, zero) * a.depth, of_b = larger(cx * ay - ax * cy, zero) * b.depth,
          of_c = larger(ax * by - bx * ay, zero) * c.depth;
  const F share = one / larger(of_a + of_b + of_c, F(1e-30));
  const auto between = [&](const F& p, const F& q, const F& r) VOLVOX_INLINED { return (p * of_a + q * of_b + r * of_c) * share; };

  Vector3<n> color = unpacked<n>(a.color);
  F opacity = numbers<n>((a.color >> 24) & 255) * (1 / 255.0);
  if (any(asked & ((a.color != b.color) | (a.color != c.color)))) {
    const Vector3<n> q = unpacked<n>(b.color), r = unpacked<n>(c.color);
    color = {between(color.x, q.x, r.x), between(color.y, q.y, r.y), between(color.z, q.z, r.z)};
    opacity = between(opacity, numbers<n>((b.color >> 24) & 255) * (1 / 255.0),
                      numbers<n>((c.color >> 24) & 255) * (1 / 255.0));
  }
  const Whole<n> unlit = (flags & std::int32_t{Triangle::unlit}) != 0;
  if (all<n>(unlit | ~asked)) return {color, opacity};

  Vector3<n> normal = {a.normal.x * of_a + b.normal.x * of_b + c.normal.x * of_c,
                       a.normal.y * of_a + b.normal.y * of_b + c.normal.y * of_c,
                       a.normal.z * of_a + b.normal.z * of_b + c.normal.z * of_c};
  normal = normal * (share * inverse_length<n>(normal * share));
  const Vector3<n> ray = {plane<n>({scene.ray[0], scene.ray_x[0], scene.ray_y[0]}, x, y),
                          plane<n>({scene.ray[1], scene.ray_x[1], scene.ray_y[1]}, x, y),
                          plane<n>({scene.ray[2], scene.ray_x[2], scene.ray_y[2]}, x, y)};
  const Vector3<n> to_eye = ray * (-inverse_length<n>(ray)), sun = lanes_of<n>(scene.sun);
  const F facing = dot(normal, to_eye);
  const Whole<n> away = ((flags & std::int32_t{Triangle::back}) != 0) & (facing < zero);
  normal = choose3(away, normal * F(-1), normal);
  const F towards = choose(away, -facing, facing), slant = dot(normal, sun);
  const Whole<n> sunny = asked & ~unlit & (slant > zero);
  F direct = larger(slant, zero);
  if (any(sunny)) {
    const Vector3<n> at = lanes_of<n>(scene.eye) + ray * (one / larger(depth, F(1e-30)));
    direct = direct * sunlit<n>(*scene.shadows, at, normal, sunny);
  }
  const Vector3<n> half_way = sun + to_eye;
  // The cosine to the 48th.
  const F cosine = larger(dot(normal, half_way), zero);
  const F p2 = cosine * cosine / larger(dot(half_way, half_way), F(1e-30)), p4 = p2 * p2, p8 = p4 * p4, p16 = p8 * p8;
  const F shine = p16 * p16 * p16 * 0.22 * direct;
  const F slanted = one - larger(towards, zero), slanted2 = slanted * slanted, rim = slanted2 * slanted2 * 0.10;
  const F up = normal.z * 0.5 + 0.5;
  const auto light = [&](const F& surface, int k) VOLVOX_INLINED {
    const F sky = up * (sky_color[k] - bounce_color[k]) + bounce_color[k];
    return to_light<n>(surface) * (direct * sun_color[k] + sky * 0.62) + shine * sun_color[k] + rim * sky_color[k];
  };
  Vector3<n> shown = to_screen<n>({light(color.x, 0), light(color.y, 1), light(color.z, 2)});
  const F pale = between(a.pale, b.pale, c.pale);
  if (any(asked & (pale > zero))) shown = mix<n>(shown, lanes_of<n>(scene.horizon), pale);
  return {choose3(unlit, color, shown), opacity};
}

// What a sample shows where there is no body: ground or sky.
template <int n>
VOLVOX_KERNEL void light_background(const Scene& scene, const Number<n>& x, const Number<n>& y,
                                    const Whole<n>& asked, Number<n>& depth, Vector3<n>& color) {
  using F = Number<n>;
  const F zero = 0, one = 1;
  const Vector3<n> horizon = lanes_of<n>(scene.horizon);
  const Vector3<n> ray = {plane<n>({scene.ray[0], scene.ray_x[0], scene.ray_y[0]}, x, y),
                          plane<n>({scene.ray[1], scene.ray_x[1], scene.ray_y[1]}, x, y),
                          plane<n>({scene.ray[2], scene.ray_x[2], scene.ray_y[2]}, x, y)};
  const Whole<n> empty = asked & (depth <= zero);
  if (any(empty)) {
    Vector3<n> sky = horizon;
    if (scene.sky)
      sky = mix<n>(horizon, lanes_of<n>(scene.zenith), smooth_step<n>(zero, F(0.6), ray.z * inverse_length<n>(ray)));
    color = choose3(empty, sky, color);
  }
  for (const GroundPlane& ground : scene.grounds) {
    const F near = plane<n>(ground.depth, x, y);
    const Whole<n> seen = asked & (near > depth);
    if (!any(seen)) continue;
    const F away = one / choose(seen, near, one);
    const F far = away * square_root(dot(ray, ray));
    const Vector3<n> normal = lanes_of<n>(ground.normal);
    const F sun = sunlit<n>(*scene.shadows, lanes_of<n>(scene.eye) + ray * away, normal, seen);
    Vector3<n> shown = mix<n>(lanes_of<n>(ground.shady), lanes_of<n>(ground.sunny), sun);
    if (scene.lines) {
      const F u = plane<n>(ground.u, x, y) * away, v = plane<n>(ground.v, x, y) * away;
      const auto width = [&](const Floats3& p, const F& at) VOLVOX_INLINED {  // m, of a pixel
        const F by_x = (F(p[1]) - at * ground.depth[1]) * away, by_y = (F(p[2]) - at * ground.depth[2]) * away;
        return larger((magnitude(by_x) + magnitude(by_y)) * scene.samples, F(1e-6));
      };
      const F wide_u = width(ground.u, u), wide_v = width(ground.v, v), nearest = smaller(wide_u, wide_v);
      F strength = zero;
      const auto rule = [&](float spacing, float pixels, float dark) VOLVOX_INLINED {
        // Lines only a few pixels apart fade out.
        if (!any(seen & (nearest < F(0.22f * spacing)))) return;
        const auto one_way = [&](const F& at, const F& wide) VOLVOX_INLINED {
          const F p = at * (1 / spacing) + 0.5, w = wide * (1 / spacing);
          F part = p - numbers<n>(truncated_lanes(p));
          part = choose(part < zero, part + one, part);
          const F d = magnitude(part - 0.5) / w;
          return bounded(F(pixels * 0.5f + 0.5f) - d, zero, one) * bounded(F(1.375) - w * 6.25, zero, one);
        };
        strength = larger(strength, larger(one_way(u, wide_u), one_way(v, wide_v)) * dark);
      };
      rule(0.1f, 1.0f, 0.075f), rule(1, 1.3f, 0.20f), rule(10, 1.6f, 0.30f);
      shown = shown * (one - strength);
    }
    shown = mix<n>(shown, horizon, smooth_step<n>(F(scene.fade), F(4 * scene.fade), far));
    color = choose3(seen, shown, color);
    depth = choose(seen, near, depth);
  }
}

// A tile in memory: rows of tile_row samples.
struct TileSamples {
  int left, top, width, height;  // of the tile, in samples
  alignas(64) float depths[tile_side * tile_row];
  alignas(64) std::uint32_t seen[tile_side * tile_row];  // chunk in the highest byte, triangle below
  alignas(64) std::uint32_t colors[tile_side * tile_row];

  VOLVOX_KERNEL void place(const TileGrid& grid, int tile) {
    left = tile % grid.columns() * tile_side, top = tile / grid.columns() * tile_side;
    width = grid.width - left < tile_side ? grid.width - left : tile_side;
    height = grid.height - top < tile_side ? grid.height - top : tile_side;
  }
};

template <class Work>
VOLVOX_KERNEL void for_each_triangle(const TriangleList& list, int tile, const Work& work) {
  for (std::uint32_t chunk = 0; chunk < list.chunks.size(); ++chunk) {
    const TriangleChunk& in = list.chunks[chunk];
    if (in.triangles.empty()) continue;
    for (std::uint32_t i = in.first[tile]; i < in.first[tile + 1]; ++i) work(in, chunk << 24 | in.sorted[i], in.triangles[in.sorted[i]]);
  }
}

// What is seen at each sample of a tile.
template <int n>
__attribute__((noinline)) void find_seen(const TriangleList& list, int tile, float nothing, Raised raised, TileSamples& to) {
  for (int y = 0; y < to.height; ++y)
    for (int x = 0; x < tile_row; x += n) {
      store<n>(to.depths + y * tile_row + x, Number<n>(nothing));
      store_whole<n>(to.seen + y * tile_row + x, same<n>(-1));
    }
  for_each_triangle(list, tile, [&](const TriangleChunk& chunk, std::uint32_t number, const Triangle& triangle) VOLVOX_INLINED {
    const Corner *a = &chunk.corners[triangle.corners[0]], *b = &chunk.corners[triangle.corners[1]],
                 *c = &chunk.corners[triangle.corners[2]];
    cover<n>(*a, *b, *c, to.left, to.top, to.width, to.height,
             (triangle.flags & Triangle::marker) != 0 ? Raised{2, 0} : raised,
             [&](int at, int, int, const Whole<n>& covered, const Number<n>& depth) VOLVOX_INLINED {
               const Number<n> before = load<n>(to.depths + at);
               const Whole<n> nearer = covered & (depth > before);
               store<n>(to.depths + at, choose(nearer, depth, before));
               const Whole<n> seen = load_whole<n>(to.seen + at);
               store_whole<n>(to.seen + at, nearer ? same<n>(static_cast<std::int32_t>(number)) : seen);
             });
  });
}

template <int n>
__attribute__((noinline)) void light_bodies(const Scene& scene, const std::uint32_t* seen, const Whole<n>& asked,
                                const Number<n>& x, const Number<n>& y, const Number<n>& depth, Vector3<n>& color) {
  const TriangleList& list = *scene.bodies;
  std::uint32_t number = no_triangle;
  for (int k = 0; k < n && number == no_triangle; ++k) number = seen[k];
  const Whole<n> numbers_seen = load_whole<n>(seen);
  const bool one = all<n>((numbers_seen == static_cast<std::int32_t>(number)) | (numbers_seen == -1));
  const auto triangle_of = [&](std::uint32_t which) -> const Triangle& {
    return list.chunks[which >> 24].triangles[which & 0xffffff];
  };
  const auto corner_of = [&](std::uint32_t which, int k) {
    return &list.chunks[which >> 24].corners[triangle_of(which).corners[k]];
  };
  CornerLanes<n> corners[3];
  Whole<n> flags;
  if (one) {
    for (int k = 0; k < 3; ++k) corners[k] = same_corner<n>(*corner_of(number, k));
    flags = same<n>(static_cast<std::int32_t>(triangle_of(number).flags));
  } else {
    const Corner* at[3][n];
    alignas(64) std::uint32_t all_flags[n];
    for (int lane = 0; lane < n; ++lane) {
      const std::uint32_t which = seen[lane] == no_triangle ? number : seen[lane];
      const TriangleChunk& chunk = list.chunks[which >> 24];
      const Triangle& triangle = chunk.triangles[which & 0xffffff];
      for (int k = 0; k < 3; ++k) at[k][lane] = chunk.corners.data() + triangle.corners[k];
      all_flags[lane] = triangle.flags;
    }
    for (int k = 0; k < 3; ++k) corners[k] = corner_lanes<n>(at[k]);
    flags = load_whole<n>(all_flags);
  }
  color = choose3(asked, lit<n>(scene, corners[0], corners[1], corners[2], flags, x, y, depth, asked).color, color);
}

template <int n>
__attribute__((noinline)) void light_tile(const Scene& scene, TileSamples& tile) {
  const Number<n> step = numbers<n>(count_up<n>()) + 0.5;
  for (int row = 0; row < tile.height; ++row) {
    const Number<n> y = static_cast<float>(tile.top + row) + 0.5f;
    for (int column = 0; column < tile.width; column += n) {
      const int at = row * tile_row + column;
      const Number<n> x = step + static_cast<float>(tile.left + column);
      Number<n> depth = load<n>(tile.depths + at);
      Vector3<n> color = {0, 0, 0};
      const Whole<n> inside = count_up<n>() < tile.width - column;
      const Whole<n> body = inside & (load_whole<n>(tile.seen + at) != -1);
      if (any(body)) {
        store_whole<n>(tile.seen + at, body ? load_whole<n>(tile.seen + at) : same<n>(-1));  // none beyond the end of the row
        light_bodies<n>(scene, tile.seen + at, body, x, y, depth, color);
      }
      light_background<n>(scene, x, y, inside, depth, color);
      store<n>(tile.depths + at, depth);
      store_whole<n>(tile.colors + at, packed<n>(color));
    }
  }
}

// What is blended over the rest: it hides nothing.
template <int n>
__attribute__((noinline)) void blend_over(const Scene& scene, int tile, TileSamples& to) {
  const Number<n> step = numbers<n>(count_up<n>()) + 0.5;
  for_each_triangle(*scene.over, tile, [&](const TriangleChunk& chunk, std::uint32_t, const Triangle& triangle) VOLVOX_INLINED {
    const Corner *a = &chunk.corners[triangle.corners[0]], *b = &chunk.corners[triangle.corners[1]],
                 *c = &chunk.corners[triangle.corners[2]];
    const CornerLanes<n> la = same_corner<n>(*a), lb = same_corner<n>(*b), lc = same_corner<n>(*c);
    const bool in_front = (triangle.flags & Triangle::front) != 0;
    cover<n>(*a, *b, *c, to.left, to.top, to.width, to.height, {},
             [&](int at, int x, int y, const Whole<n>& covered, const Number<n>& depth) VOLVOX_INLINED {
               const Whole<n> shown = in_front ? covered : covered & (depth > load<n>(to.depths + at));
               if (!any(shown)) return;
               const Lit<n> over = lit<n>(scene, la, lb, lc, same<n>(static_cast<std::int32_t>(triangle.flags)),
                                          step + static_cast<float>(x), Number<n>(static_cast<float>(y) + 0.5f), depth, shown);
               const Whole<n> before = load_whole<n>(to.colors + at);
               const Whole<n> after = packed<n>(mix<n>(unpacked<n>(before), over.color, over.opacity));
               store_whole<n>(to.colors + at, shown ? after : before);
             });
  });
}

VOLVOX_KERNEL bool has_triangles(const TriangleList& list, int tile) {
  for (const TriangleChunk& chunk : list.chunks)
    if (!chunk.triangles.empty() && chunk.first[tile] != chunk.first[tile + 1]) return true;
  return false;
}

// Samples become pixels: the mean of their colours, the depth of the nearest.
VOLVOX_KERNEL void put_pixels(const Scene& scene, const TileSamples& tile) {
  const int s = scene.samples, width = scene.grid.width / s;
  for (int y = 0; y < tile.height / s; ++y) {
    const std::size_t begin = std::size_t(tile.top / s + y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(tile.left / s);
    if (s == 1) {
      std::memcpy(scene.colors + begin, tile.colors + y * tile_row, 4 * static_cast<std::size_t>(tile.width));
      if (scene.depths != nullptr)
        std::memcpy(scene.depths + begin, tile.depths + y * tile_row, 4 * static_cast<std::size_t>(tile.width));
      continue;
    }
    for (int x = 0; x < tile.width / s; ++x) {
      std::uint32_t sums[3] = {};
      float nearest = 0;
      for (int j = 0; j < s; ++j)
        for (int i = 0; i < s; ++i) {
          const int at = (y * s + j) * tile_row + x * s + i;
          for (int k = 0; k < 3; ++k) sums[k] += tile.colors[at] >> (8 * k) & 255;
          nearest = tile.depths[at] > nearest ? tile.depths[at] : nearest;
        }
      const std::uint32_t all_samples = static_cast<std::uint32_t>(s * s);
      std::uint32_t color = 0;
      for (int k = 0; k < 3; ++k) color |= (sums[k] + all_samples / 2) / all_samples << (8 * k);
      scene.colors[begin + static_cast<std::size_t>(x)] = color;
      if (scene.depths != nullptr) scene.depths[begin + static_cast<std::size_t>(x)] = nearest;
    }
  }
}
VOLVOX_KERNEL void take_pixels(const Scene& scene, TileSamples& tile) {
  const int s = scene.samples, width = scene.grid.width / s;
  for (int y = 0; y < tile.height; ++y)
    for (int x = 0; x < tile.width; ++x) {
      const std::size_t from = std::size_t((tile.top + y) / s) * static_cast<std::size_t>(width) + static_cast<std::size_t>((tile.left + x) / s);
      tile.colors[y * tile_row + x] = scene.colors[from];
      tile.depths[y * tile_row + x] = scene.depths[from];
    }
}

template <int n>
void draw_tile_lanes(const Scene& scene, int tile, TilePart part) {
  TileSamples samples;
  samples.place(scene.grid, tile);
  const bool any_over = part != TilePart::behind && has_triangles(*scene.over, tile);
  if (part == TilePart::over) {
    if (!any_over) return;
    take_pixels(scene, samples);
  } else {
    find_seen<n>(*scene.bodies, tile, 0, {}, samples);
    light_tile<n>(scene, samples);
  }
  if (any_over) blend_over<n>(scene, tile, samples);
  put_pixels(scene, samples);
}

template <int n>
void draw_shadow_tile_lanes(const TriangleList& casters, int tile, ShadowMap& map) {
  constexpr float nothing = -1e30f;
  TileSamples samples;
  samples.place(casters.grid, tile);
  find_seen<n>(casters, tile, nothing, {-1.5f, -0.02f * map.texel_size}, samples);
  for (int y = 0; y < samples.height; ++y)
    std::memcpy(map.heights.data() + std::size_t(samples.top + y) * static_cast<std::size_t>(map.size) + static_cast<std::size_t>(samples.left), samples.depths + y * tile_row,
                4 * static_cast<std::size_t>(samples.width));
  for (int by = 0; by < samples.height; by += block_side)
    for (int bx = 0; bx < samples.width; bx += block_side) {
      ShadowMap::Block block{samples.depths[by * tile_row + bx], samples.depths[by * tile_row + bx]};
      for (int y = by; y < by + block_side; ++y)
        for (int x = bx; x < bx + block_side; ++x) {
          const float height = samples.depths[y * tile_row + x];
          block.high = height > block.high ? height : block.high;
          block.low = height < block.low ? height : block.low;
        }
      map.blocks[std::size_t((samples.top + by) / block_side) * static_cast<std::size_t>(map.block_columns()) +
                 static_cast<std::size_t>((samples.left + bx) / block_side)] = block;
    }
}

}  // namespace volvox::view::picture
