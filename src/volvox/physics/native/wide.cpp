#include "volvox/physics/native/wide.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "volvox/physics/native/eight.h"

namespace volvox::physics::native {
namespace {

constexpr long first_eight[8] = {0, 1, 2, 3, 4, 5, 6, 7};

template <class Number>
VOLVOX_KERNEL Number* place_of(Number* coordinates, const int* blocks, int k) {
  return coordinates + (blocks ? row_block * blocks[k / row_block] : k);
}

VOLVOX_KERNEL void load(FourLanes& v, const double* p) { v = *reinterpret_cast<const FourAnywhere*>(p); }
VOLVOX_KERNEL void load(EightLanes& v, const double* p) { v = *reinterpret_cast<const EightAnywhere*>(p); }

// Bits of eight numbers.
template <class Numbers>
struct BitsFor {
  using Type = EightMasks;
};
template <>
struct BitsFor<WideEight> {
  using Type = MaskOf<EightLanes>;
};
template <class Numbers>
using BitsOf = typename BitsFor<Numbers>::Type;
VOLVOX_KERNEL EightMasks first_bits(const Eight&) {
  const MaskOf<FourLanes> low = {1, 2, 4, 8}, high = {16, 32, 64, 128};
  return {low, high};
}
VOLVOX_KERNEL MaskOf<EightLanes> first_bits(const WideEight&) {
  const MaskOf<EightLanes> bits = {1, 2, 4, 8, 16, 32, 64, 128};
  return bits;
}
VOLVOX_KERNEL void mark_below(const Eight& h, double margin, EightMasks& bit, EightMasks& found) {
  found.low |= (h.low < margin) & bit.low, found.high |= (h.high < margin) & bit.high;
  bit.low <<= 8, bit.high <<= 8;
}
VOLVOX_KERNEL void mark_below(const WideEight& h, double margin, MaskOf<EightLanes>& bit, MaskOf<EightLanes>& found) {
  found |= (h.v < margin) & bit;
  bit <<= 8;
}
VOLVOX_KERNEL std::uint64_t all_bits(const EightMasks& found) {
  const MaskOf<FourLanes> four = found.low | found.high;
  return static_cast<std::uint64_t>((four[0] | four[1]) | (four[2] | four[3]));
}
VOLVOX_KERNEL std::uint64_t all_bits(const MaskOf<EightLanes>& found) {
  return all_bits(
      EightMasks{__builtin_shufflevector(found, found, 0, 1, 2, 3), __builtin_shufflevector(found, found, 4, 5, 6, 7)});
}

}  // namespace

VOLVOX_FOR_EACH_ISA(double, wide_dot, (const double* a, const double* b, int width), (a, b, width)) {
  EightOf<Set> total = {};
  for (int k = 0; k < width; k += 8) {
    EightOf<Set> x, y;
    load(x, a + k), load(y, b + k);
    total += x * y;
  }
  return sum(total);
}

VOLVOX_FOR_EACH_ISA(double, wide_distance, (const double* a, const double* b, int width), (a, b, width)) {
  EightOf<Set> total = {};
  for (int k = 0; k < width; k += 8) {
    EightOf<Set> x, y;
    load(x, a + k), load(y, b + k);
    const EightOf<Set> between = x - y;
    total += between * between;
  }
  return std::sqrt(sum(total));
}

VOLVOX_FOR_EACH_ISA(double, wide_follow, (const double* a, double* b, int width), (a, b, width)) {
  EightOf<Set> total = {};
  for (int k = 0; k < width; k += 8) {
    EightOf<Set> x, y;
    load(x, a + k), load(y, b + k);
    const EightOf<Set> between = x - y;
    store(b + k, x);
    total += between * between;
  }
  return std::sqrt(sum(total));
}

VOLVOX_FOR_EACH_ISA(double, blocks_dot, (const double* row, const int* blocks, int width, const double* coordinates),
                    (row, blocks, width, coordinates)) {
  EightOf<Set> total = {};
  for (int k = 0; k < width; k += row_block) {
    EightOf<Set> x, y;
    load(x, row + k), load(y, place_of(coordinates, blocks, k));
    total += x * y;
  }
  return sum(total);
}

VOLVOX_FOR_EACH_ISA(double, blocks_dot,
                    (const double* row_a, std::span<const int> a, const double* row_b, std::span<const int> b),
                    (row_a, a, row_b, b)) {
  EightOf<Set> total = {};
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    if (a[i] == b[k]) {
      EightOf<Set> x, y;
      load(x, row_a + row_block * i++), load(y, row_b + row_block * k++);
      total += x * y;
    } else {
      ++(a[i] < b[k] ? i : k);
    }
  }
  return sum(total);
}

