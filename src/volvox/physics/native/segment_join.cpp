#include "volvox/physics/native/segment_join.h"

#include <cmath>

#include "volvox/base/isa.h"

namespace volvox::physics::native {
namespace {

VOLVOX_KERNEL S6<double> to_inertia(const SixBySix& m) {
  return {{m[0][0], m[1][0], m[2][0], m[1][1], m[2][1], m[2][2]},
          {{m[3][0], m[4][0], m[5][0]}, {m[3][1], m[4][1], m[5][1]}, {m[3][2], m[4][2], m[5][2]}},
          {m[3][3], m[4][3], m[5][3], m[4][4], m[5][4], m[5][5]}};
}

// Lower Cholesky factor of a matrix that may be singular: directions without any response get no column.
VOLVOX_KERNEL void factor_response(const SixBySix& g, SixBySix& l) {
  for (int j = 0; j < 6; ++j) {
    for (int i = 0; i < 6; ++i) l[i][j] = 0;
    double pivot = g[j][j];
    for (int k = 0; k < j; ++k) pivot -= l[j][k] * l[j][k];
    if (!(pivot > 1e-14 * g[j][j])) continue;
    const double root = std::sqrt(pivot), scale = 1 / root;
    l[j][j] = root;
    for (int i = j + 1; i < 6; ++i) {
      double s = g[i][j];
      for (int k = 0; k < j; ++k) s -= l[i][k] * l[j][k];
      l[i][j] = s * scale;
    }
  }
}

// x := R^-1 x for each column, R lower with its diagonal inverted.
VOLVOX_KERNEL void solve_lower(const SixBySix& r, SixBySix& x) {
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < i; ++k) {
      for (int j = 0; j < 6; ++j) x[i][j] -= r[i][k] * x[k][j];
    }
    for (int j = 0; j < 6; ++j) x[i][j] *= r[i][i];
  }
}

}  // namespace

Spatial<double> times(const SixBySix& m, const Spatial<double>& v) {
  double in[6], out[6];
  to_array(v, in);
  for (int i = 0; i < 6; ++i) {
    out[i] = m[i][0] * in[0];
    for (int k = 1; k < 6; ++k) out[i] += m[i][k] * in[k];
  }
  return to_spatial(out);
}

// With G = L L^T, I + L^T D_e L = R R^T, X = R^-1 L^T D_e and K = L R^-T:
//   D_e (I + G D_e)^-1 = D_e - X^T X,   (I + G D_e)^-1 = I - K X,   (I + G D_e)^-1 G = K K^T
VOLVOX_FOR_EACH_ISA(void, join, (const SegmentPack::Seen& seen, Joined& joined), (seen, joined)) {
  SixBySix &phi = joined.phi, &k = joined.k;
  SixBySix l, load, r, x;
  factor_response(seen.g, l);
  to_matrix(joined.end_d, load);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      double sum = 0;
      for (int m = i; m < 6; ++m) sum += l[m][i] * load[m][j];
      x[i][j] = sum;
    }
  }
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = i == j ? 1 : 0;
      for (int m = j; m < 6; ++m) sum += x[i][m] * l[m][j];
      for (int m = 0; m < j; ++m) sum -= r[i][m] * r[j][m];
      r[i][j] = i == j ? 1 / std::sqrt(sum) : sum * r[j][j];
    }
  }
  solve_lower(r, x);
  SixBySix turned;  // K^T
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) turned[i][j] = l[j][i];
  }
  solve_lower(r, turned);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      k[i][j] = turned[j][i];
      for (int m = 0; m < 6; ++m) load[i][j] -= x[m][i] * x[m][j];
    }
  }
  // What it does without any motion above; what is passed on then.
  double y[6], in[6], f[6], xy[6], out[6];
  to_array(joined.end_z, in);
  for (int i = 0; i < 6; ++i) {
    y[i] = seen.c[i];
    for (int m = 0; m < 6; ++m) y[i] += seen.g[i][m] * in[m];
  }
  to_array(seen.z, out);
  for (int i = 0; i < 6; ++i) {
    f[i] = in[i], xy[i] = 0;
    for (int m = 0; m < 6; ++m) f[i] -= load[i][m] * y[m], xy[i] += x[i][m] * y[m];
  }
  SixBySix moved, pushed;  // X Phi; (D_e - X^T X) Phi
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      double a = 0, b = 0;
      for (int m = 0; m < 6; ++m) a += x[i][m] * seen.phi[m][j], b += load[i][m] * seen.phi[m][j];
      moved[i][j] = a, pushed[i][j] = b;
    }
  }
  double end_c[6];
  SixBySix whole;
  for (int i = 0; i < 6; ++i) {
    end_c[i] = y[i];
    for (int m = 0; m < 6; ++m) out[i] += seen.phi[m][i] * f[m], end_c[i] -= k[i][m] * xy[m];
    for (int j = 0; j < 6; ++j) {
      double a = seen.phi[i][j], b = seen.d[i][j];
      for (int m = 0; m < 6; ++m) a -= k[i][m] * moved[m][j], b += seen.phi[m][i] * pushed[m][j];
      phi[i][j] = a, whole[i][j] = b;
    }
  }
  joined.d = to_inertia(whole), joined.z = to_spatial(out), joined.c = to_spatial(end_c);
}

void respond(Joined& joined, const SixBySix& above) {
  SixBySix carried;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      double sum = joined.phi[i][0] * above[0][j];
      for (int k = 1; k < 6; ++k) sum += joined.phi[i][k] * above[k][j];
      carried[i][j] = sum;
    }
  }
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = 0;
      for (int k = 0; k < 6; ++k) sum += carried[i][k] * joined.phi[j][k] + joined.k[i][k] * joined.k[j][k];
      joined.response[i][j] = joined.response[j][i] = sum;
    }
  }
}

}  // namespace volvox::physics::native
