#include "volvox/physics/native/wide.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "volvox/physics/native/lanes.h"

namespace volvox::physics::native {
namespace {

using Eight = Lanes;

VOLVOX_KERNEL void load(Eight& v, const double* p) { std::memcpy(&v, p, sizeof v); }
VOLVOX_KERNEL void store(double* p, const Eight& v) { std::memcpy(p, &v, sizeof v); }
// ((v0 + v4) + (v2 + v6)) + ((v1 + v5) + (v3 + v7)), by halves.
VOLVOX_KERNEL double sum(const Eight& v) {
  typedef double Four __attribute__((vector_size(32)));
  typedef double Two __attribute__((vector_size(16)));
  Four low, high;
  std::memcpy(&low, &v, sizeof low);
  std::memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof low, sizeof high);
  low += high;
  Two left, right;
  std::memcpy(&left, &low, sizeof left);
  std::memcpy(&right, reinterpret_cast<const char*>(&low) + sizeof left, sizeof right);
  left += right;
  return left[0] + left[1];
}

VOLVOX_KERNEL double* place_of(double* coordinates, const int* blocks, int k) {
  return coordinates + (blocks ? row_block * blocks[k / row_block] : k);
}

}  // namespace

double blocks_dot(std::span<const int> a, const double* row_a, std::span<const int> b, const double* row_b) {
  double sum = 0;
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    if (a[i] == b[k]) {
      for (std::size_t m = 0; m < row_block; ++m) sum += row_a[row_block * i + m] * row_b[row_block * k + m];
      ++i, ++k;
    } else {
      ++(a[i] < b[k] ? i : k);
    }
  }
  return sum;
}

VOLVOX_FOR_EACH_ISA(double, wide_dot, (const double* a, const double* b, int width), (a, b, width)) {
  Eight total = {};
  for (int k = 0; k < width; k += 8) {
    Eight x, y;
    load(x, a + k), load(y, b + k);
    total += x * y;
  }
  return sum(total);
}

VOLVOX_FOR_EACH_ISA(void, wide_add, (double* a, const double* b, double s, int width), (a, b, s, width)) {
  for (int k = 0; k < width; k += 8) {
    Eight x, y;
    load(x, a + k), load(y, b + k);
    store(a + k, x + y * s);
  }
}

VOLVOX_FOR_EACH_ISA(void, wide_shift, (double* out, const double* in, const double (&r)[3], int width),
                    (out, in, r, width)) {
  for (int k = 0; k < width; k += 8) {
    Eight w0, w1, w2, l0, l1, l2;
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
    Eight v[6], c = {};
    for (int i = 0; i < 6; ++i) {
      load(v[i], y + i * width + k);
      c += v[i] * u[i];
    }
    for (int i = 0; i < 6; ++i) store(y + i * width + k, v[i] - c * s[i]);
  }
}

VOLVOX_FOR_EACH_ISA(void, wide_rows,
                    (const double* y, int width, const Vec3& arm, const Vec3 (&directions)[3], double sign, bool add,
                     double* rows),
                    (y, width, arm, directions, sign, add, rows)) {
  for (int k = 0; k < width; k += 8) {
    Eight w0, w1, w2, l0, l1, l2;
    load(w0, y + k), load(w1, y + width + k), load(w2, y + 2 * width + k);
    load(l0, y + 3 * width + k), load(l1, y + 4 * width + k), load(l2, y + 5 * width + k);
    l0 += w1 * arm.z - w2 * arm.y;
    l1 += w2 * arm.x - w0 * arm.z;
    l2 += w0 * arm.y - w1 * arm.x;
    for (int r = 0; r < 3; ++r) {
      Eight row = l0 * (directions[r].x * sign) + l1 * (directions[r].y * sign) + l2 * (directions[r].z * sign), before;
      if (add) load(before, rows + r * width + k), row += before;
      store(rows + r * width + k, row);
    }
  }
}

VOLVOX_FOR_EACH_ISA(void, wide_gram, (const double* rows, int width, double (&gram)[6]), (rows, width, gram)) {
  Eight g[6] = {};
  for (int k = 0; k < width; k += 8) {
    Eight n, s, t;
    load(n, rows + k), load(s, rows + width + k), load(t, rows + 2 * width + k);
    g[0] += n * n, g[1] += n * s, g[2] += n * t, g[3] += s * s, g[4] += s * t, g[5] += t * t;
  }
  for (int i = 0; i < 6; ++i) gram[i] += sum(g[i]);
}

// The normal velocity alone.
VOLVOX_KERNEL double normal_velocity(const RowContact& c) {
  Eight n = {};
  for (int k = 0; k < c.width_a; k += 8) {
    Eight a, x;
    load(a, place_of(c.a, c.blocks_a, k)), load(x, c.rows_a + k);
    n += a * x;
  }
  for (int k = 0; k < c.width_b; k += 8) {
    Eight b, x;
    load(b, place_of(c.b, c.blocks_b, k)), load(x, c.rows_b + k);
    n += b * x;
  }
  return c.free[0] + sum(n);
}

