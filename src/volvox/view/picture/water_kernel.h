// The loops of a fluid's surface, over n pixels side by side: see water_layers.h and raster_kernel.h.
#pragma once

#include "volvox/view/picture/lanes_kernel.h"

namespace volvox::view::picture {

// Calls at(index of the first pixel, lanes covered, 1 - distance from the middle squared) for a drop's pixels in a row.
template <int n, class At>
VOLVOX_KERNEL void over_drop(const WaterLayers& water, const Drop& drop, int y, const At& at) {
  const float dy = (as_float(y) + 0.5f - drop.y) / drop.radius, rest = 1 - dy * dy;
  if (!(rest > 0)) return;
  const float half = std::sqrt(rest) * drop.radius;
  const float low = drop.x - half - 0.5f, high = drop.x + half - 0.5f;
  if (!(high >= 0) || !(low < as_float(water.width))) return;
  const int x0 = low > 0 ? static_cast<int>(low) : 0,
            x1 = high < as_float(water.width - 1) ? static_cast<int>(high) : water.width - 1;
  const Number<n> step = numbers<n>(count_up<n>()) + (0.5f - drop.x), by = 1 / drop.radius;
  for (int x = x0; x <= x1; x += n) {
    const Number<n> dx = (step + as_float(x)) * by, left = Number<n>(rest) - dx * dx;
    at(water.at(x, y), x, (left >= Number<n>(0)) & (count_up<n>() <= x1 - x), left);
  }
}

template <int n>
VOLVOX_KERNEL void splat_drops(WaterLayers& water, int y0, int y1) {
  for (int y = y0; y < y1; ++y) {
    water.first[y] = water.width, water.last[y] = 0;
    if (y < water.from_y || y >= water.to_y) continue;
    for (int x = water.from_x; x < water.to_x; x += n) {
      const std::size_t i = water.at(x, y);
      for (int k : {0, 1})
        store<n>(&water.front[k][i], Number<n>(WaterLayers::nothing)), store<n>(&water.back[k][i], Number<n>(0));
      for (auto* layer : {&water.red, &water.green, &water.blue, &water.weight})
        store<n>(layer->data() + i, Number<n>(0));
    }
  }
  for (const Drop& drop : water.drops) {
    if (drop.y + drop.radius < as_float(y0) || drop.y - drop.radius > as_float(y1)) continue;
    for (int y = y0; y < y1; ++y) {
      int& first = water.first[y];
      int& last = water.last[y];
      over_drop<n>(
          water, drop, y, [&](std::size_t i, int x, const Whole<n>& covered, const Number<n>& left) VOLVOX_INLINED {
            const Number<n> half = square_root(larger(left, Number<n>(0))) * drop.half;
            const Number<n> front = load<n>(&water.front[0][i]), back = load<n>(&water.back[0][i]);
            store<n>(
                &water.front[0][i],
                choose(covered, smaller(front, larger(Number<n>(drop.middle) - half, Number<n>(water.near))), front));
            store<n>(&water.back[0][i], choose(covered, larger(back, half + drop.middle), back));
            first = x < first ? x : first;
            last = x + n > last ? x + n : last;
          });
    }
  }
  for (int y = y0; y < y1; ++y)
    if (water.last[y] > water.width) water.last[y] = water.width;
}

template <int n>
VOLVOX_KERNEL void dye_drops(WaterLayers& water, int y0, int y1) {
  for (const Drop& drop : water.drops) {
    if (drop.y + drop.radius < as_float(y0) || drop.y - drop.radius > as_float(y1)) continue;
    for (int y = y0; y < y1; ++y)
      over_drop<n>(water, drop, y,
                   [&](std::size_t i, int, const Whole<n>& covered, const Number<n>& left) VOLVOX_INLINED {
                     // Drops at the surface count most.
                     const Number<n> deep = larger(Number<n>(drop.middle) - load<n>(&water.front[0][i]), Number<n>(0));
                     const Number<n> weight = choose(covered, left / (deep * deep * 900 + 1) + 1e-4, Number<n>(0));
                     store<n>(&water.red[i], load<n>(&water.red[i]) + weight * drop.color[0]);
                     store<n>(&water.green[i], load<n>(&water.green[i]) + weight * drop.color[1]);
                     store<n>(&water.blue[i], load<n>(&water.blue[i]) + weight * drop.color[2]);
                     store<n>(&water.weight[i], load<n>(&water.weight[i]) + weight);
                   });
  }
}

// e^-x for x of 0 to 20, to a few percent where it is small.
template <int n>
VOLVOX_KERNEL Number<n> fading(const Number<n>& x) {
  const Number<n> y = x * (1 / 32.0), one = 1;
  const Number<n> p = one / (one + y * (y * (y * (1 / 6.0) + 0.5) + 1));
  const Number<n> p2 = p * p, p4 = p2 * p2, p8 = p4 * p4, p16 = p8 * p8;
  return p16 * p16;
}

// Beyond the ends of a row, what is at its ends.
VOLVOX_KERNEL void extend_row(const WaterLayers& water, std::vector<float>& layer, int y) {
  const float low = layer[water.at(0, y)], high = layer[water.at(water.width - 1, y)];
  for (int k = 0; k < WaterLayers::margin; ++k) {
    layer[water.at(k - WaterLayers::margin, y)] = low;
    layer[water.at(water.width + k, y)] = high;
  }
}

// A mean over neighbours of about the same distance along a row or a column; those far behind or before belong to other
// parts.
template <int n>
VOLVOX_KERNEL void smooth_water(WaterLayers& water, int y0, int y1, int from, bool along_rows) {
  using F = Number<n>;
  const float* front = water.front[from].data();
  const float* back = water.back[from].data();
  float* new_front = water.front[1 - from].data();
  float* new_back = water.back[1 - from].data();
  const F close = 1.6f * water.drop, one = 1, zero = 0;
  for (int y = y0; y < y1; ++y) {
    if (water.last[y] == 0) continue;
    if (along_rows) extend_row(water, water.front[from], y), extend_row(water, water.back[from], y);
    for (int x = water.first[y]; x < water.last[y]; x += n) {
      const std::size_t i = water.at(x, y);
      const F own = load<n>(front + i), own_back = load<n>(back + i);
      const Whole<n> wet = (own < F(1e8)) & (count_up<n>() < water.width - x);
      F sum = own, sum_back = own_back, weights = one;
      if (any(wet)) {
        const F side = numbers<n>(truncated_lanes<n>(bounded(
            F(1.7f * water.drop * water.pixels_per_tangent) / larger(own, F(1e-6)), one, F(as_float(water.most)))));
        const F by_side = one / side;
        for (int k = 1; k <= water.most; ++k) {
          const Whole<n> near = wet & (side >= F(as_float(k)));
          if (!any(near)) break;
          const std::size_t before = along_rows ? i - k : water.at(x, y - k < 0 ? 0 : y - k),
                            after = along_rows ? i + k : water.at(x, y + k >= water.height ? water.height - 1 : y + k);
          const F a = load<n>(front + after), b = load<n>(front + before);
          // Both sides or none, so that edges do not shrink.
          const Whole<n> exist = near & (magnitude(a - own) <= close) & (magnitude(b - own) <= close);
          const F t = by_side * as_float(k), weight = choose(exist, fading<n>(t * t * 2.2), zero);
          sum = sum + weight * (a + b);
          sum_back = sum_back + weight * (load<n>(back + after) + load<n>(back + before));
          weights = weights + weight * 2;
        }
      }
      store<n>(new_front + i, choose(wet, sum / weights, own));
      store<n>(new_back + i, choose(wet, sum_back / weights, own_back));
    }
    // For what finish_water() reads of this row and of those beside it: other threads may have these.
    if (!along_rows) extend_row(water, water.front[0], y);
  }
}

template <int n>
VOLVOX_KERNEL Vector3<n> cross3(const Vector3<n>& a, const Vector3<n>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <int n>
VOLVOX_KERNEL Vector3<n> light_of(const Vector3<n>& color) {
  return {to_light<n>(color.x), to_light<n>(color.y), to_light<n>(color.z)};
}

// The picture behind, bent, dyed by how much fluid it is seen through, and the sky that the surface mirrors.
template <int n>
VOLVOX_KERNEL void finish_water(WaterLayers& water, int y0, int y1) {
  using F = Number<n>;
  const F zero = 0, one = 1;
  const float* fronts = water.front[0].data();
  const Vector3<n> sun = lanes_of<n>(water.sun), color = lanes_of<n>(water.color), dye = light_of<n>(color);
  const auto ray_at = [&](const F& x, const F& y) VOLVOX_INLINED {
    return Vector3<n>{plane<n>({water.ray[0], water.ray_x[0], water.ray_y[0]}, x, y),
                      plane<n>({water.ray[1], water.ray_x[1], water.ray_y[1]}, x, y),
                      plane<n>({water.ray[2], water.ray_x[2], water.ray_y[2]}, x, y)};
  };
  const auto wall_at = [&](const Whole<n>& index)
                           VOLVOX_INLINED { return one / larger(gather<n, 1>(water.walls, index), F(1e-7)); };
  for (int y = y0; y < y1; ++y) {
    if (water.last[y] == 0) continue;
    for (int x = water.first[y]; x < water.last[y]; x += n) {
      const std::size_t i = water.at(x, y);
      const Whole<n> column = count_up<n>() + x;
      const F far = load<n>(fronts + i), back = load<n>(&water.back[0][i]);
      const Whole<n> pixel = (column < water.width ? column : same<n>(water.width - 1)) + y * water.width;
      const F wall = wall_at(pixel);
      const Whole<n> wet = (far < F(1e8)) & (far <= wall) & (column < water.width);
      if (!any(wet)) continue;
      const F px = numbers<n>(column) + 0.5, py = as_float(y) + 0.5f;
      const Vector3<n> ray = ray_at(px, py), here = ray * far;  // from the eye
      const Vector3<n> to_eye = ray * (-inverse_length<n>(ray));
      // Along the side on which the surface goes on.
      const auto tangent = [&](const F& a, const F& b, float dx, float dy) VOLVOX_INLINED {
        const Whole<n> ahead = magnitude(a - far) < magnitude(b - far);
        const Vector3<n> p = ray_at(px + dx, py + dy) * a + here * F(-1), q = here + ray_at(px - dx, py - dy) * (-b);
        return choose3(ahead, p, q);
      };
      const std::size_t above = water.at(x, y > 0 ? y - 1 : 0), below = water.at(x, y + 1 < water.height ? y + 1 : y);
      Vector3<n> normal = cross3<n>(tangent(load<n>(fronts + i + 1), load<n>(fronts + i - 1), 1, 0),
                                    tangent(load<n>(fronts + below), load<n>(fronts + above), 0, 1));
      const F size =
          one / larger(larger(magnitude(normal.x), magnitude(normal.y)), larger(magnitude(normal.z), F(1e-30)));
      normal = normal * size;
      normal = normal * inverse_length<n>(normal);
      normal = choose3(dot(normal, to_eye) < zero, normal * F(-1), normal);
      const F least = 0.2f * water.drop;
      const auto thickness = [&](const F& end) VOLVOX_INLINED { return larger(smaller(back, end) - far, least); };
      // Light goes straight on through thin sheets and is bent by n = 1.33 in thick ones.
      const F bend = smaller(thickness(wall), F(12 * water.drop)) / far;
      const auto place = [&](const F& p, int size_)
                             VOLVOX_INLINED { return bounded_place<n>(p, F(0.5), F(as_float(size_) - 0.5f)); };
      F bx = place(px - dot(normal, lanes_of<n>(water.right)) * bend * water.pixels_x, water.width),
        by = place(py + dot(normal, lanes_of<n>(water.up)) * bend * water.pixels_y, water.height);
      const Whole<n> hidden = wall_at(truncated_lanes<n>(by) * water.width + truncated_lanes<n>(bx)) < far;
      bx = choose(hidden, place(px, water.width), bx), by = choose(hidden, place(py, water.height), by);
      const F thick = thickness(wall_at(truncated_lanes<n>(by) * water.width + truncated_lanes<n>(bx)));
      // Between four pixels.
      const F u = bx - 0.5, v = by - 0.5;
      const Whole<n> iu = truncated_lanes<n>(u), iv = truncated_lanes<n>(v);
      const Whole<n> ju = iu + 1 < water.width ? iu + 1 : iu, jv = iv + 1 < water.height ? iv + 1 : iv;
      const auto behind = [&](const Whole<n>& p, const Whole<n>& q) VOLVOX_INLINED {
        const F bits = gather<n, 1>(reinterpret_cast<const float*>(water.behind), q * water.width + p);
        return unpacked<n>(reinterpret_cast<Whole<n>>(bits.v));
      };
      const F part_u = u - numbers<n>(iu), part_v = v - numbers<n>(iv);
      const Vector3<n> seen = light_of<n>(mix<n>(mix<n>(behind(iu, iv), behind(ju, iv), part_u),
                                                 mix<n>(behind(iu, jv), behind(ju, jv), part_u), part_v));

      const F weight = load<n>(&water.weight[i]), by_weight = one / larger(weight, F(1e-20));
      const Vector3<n> tint = choose3(
          weight > zero,
          Vector3<n>{load<n>(&water.red[i]), load<n>(&water.green[i]), load<n>(&water.blue[i])} * by_weight, color);
      const Vector3<n> off = tint + color * F(-1);
      const F foam = bounded(square_root(dot(off, off)) * 2, zero, F(0.85));
      const F lit = larger(dot(normal, sun), zero) * 0.40 + normal.z * 0.12 + 0.42 + foam * 0.35;
      const F cosine = larger(dot(normal, to_eye), zero), away = one - cosine, away2 = away * away;
      const F mirror = (away2 * away2 * away * 0.98 + 0.02) * 0.85 * (one - foam * 0.7);
      const Vector3<n> mirrored = normal * (dot(normal, to_eye) * 2) + to_eye * F(-1);
      const Vector3<n> above_light = light_of<n>(
          mix<n>(lanes_of<n>(water.horizon), lanes_of<n>(water.zenith), smooth_step<n>(zero, F(0.6), mirrored.z)));
      const Vector3<n> sky =
          choose3(mirrored.z > zero, above_light,
                  mix<n>(above_light, {0.35, 0.35, 0.35}, smooth_step<n>(zero, F(0.3), -mirrored.z)));
      const F g = larger(dot(mirrored, sun), zero), g2 = g * g, g4 = g2 * g2, g8 = g4 * g4, g16 = g8 * g8,
              g32 = g16 * g16, g64 = g32 * g32, g256 = g64 * g64 * (g64 * g64), glint = g256 * g4 * 0.9;
      const F foaming = smaller(foam * 1.5, one);
      // What is one drop deep has a colour, too, or nobody would see a shallow pool.
      const F drops = thick * (1 / water.drop), deep = drops * (1.0f / 11) + smaller(drops, one) * 0.4;
      const auto channel = [&](const F& own_dye, const F& own_tint, const F& own_seen, const F& own_sky,
                               float glow) VOLVOX_INLINED {
        const F through = fading<n>((F(1.02) - own_dye) * deep) * (one - foam);
        const F base = own_dye * 0.9 + 0.03, inside = (base + (to_light<n>(own_tint) - base) * foaming) * lit;
        const F light = own_seen * through + inside * (one - through);
        return from_light<n>(light + (own_sky - light) * mirror + glint * glow);
      };
      const Vector3<n> shown = {channel(dye.x, tint.x, seen.x, sky.x, 1), channel(dye.y, tint.y, seen.y, sky.y, 0.97f),
                                channel(dye.z, tint.z, seen.z, sky.z, 0.9f)};
      // No lane beyond the end of the row: another thread may be at the next one.
      const Whole<n> colors = packed<n>(shown);
      const F depth = one / far;
      for (int k = 0; k < n && x + k < water.width; ++k) {
        if (wet[k] == 0) continue;
        water.colors[y * water.width + x + k] = static_cast<std::uint32_t>(colors[k]);
        water.depths[y * water.width + x + k] = depth.v[k];
      }
    }
  }
}

template <int n>
void work_on_water_lanes(WaterLayers& water, WaterStep step, int y0, int y1) {
  switch (step) {
    case WaterStep::splat: return splat_drops<n>(water, y0, y1);
    case WaterStep::dye: return dye_drops<n>(water, y0, y1);
    case WaterStep::smooth_rows: return smooth_water<n>(water, y0, y1, 0, true);
    case WaterStep::smooth_columns: return smooth_water<n>(water, y0, y1, 1, false);
    case WaterStep::finish: return finish_water<n>(water, y0, y1);
  }
}

}  // namespace volvox::view::picture