VOLVOX_FOR_EACH_ISA(void, wide_add, (double* a, const double* b, double s, int width), (a, b, s, width)) {
  for (int k = 0; k < width; k += 8) {
    EightOf<Set> x, y;
    load(x, a + k), load(y, b + k);
    store(a + k, x + y * s);
  }
}

VOLVOX_FOR_EACH_ISA(void, wide_shift, (double* out, const double* in, const double (&r)[3], int width),
                    (out, in, r, width)) {
  for (int k = 0; k < width; k += 8) {
    EightOf<Set> w0, w1, w2, l0, l1, l2;
    load(w0, in + k), load(w1, in + width + k), load(w2, in + 2 * width + k);
    load(l0, in + 3 * width + k), load(l1, in + 4 * width + k), load(l2, in + 5 * width + k);
    store(out + k, w0), store(out + width + k, w1), store(out + 2 * width + k, w2);
    store(out + 3 * width + k, l0 + (w1 * r[2] - w2 * r[1]));
    store(out + 4 * width + k, l1 + (w2 * r[0] - w0 * r[2]));
    store(out + 5 * width + k, l2 + (w0 * r[1] - w1 * r[0]));
  }
}

VOLVOX_FOR_EACH_ISA(void, wide_project, (double* y, const double (&s)[6], const double (&u)[6], int width),
                    (y, s, u, width)) {
  for (int k = 0; k < width; k += 8) {
    EightOf<Set> v[6], c = {};
    for (int i = 0; i < 6; ++i) {
      load(v[i], y + i * width + k);
      c += v[i] * u[i];
    }
    for (int i = 0; i < 6; ++i) store(y + i * width + k, v[i] - c * s[i]);
  }
}

VOLVOX_FOR_EACH_ISA(void, wide_shift_project,
                    (double* out, const double* in, const double (&r)[3], const double (&s)[6], const double (&u)[6],
                     int width),
                    (out, in, r, s, u, width)) {
  for (int k = 0; k < width; k += 8) {
    EightOf<Set> v[6], c = {};
    for (int i = 0; i < 6; ++i) load(v[i], in + i * width + k);
    v[3] += v[1] * r[2] - v[2] * r[1];
    v[4] += v[2] * r[0] - v[0] * r[2];
    v[5] += v[0] * r[1] - v[1] * r[0];
    for (int i = 0; i < 6; ++i) c += v[i] * u[i];
    for (int i = 0; i < 6; ++i) store(out + i * width + k, v[i] - c * s[i]);
  }
}

VOLVOX_FOR_EACH_ISA(void, wide_add_six, (double* a, const double* rows, const double (&s)[6], int width),
                    (a, rows, s, width)) {
  for (int k = 0; k < width; k += 8) {
    EightOf<Set> x;
    load(x, a + k);
    for (int i = 0; i < 6; ++i) {
      EightOf<Set> y;
      load(y, rows + i * width + k);
      x = x + y * s[i];
    }
    store(a + k, x);
  }
}

VOLVOX_FOR_EACH_ISA(void, wide_dot_six, (const double* rows, const double* a, int width, double (&out)[6]),
                    (rows, a, width, out)) {
  EightOf<Set> total[6] = {};
  for (int k = 0; k < width; k += 8) {
    EightOf<Set> x;
    load(x, a + k);
    for (int i = 0; i < 6; ++i) {
      EightOf<Set> y;
      load(y, rows + i * width + k);
      total[i] += y * x;
    }
  }
  for (int i = 0; i < 6; ++i) out[i] = sum(total[i]);
}