// ln' = max(0, keep ln - gain (vn - target)), then, with the normal's part in v_t,
// lt' = project(lt - rho v_t, mu ln'). The scalar step rho = 1 / lambda_max(G_tt) is on
// purpose: a step by G_tt^-1 with a radial projection points the wrong way.
VOLVOX_FOR_EACH_ISA(double, wide_solve, (RowContact & c), (c)) {
  // Most contacts do not touch, and stay so.
  if (c.impulse[0] == 0 && normal_velocity(c) >= c.target) {
    c.impulse[1] = c.impulse[2] = 0;
    return 0;
  }
  Eight n = {}, s = {}, t = {};
  for (int k = 0; k < c.width_a; k += 8) {
    Eight a, x, y, z;
    load(a, place_of(c.a, c.blocks_a, k)), load(x, c.rows_a + k), load(y, c.rows_a + c.width_a + k),
        load(z, c.rows_a + 2 * c.width_a + k);
    n += a * x, s += a * y, t += a * z;
  }
  for (int k = 0; k < c.width_b; k += 8) {
    Eight b, x, y, z;
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
    Eight a, x, y, z;
    load(a, place_of(c.a, c.blocks_a, k)), load(x, c.rows_a + k), load(y, c.rows_a + c.width_a + k),
        load(z, c.rows_a + 2 * c.width_a + k);
    store(place_of(c.a, c.blocks_a, k), a + (x * dn + y * dt + z * du));
  }
  for (int k = 0; k < c.width_b; k += 8) {
    Eight b, x, y, z;
    load(b, place_of(c.b, c.blocks_b, k)), load(x, c.rows_b + k), load(y, c.rows_b + c.width_b + k),
        load(z, c.rows_b + 2 * c.width_b + k);
    store(place_of(c.b, c.blocks_b, k), b + (x * dn + y * dt + z * du));
  }
  return std::max(std::fabs(dn) * c.gram[0], std::max(std::fabs(dt) * c.gram[3], std::fabs(du) * c.gram[5]));
}

VOLVOX_FOR_EACH_ISA(bool, wide_heights,
                    (const double* x, const double* y, const double* z, const double* radius, int count,
                     const Vec3& normal, double offset, double margin, double* heights),
                    (x, y, z, radius, count, normal, offset, margin, heights)) {
  Eight lowest = Eight{} + 1e300;
  for (int k = 0; k < count; k += 8) {
    Eight px, py, pz, r;
    load(px, x + k), load(py, y + k), load(pz, z + k), load(r, radius + k);
    const Eight h = px * normal.x + py * normal.y + pz * normal.z - offset - r;
    store(heights + k, h);
    lowest = h < lowest ? h : lowest;
  }
  for (int i = 0; i < 8; ++i) {
    if (lowest[i] < margin) return true;
  }
  return false;
}

VOLVOX_FOR_EACH_ISA(int, wide_lowest,
                    (const double* x, const double* y, const double* z, const double* height, int count,
                     const Vec3& lean),
                    (x, y, z, height, count, lean)) {
  typedef long long EightInts __attribute__((vector_size(64)));
  Eight least = Eight{} + 1e300;
  EightInts best = {}, here = {0, 1, 2, 3, 4, 5, 6, 7};
  for (int k = 0; k < count; k += 8) {
    Eight px, py, pz, h;
    load(px, x + k), load(py, y + k), load(pz, z + k), load(h, height + k);
    const Eight m = h + (px * lean.x + py * lean.y + pz * lean.z);
    const EightInts lower = m < least;
    least = lower ? m : least;
    best = lower ? here : best;
    here += 8;
  }
  int lane = 0;
  for (int i = 1; i < 8; ++i) {
    if (least[i] < least[lane] || (least[i] == least[lane] && best[i] < best[lane])) lane = i;
  }
  return static_cast<int>(best[lane]);
}

VOLVOX_FOR_EACH_ISA(int, wide_farthest,
                    (const double* x, const double* y, const double* z, int count, const Vec3& direction),
                    (x, y, z, count, direction)) {
  typedef long long EightInts __attribute__((vector_size(64)));
  Eight most = Eight{} - 1e300;
  EightInts best = {}, here = {0, 1, 2, 3, 4, 5, 6, 7};
  for (int k = 0; k < count; k += 8) {
    Eight px, py, pz;
    load(px, x + k), load(py, y + k), load(pz, z + k);
    const Eight along = px * direction.x + py * direction.y + pz * direction.z;
    const EightInts farther = along > most;
    most = farther ? along : most;
    best = farther ? here : best;
    here += 8;
  }
  int lane = 0;
  for (int i = 1; i < 8; ++i) {
    if (most[i] > most[lane] || (most[i] == most[lane] && best[i] < best[lane])) lane = i;
  }
  // The padding repeats the first point.
  return static_cast<int>(best[lane]);
}

}  // namespace volvox::physics::native
