// Loops over rows of whitened coordinates, eight doubles at a time. Each exists in several
// instruction sets and is chosen when the program is loaded; since eight lanes are summed in
// a fixed order and nothing is contracted, all have the same bits.
#pragma once

#include <cstdint>
#include <span>

#include "volvox/base/isa.h"
#include "volvox/base/math.h"

namespace volvox::physics::native {

// All widths are multiples of it.
inline constexpr int row_block = 8;

double wide_dot(const double* a, const double* b, int width);
// The same of a row that has some blocks only (see RowSpan) and of coordinates; of two such rows. What a row has no
// block for is zero in it: the bits are those of the whole rows.
double blocks_dot(const double* row, const int* blocks, int width, const double* coordinates);
double blocks_dot(const double* row_a, std::span<const int> a, const double* row_b, std::span<const int> b);
// The length of a - b.
double wide_distance(const double* a, const double* b, int width);
// The same, and b becomes a.
double wide_follow(const double* a, double* b, int width);
// a += b s
void wide_add(double* a, const double* b, double s, int width);
// Six rows: T y, where T moves by r (the velocities of a parent at its child's place).
void wide_shift(double* out, const double* in, const double (&r)[3], int width);
// Six rows: y -= s (u.y), column by column.
void wide_project(double* y, const double (&s)[6], const double (&u)[6], int width);
// Both, one after the other.
void wide_shift_project(double* out, const double* in, const double (&r)[3], const double (&s)[6], const double (&u)[6],
                        int width);
// a += the sum of six rows, each times a number; and six wide_dot().
void wide_add_six(double* a, const double* rows, const double (&s)[6], int width);
void wide_dot_six(const double* rows, const double* a, int width, double (&out)[6]);
// The lower triangle of the product of six rows with themselves.
void wide_gram_six(const double* rows, int width, double (&gram)[6][6]);
// Six rows: out = L^-1 rows. Where the diagonal of L is zero, so is what comes out.
void wide_solve_lower(double* out, const double* rows, const double (&l)[6][6], int width);
// Three rows: sign * direction_r.(y_linear + y_angular x arm), set or added. `y` has six rows, `stride` apart, of which
// the blocks are taken that the three rows have.
void wide_rows(const double* y, int stride, const int* blocks, int width, const Vec3& arm, const Vec3 (&directions)[3],
               double sign, bool add, double* rows);
// One row: sign * (direction.y_linear + turn.y_angular), set or added; otherwise as wide_rows. `turn`: arm x direction.
// Returns the square of its length.
double wide_row(const double* y, int stride, const int* blocks, int width, const Vec3& turn, const Vec3& direction,
                double sign, bool add, double* row);
// The six entries of the 3x3 product of three rows with themselves: 00 01 02 11 12 22.
void wide_gram(const double* rows, int width, double (&gram)[6]);
// A contact in the sweep.
struct RowContact {
  double impulse[3];        // along the normal and the two tangents
  double free[3];           // velocity without any of the sweep's changes
  double target = 0;        // the normal speed to reach
  double least_target = 0;  // of a bounce
  bool passes = false;      // it is to do nothing in this substep
  double friction = 0;
  double normal_gain = 0;                       // 1 / (G_nn + what the contact gives way)
  double keep = 1;                              // G_nn times that: below 1 where it gives way, see contact_rules.h
  double tangent_gain = 0;                      // 1 / largest eigenvalue of G_tt
  double gram[6];                               // G = y y^T: 00 01 02 11 12 22
  double *a = nullptr, *b = nullptr;            // coordinates of the two sides
  double *rows_a = nullptr, *rows_b = nullptr;  // three rows each; b: null where there is none
  int width_a = 0, width_b = 0;
  const int *blocks_a = nullptr, *blocks_b = nullptr;  // see RowSpan
};
// One projected step of a contact.
struct Solved {
  double change = 0;  // of its velocity, in m/s
  double travel = 0;  // how far it moved the coordinates of its two sides: the length of the change
  double spare = -1;  // m/s; how far it is above its target, where it pushed neither before nor now; else negative
};
Solved wide_solve(RowContact& contact);
// Its normal velocity now, for which the normal's rows are enough.
double wide_normal_velocity(const RowContact& contact);

// The point farthest along a direction. Points past the first `count` repeat it.
int wide_farthest(const double* x, const double* y, const double* z, int count, const Vec3& direction);
// Planes that are tipped: a point is then higher by dot(lean, point). There is room for two vectors of eight. Left as
// raw memory: a call uses most of it, and to set it to zero first takes longer than to fill it.
struct Leans {
  static constexpr int most = 12, room = 16;
  double x[room], y[room], z[room];
  int count = 0;
  Leans() {}
  VOLVOX_KERNEL void add(const Vec3& lean) { x[count] = lean.x, y[count] = lean.y, z[count++] = lean.z; }
  // What is left of the vectors.
  VOLVOX_KERNEL void fill_up() {
    for (int k = count; k < room; ++k) x[k] = y[k] = z[k] = 0;
  }
};
// For each lean the least height + dot(lean, point) of some points of a cloud, of several the first: its place in
// `points`, which says where they are in the cloud; heights are in the order of `points`.
void wide_lowest(const double* x, const double* y, const double* z, const int* points, const double* height, int count,
                 const Leans& leans, int (&lowest)[Leans::most]);
// Heights of points above a plane, less their radii; at most 64, a multiple of 8. Returns a bit for each that is below
// `margin`.
std::uint64_t wide_heights(const double* x, const double* y, const double* z, const double* radius, int count,
                           const Vec3& normal, double offset, double margin, double* heights);

}  // namespace volvox::physics::native