VOLVOX_FOR_EACH_ISA(void, wide_gram_six, (const double* rows, int width, double (&gram)[6][6]), (rows, width, gram)) {
  for (int i = 0; i < 6; ++i) {
    EightOf<Set> total[6] = {};
    for (int k = 0; k < width; k += 8) {
      EightOf<Set> x;
      load(x, rows + i * width + k);
      for (int j = 0; j <= i; ++j) {
        EightOf<Set> y;
        load(y, rows + j * width + k);
        total[j] += x * y;
      }
    }
    for (int j = 0; j <= i; ++j) gram[i][j] = sum(total[j]);
  }
}

VOLVOX_FOR_EACH_ISA(void, wide_solve_lower, (double* out, const double* rows, const double (&l)[6][6], int width),
                    (out, rows, l, width)) {
  double scale[6];
  for (int i = 0; i < 6; ++i) scale[i] = l[i][i] == 0 ? 0 : 1 / l[i][i];
  for (int k = 0; k < width; k += 8) {
    EightOf<Set> x[6];
    for (int i = 0; i < 6; ++i) {
      load(x[i], rows + i * width + k);
      for (int j = 0; j < i; ++j) x[i] = x[i] - x[j] * l[i][j];
      x[i] = x[i] * scale[i];
      store(out + i * width + k, x[i]);
    }
  }
}

VOLVOX_FOR_EACH_ISA(void, wide_rows,
                    (const double* y, int stride, const int* blocks, int width, const Vec3& arm,
                     const Vec3 (&directions)[3], double sign, bool add, double* rows),
                    (y, stride, blocks, width, arm, directions, sign, add, rows)) {
  for (int k = 0; k < width; k += row_block) {
    const double* from = place_of(y, blocks, k);
    EightOf<Set> w0, w1, w2, l0, l1, l2;
    load(w0, from), load(w1, from + stride), load(w2, from + 2 * stride);
    load(l0, from + 3 * stride), load(l1, from + 4 * stride), load(l2, from + 5 * stride);
    l0 += w1 * arm.z - w2 * arm.y;
    l1 += w2 * arm.x - w0 * arm.z;
    l2 += w0 * arm.y - w1 * arm.x;
    for (int r = 0; r < 3; ++r) {
      EightOf<Set> row = l0 * (directions[r].x * sign) + l1 * (directions[r].y * sign) + l2 * (directions[r].z * sign),
                   before;
      if (add) load(before, rows + r * width + k), row += before;
      store(rows + r * width + k, row);
    }
  }
}

VOLVOX_FOR_EACH_ISA(double, wide_row,
                    (const double* y, int stride, const int* blocks, int width, const Vec3& turn, const Vec3& direction,
                     double sign, bool add, double* row),
                    (y, stride, blocks, width, turn, direction, sign, add, row)) {
  const Vec3 w = turn * sign, l = direction * sign;
  Eight total = {};
  for (int k = 0; k < width; k += row_block) {
    const double* from = place_of(y, blocks, k);
    Eight w0, w1, w2, l0, l1, l2;
    load(w0, from), load(w1, from + stride), load(w2, from + 2 * stride);
    load(l0, from + 3 * stride), load(l1, from + 4 * stride), load(l2, from + 5 * stride);
    Eight all = (l0 * l.x + l1 * l.y + l2 * l.z) + (w0 * w.x + w1 * w.y + w2 * w.z), before;
    if (add) load(before, row + k), all += before;
    store(row + k, all);
    total += all * all;
  }
  return sum(total);
}

VOLVOX_FOR_EACH_ISA(void, wide_gram, (const double* rows, int width, double (&gram)[6]), (rows, width, gram)) {
  EightOf<Set> g[6] = {};
  for (int k = 0; k < width; k += 8) {
    EightOf<Set> n, s, t;
    load(n, rows + k), load(s, rows + width + k), load(t, rows + 2 * width + k);
    g[0] += n * n, g[1] += n * s, g[2] += n * t, g[3] += s * s, g[4] += s * t, g[5] += t * t;
  }
  for (int i = 0; i < 6; ++i) gram[i] += sum(g[i]);
}

