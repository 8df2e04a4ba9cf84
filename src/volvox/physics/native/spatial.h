// Vectors and matrices of rigid-body dynamics, for one tree (T = double) or for several
// identical ones side by side (T = a vector of doubles). Every operation is written out in a
// fixed order, so that a lane has the same bits as the scalar.
//
// A spatial vector is taken at a body's centre of mass, in world axes: a velocity is (w, v),
// an impulse (n, f).
#pragma once

#include <cmath>

#include "volvox/base/math.h"

namespace volvox::physics::native {

#define VOLVOX_KERNEL inline __attribute__((always_inline))

VOLVOX_KERNEL double square_root(double x) { return std::sqrt(x); }
VOLVOX_KERNEL double choose(bool which, double yes, double no) { return which ? yes : no; }

template <class T>
struct V3 {
  T x, y, z;
};

template <class T> VOLVOX_KERNEL V3<T> operator+(const V3<T>& a, const V3<T>& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
template <class T> VOLVOX_KERNEL V3<T> operator-(const V3<T>& a, const V3<T>& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
template <class T> VOLVOX_KERNEL V3<T> operator-(const V3<T>& a) { return {-a.x, -a.y, -a.z}; }
template <class T> VOLVOX_KERNEL V3<T> operator*(const V3<T>& a, const T& s) { return {a.x * s, a.y * s, a.z * s}; }
template <class T> VOLVOX_KERNEL T dot(const V3<T>& a, const V3<T>& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
template <class T> VOLVOX_KERNEL V3<T> cross(const V3<T>& a, const V3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <class T>
struct Q4 {
  T w, x, y, z;
};

template <class T> VOLVOX_KERNEL Q4<T> operator*(const Q4<T>& a, const Q4<T>& b) {
  return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
          a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
template <class T> VOLVOX_KERNEL Q4<T> conjugate(const Q4<T>& q) { return {q.w, -q.x, -q.y, -q.z}; }

// Turns q by the rotation vector `turn`. The sine and cosine of the half angle come from
// their series, which is exact to rounding up to 1 rad a step and has the same bits anywhere.
template <class T> VOLVOX_KERNEL Q4<T> turned(const Q4<T>& q, const V3<T>& turn) {
  const T t = dot(turn, turn) * 0.25;
  const T sine_over_angle =
      0.5 * (1 - t * (1.0 / 6) * (1 - t * (1.0 / 20) * (1 - t * (1.0 / 42) * (1 - t * (1.0 / 72) * (1 - t * (1.0 / 110))))));
  const T cosine = 1 - t * 0.5 * (1 - t * (1.0 / 12) * (1 - t * (1.0 / 30) * (1 - t * (1.0 / 56) * (1 - t * (1.0 / 90)))));
  const Q4<T> step{cosine, turn.x * sine_over_angle, turn.y * sine_over_angle, turn.z * sine_over_angle};
  const Q4<T> r = step * q;
  const T scale = 1 / square_root(r.w * r.w + r.x * r.x + r.y * r.y + r.z * r.z);
  return {r.w * scale, r.x * scale, r.y * scale, r.z * scale};
}

// A 3x3 matrix, by rows.
template <class T>
struct M3 {
  V3<T> r0, r1, r2;
};

template <class T> VOLVOX_KERNEL M3<T> rotation_matrix(const Q4<T>& q) {
  const T x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
  const T xx = q.x * x2, yy = q.y * y2, zz = q.z * z2, xy = q.x * y2, xz = q.x * z2, yz = q.y * z2;
  const T wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
  return {{1 - yy - zz, xy - wz, xz + wy}, {xy + wz, 1 - xx - zz, yz - wx}, {xz - wy, yz + wx, 1 - xx - yy}};
}
template <class T> VOLVOX_KERNEL V3<T> operator*(const M3<T>& m, const V3<T>& v) { return {dot(m.r0, v), dot(m.r1, v), dot(m.r2, v)}; }
template <class T> VOLVOX_KERNEL V3<T> transposed_times(const M3<T>& m, const V3<T>& v) {
  return {m.r0.x * v.x + m.r1.x * v.y + m.r2.x * v.z, m.r0.y * v.x + m.r1.y * v.y + m.r2.y * v.z,
          m.r0.z * v.x + m.r1.z * v.y + m.r2.z * v.z};
}
template <class T> VOLVOX_KERNEL M3<T> operator+(const M3<T>& a, const M3<T>& b) { return {a.r0 + b.r0, a.r1 + b.r1, a.r2 + b.r2}; }
// [r]x m and m [r]x.
template <class T> VOLVOX_KERNEL M3<T> cross_times(const V3<T>& r, const M3<T>& m) {
  return {m.r2 * r.y - m.r1 * r.z, m.r0 * r.z - m.r2 * r.x, m.r1 * r.x - m.r0 * r.y};
}
template <class T> VOLVOX_KERNEL M3<T> times_cross(const M3<T>& m, const V3<T>& r) { return {cross(m.r0, r), cross(m.r1, r), cross(m.r2, r)}; }

// A symmetric 3x3 matrix.
template <class T>
struct S3 {
  T xx, xy, xz, yy, yz, zz;
};

template <class T> VOLVOX_KERNEL V3<T> operator*(const S3<T>& m, const V3<T>& v) {
  return {m.xx * v.x + m.xy * v.y + m.xz * v.z, m.xy * v.x + m.yy * v.y + m.yz * v.z, m.xz * v.x + m.yz * v.y + m.zz * v.z};
}
template <class T> VOLVOX_KERNEL S3<T> operator+(const S3<T>& a, const S3<T>& b) {
  return {a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
}
template <class T> VOLVOX_KERNEL M3<T> full(const S3<T>& s) { return {{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}}; }
// R diag(m) R^T.
template <class T> VOLVOX_KERNEL S3<T> turned_diagonal(const M3<T>& r, const V3<T>& m) {
  const V3<T> a{r.r0.x * m.x, r.r0.y * m.y, r.r0.z * m.z}, b{r.r1.x * m.x, r.r1.y * m.y, r.r1.z * m.z};
  const V3<T> c{r.r2.x * m.x, r.r2.y * m.y, r.r2.z * m.z};
  return {dot(a, r.r0), dot(a, r.r1), dot(a, r.r2), dot(b, r.r1), dot(b, r.r2), dot(c, r.r2)};
}

template <class T>
struct Spatial {
  V3<T> a, l;  // angular, linear
};

template <class T> VOLVOX_KERNEL Spatial<T> operator+(const Spatial<T>& x, const Spatial<T>& y) { return {x.a + y.a, x.l + y.l}; }
template <class T> VOLVOX_KERNEL Spatial<T> operator-(const Spatial<T>& x, const Spatial<T>& y) { return {x.a - y.a, x.l - y.l}; }
template <class T> VOLVOX_KERNEL Spatial<T> operator*(const Spatial<T>& x, const T& s) { return {x.a * s, x.l * s}; }
template <class T> VOLVOX_KERNEL T dot(const Spatial<T>& x, const Spatial<T>& y) { return dot(x.a, y.a) + dot(x.l, y.l); }

// T v: the velocity that a body at r from its parent has when the two move as one.
template <class T> VOLVOX_KERNEL Spatial<T> motion_to_child(const Spatial<T>& v, const V3<T>& r) { return {v.a, v.l + cross(v.a, r)}; }
// T^T z: an impulse on the child, felt at the parent.
template <class T> VOLVOX_KERNEL Spatial<T> impulse_to_parent(const Spatial<T>& z, const V3<T>& r) { return {z.a + cross(r, z.l), z.l}; }

// A symmetric 6x6 matrix [a b; b^T c]: an inertia, from velocities to impulses.
template <class T>
struct S6 {
  S3<T> a;
  M3<T> b;
  S3<T> c;
};

template <class T> VOLVOX_KERNEL Spatial<T> operator*(const S6<T>& d, const Spatial<T>& v) {
  return {d.a * v.a + d.b * v.l, transposed_times(d.b, v.a) + d.c * v.l};
}
template <class T> VOLVOX_KERNEL S6<T> operator+(const S6<T>& x, const S6<T>& y) { return {x.a + y.a, x.b + y.b, x.c + y.c}; }

template <class T> VOLVOX_KERNEL void subtract_outer(S3<T>& m, const V3<T>& a, const V3<T>& b) {
  m.xx = m.xx - a.x * b.x, m.xy = m.xy - a.x * b.y, m.xz = m.xz - a.x * b.z;
  m.yy = m.yy - a.y * b.y, m.yz = m.yz - a.y * b.z, m.zz = m.zz - a.z * b.z;
}
// d -= x y^T, where y is x times a number.
template <class T> VOLVOX_KERNEL void subtract_outer(S6<T>& d, const Spatial<T>& x, const Spatial<T>& y) {
  subtract_outer(d.a, x.a, y.a);
  d.b.r0 = d.b.r0 - y.l * x.a.x, d.b.r1 = d.b.r1 - y.l * x.a.y, d.b.r2 = d.b.r2 - y.l * x.a.z;
  subtract_outer(d.c, x.l, y.l);
}

// T^T d T: the child's inertia as its parent feels it.
//   c' = c,  b' = b + [r] c,  a' = a + [r] b^T + ([r] b^T)^T - [r] c [r]
template <class T> VOLVOX_KERNEL S6<T> inertia_to_parent(const S6<T>& d, const V3<T>& r) {
  const M3<T> rc = cross_times(r, full(d.c));
  const M3<T> bt{{d.b.r0.x, d.b.r1.x, d.b.r2.x}, {d.b.r0.y, d.b.r1.y, d.b.r2.y}, {d.b.r0.z, d.b.r1.z, d.b.r2.z}};
  const M3<T> p = cross_times(r, bt), z = times_cross(rc, r);
  S6<T> out;
  out.c = d.c;
  out.b = d.b + rc;
  out.a = {d.a.xx + p.r0.x + p.r0.x - z.r0.x, d.a.xy + p.r0.y + p.r1.x - z.r0.y, d.a.xz + p.r0.z + p.r2.x - z.r0.z,
           d.a.yy + p.r1.y + p.r1.y - z.r1.y, d.a.yz + p.r1.z + p.r2.y - z.r1.z, d.a.zz + p.r2.z + p.r2.z - z.r2.z};
  return out;
}

// The inverse of the lower Cholesky factor of a symmetric positive 6x6 matrix, by rows,
// lower triangle only: d = L L^T, inverse[i][j] = (L^-1)_ij.
template <class T>
struct InverseFactor {
  T e[6][6];
};

template <class T> VOLVOX_KERNEL InverseFactor<T> inverse_factor(const S6<T>& d) {
  const T m[6][6] = {{d.a.xx},
                     {d.a.xy, d.a.yy},
                     {d.a.xz, d.a.yz, d.a.zz},
                     {d.b.r0.x, d.b.r1.x, d.b.r2.x, d.c.xx},
                     {d.b.r0.y, d.b.r1.y, d.b.r2.y, d.c.xy, d.c.yy},
                     {d.b.r0.z, d.b.r1.z, d.b.r2.z, d.c.xz, d.c.yz, d.c.zz}};
  T l[6][6], diagonal[6];
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j <= i; ++j) {
      T s = m[i][j];
      for (int k = 0; k < j; ++k) s = s - l[i][k] * l[j][k];
      if (i == j) {
        diagonal[i] = 1 / square_root(s);
      } else {
        l[i][j] = s * diagonal[j];
      }
    }
  }
  InverseFactor<T> inverse;
  for (int j = 0; j < 6; ++j) {
    inverse.e[j][j] = diagonal[j];
    for (int i = j + 1; i < 6; ++i) {
      T s = l[i][j] * inverse.e[j][j];
      for (int k = j + 1; k < i; ++k) s = s + l[i][k] * inverse.e[k][j];
      inverse.e[i][j] = -s * diagonal[i];
    }
  }
  return inverse;
}
// L^-T x, where x has the six whitened coordinates of a root.
template <class T> VOLVOX_KERNEL Spatial<T> times_inverse_transposed(const InverseFactor<T>& f, const T* x) {
  T v[6];
  for (int i = 0; i < 6; ++i) {
    v[i] = f.e[i][i] * x[i];
    for (int k = i + 1; k < 6; ++k) v[i] = v[i] + f.e[k][i] * x[k];
  }
  return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
}
// d^-1 z = L^-T L^-1 z.
template <class T> VOLVOX_KERNEL Spatial<T> solve(const InverseFactor<T>& f, const Spatial<T>& z) {
  const T in[6] = {z.a.x, z.a.y, z.a.z, z.l.x, z.l.y, z.l.z};
  T y[6];
  for (int i = 0; i < 6; ++i) {
    y[i] = f.e[i][0] * in[0];
    for (int k = 1; k <= i; ++k) y[i] = y[i] + f.e[i][k] * in[k];
  }
  return times_inverse_transposed(f, y);
}

VOLVOX_KERNEL V3<double> lane(const Vec3& v) { return {v.x, v.y, v.z}; }
VOLVOX_KERNEL Q4<double> lane(const Quat& q) { return {q.w, q.x, q.y, q.z}; }
VOLVOX_KERNEL Vec3 plain(const V3<double>& v) { return {v.x, v.y, v.z}; }
VOLVOX_KERNEL Quat plain(const Q4<double>& q) { return {q.w, q.x, q.y, q.z}; }

}  // namespace volvox::physics::native
