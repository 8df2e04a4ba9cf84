// The light of samples, n side by side: bodies, grounds, sky. Included after raster_surroundings.h; raster.h says
// units. Pure functions; every lane has the bits that it would have alone.
#pragma once

#include "volvox/view/picture/lanes_kernel.h"

namespace volvox::view::picture {

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
  const F cu = bounded_place<n>(u, low, high), cv = bounded_place<n>(v, low, high);
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
  return {numbers<n>(whole(0)),
          numbers<n>(whole(1)),
          load<n>(parts[2]),
          load<n>(parts[3]),
          {load<n>(parts[4]), load<n>(parts[5]), load<n>(parts[6])},
          whole(7)};
}
template <int n>
VOLVOX_KERNEL CornerLanes<n> same_corner(const Corner& c) {
  return {Number<n>(as_float(c.x)), Number<n>(as_float(c.y)), c.depth, c.pale, lanes_of<n>(c.normal), same<n>(c.color)};
}

template <int n>
struct Lit {
  Vector3<n> color;  // sRGB, 0 to 1
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
  const auto between = [&](const F& p, const F& q, const F& r)
                           VOLVOX_INLINED { return (p * of_a + q * of_b + r * of_c) * share; };

  Vector3<n> color = unpacked<n>(a.color);
  F opacity = numbers<n>((a.color >> 24) & 255) * (1 / 255.0);
  const Whole<n> blend = (a.color != b.color) | (a.color != c.color);
  if (any(asked & blend)) {  // a lane of one colour keeps it to the bit, whatever its neighbours are
    const Vector3<n> q = unpacked<n>(b.color), r = unpacked<n>(c.color);
    color = choose3(blend, {between(color.x, q.x, r.x), between(color.y, q.y, r.y), between(color.z, q.z, r.z)}, color);
    opacity = choose(blend,
                     between(opacity, numbers<n>((b.color >> 24) & 255) * (1 / 255.0),
                             numbers<n>((c.color >> 24) & 255) * (1 / 255.0)),
                     opacity);
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
VOLVOX_KERNEL void light_background(const Scene& scene, const Number<n>& x, const Number<n>& y, const Whole<n>& asked,
                                    Number<n>& depth, Vector3<n>& color) {
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

}  // namespace volvox::view::picture