// The normal velocity alone.
template <Isa Set>
VOLVOX_KERNEL double normal_velocity(const RowContact& c) {
  EightOf<Set> n = {};
  for (int k = 0; k < c.width_a; k += 8) {
    EightOf<Set> a, x;
    load(a, place_of(c.a, c.blocks_a, k)), load(x, c.rows_a + k);
    n += a * x;
  }
  for (int k = 0; k < c.width_b; k += 8) {
    EightOf<Set> b, x;
    load(b, place_of(c.b, c.blocks_b, k)), load(x, c.rows_b + k);
    n += b * x;
  }
  return c.free[0] + sum(n);
}

VOLVOX_FOR_EACH_ISA(double, wide_normal_velocity, (const RowContact& c), (c)) { return normal_velocity<Set>(c); }

// ln' = max(0, keep ln - gain (vn - target)), then, with the normal's part in v_t,
// lt' = project(lt - rho v_t, mu ln'). The scalar step rho = 1 / lambda_max(G_tt) is on
// purpose: a step by G_tt^-1 with a radial projection points the wrong way.
VOLVOX_FOR_EACH_ISA(Solved, wide_solve, (RowContact & c), (c)) {
  // Most contacts do not touch, and stay so.
  if (c.impulse[0] == 0) {
    const double spare = normal_velocity<Set>(c) - c.target;
    if (spare >= 0) {
      c.impulse[1] = c.impulse[2] = 0;
      return {0, 0, spare};
    }
  }
  EightOf<Set> n = {}, s = {}, t = {};
  for (int k = 0; k < c.width_a; k += 8) {
    EightOf<Set> a, x, y, z;
    load(a, place_of(c.a, c.blocks_a, k)), load(x, c.rows_a + k), load(y, c.rows_a + c.width_a + k),
        load(z, c.rows_a + 2 * c.width_a + k);
    n += a * x, s += a * y, t += a * z;
  }
  for (int k = 0; k < c.width_b; k += 8) {
    EightOf<Set> b, x, y, z;
    load(b, place_of(c.b, c.blocks_b, k)), load(x, c.rows_b + k), load(y, c.rows_b + c.width_b + k),
        load(z, c.rows_b + 2 * c.width_b + k);
    n += b * x, s += b * y, t += b * z;
  }
  const double vn = c.free[0] + sum(n), vs = c.free[1] + sum(s), vt = c.free[2] + sum(t);
  const double normal = std::max(0.0, c.impulse[0] * c.keep - (vn - c.target) * c.normal_gain),
               dn = normal - c.impulse[0];
  double lt = c.impulse[1] - c.tangent_gain * (vs + c.gram[1] * dn);
  double lu = c.impulse[2] - c.tangent_gain * (vt + c.gram[2] * dn);
  const double most = c.friction * normal, size = lt * lt + lu * lu;
  if (size > most * most) {
    const double scale = most / std::sqrt(size);
    lt *= scale, lu *= scale;
  }
  const double dt = lt - c.impulse[1], du = lu - c.impulse[2];
  c.impulse[0] = normal, c.impulse[1] = lt, c.impulse[2] = lu;
  for (int k = 0; k < c.width_a; k += 8) {
    EightOf<Set> a, x, y, z;
    load(a, place_of(c.a, c.blocks_a, k)), load(x, c.rows_a + k), load(y, c.rows_a + c.width_a + k),
        load(z, c.rows_a + 2 * c.width_a + k);
    store(place_of(c.a, c.blocks_a, k), a + (x * dn + y * dt + z * du));
  }
  for (int k = 0; k < c.width_b; k += 8) {
    EightOf<Set> b, x, y, z;
    load(b, place_of(c.b, c.blocks_b, k)), load(x, c.rows_b + k), load(y, c.rows_b + c.width_b + k),
        load(z, c.rows_b + 2 * c.width_b + k);
    store(place_of(c.b, c.blocks_b, k), b + (x * dn + y * dt + z * du));
  }
  const double square = c.gram[0] * dn * dn + c.gram[3] * dt * dt + c.gram[5] * du * du +
                        2 * (c.gram[1] * dn * dt + c.gram[2] * dn * du + c.gram[4] * dt * du);
  return {std::max(std::fabs(dn) * c.gram[0], std::max(std::fabs(dt) * c.gram[3], std::fabs(du) * c.gram[5])),
          std::sqrt(std::max(0.0, square)), -1};
}

VOLVOX_FOR_EACH_ISA(std::uint64_t, wide_heights,
                    (const double* x, const double* y, const double* z, const double* radius, int count,
                     const Vec3& normal, double offset, double margin, double* heights),
                    (x, y, z, radius, count, normal, offset, margin, heights)) {
  typedef EightOf<Set> Numbers;
  // Each lane gathers its own bits, eight apart.
  BitsOf<Numbers> bit = first_bits(Numbers{}), found = {};
  for (int k = 0; k < count; k += 8) {
    Numbers px, py, pz, r;
    load(px, x + k), load(py, y + k), load(pz, z + k), load(r, radius + k);
    const Numbers h = px * normal.x + py * normal.y + pz * normal.z - offset - r;
    store(heights + k, h);
    mark_below(h, margin, bit, found);
  }
  return all_bits(found);
}

// A lane is a lean, not a point: so no lanes have to be compared with each other at the end.
VOLVOX_FOR_EACH_ISA(void, wide_lowest,
                    (const double* x, const double* y, const double* z, const int* points, const double* height,
                     int count, const Leans& leans, int (&lowest)[Leans::most]),
                    (x, y, z, points, height, count, leans, lowest)) {
  typedef std::conditional_t<Set == Isa::avx512, EightLanes, FourLanes> Lanes;
  constexpr int lanes = lane_count<Lanes>, most = (Leans::most + lanes - 1) / lanes;
  Lanes lean_x[most], lean_y[most], lean_z[most], least[most];
  MaskOf<Lanes> best[most] = {}, here = {};
  for (int i = 0; i < most; ++i) {
    load(lean_x[i], leans.x + lanes * i);
    load(lean_y[i], leans.y + lanes * i);
    load(lean_z[i], leans.z + lanes * i);
    least[i] = Lanes{} + 1e300;
  }
  for (int k = 0; k < count; ++k, here += 1) {
    const double px = x[points[k]], py = y[points[k]], pz = z[points[k]];
    for (int i = 0; i < most; ++i) {
      const Lanes m = height[k] + (px * lean_x[i] + py * lean_y[i] + pz * lean_z[i]);
      const MaskOf<Lanes> lower = m < least[i];
      least[i] = choose(lower, m, least[i]);
      best[i] = lower ? here : best[i];
    }
  }
  for (int i = 0; i < leans.count; ++i) lowest[i] = static_cast<int>(best[i / lanes][i % lanes]);
}

VOLVOX_FOR_EACH_ISA(int, wide_farthest,
                    (const double* x, const double* y, const double* z, int count, const Vec3& direction),
                    (x, y, z, count, direction)) {
  Eight most = Eight{} - 1e300;
  EightMasks best = {}, here;
  std::memcpy(&here, first_eight, sizeof here);
  for (int k = 0; k < count; k += 8) {
    Eight px, py, pz;
    load(px, x + k), load(py, y + k), load(pz, z + k);
    const Eight along = px * direction.x + py * direction.y + pz * direction.z;
    const EightMasks farther = along > most;
    most = choose(farther, along, most);
    best = choose(farther, here, best);
    here += 8;
  }
  double value[8];
  long where[8];
  std::memcpy(value, &most, sizeof value), std::memcpy(where, &best, sizeof where);
  int lane = 0;
  for (int i = 1; i < 8; ++i) {
    if (value[i] > value[lane] || (value[i] == value[lane] && where[i] < where[lane])) lane = i;
  }
  // The padding repeats the first point.
  return static_cast<int>(where[lane]);
}

}  // namespace volvox::physics::native
