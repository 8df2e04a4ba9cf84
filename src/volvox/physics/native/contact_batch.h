// Contacts side by side. No two of a batch are of the same island, so that solving all of them at once is the same as
// solving them one after the other. A batch has eight lanes on every machine; how many of them a register holds changes
// no bit. SI units.
// Plain values; a room (see contact_solver.h) owns them, one thread at a time works on a batch.
#pragma once

#include <cstddef>

#include "volvox/physics/native/wide.h"

namespace volvox::physics::native {

// The same numbers as RowContact has, of eight contacts. A lane that is empty has no gains, and nothing moves by it.
struct ContactBatch {
  static constexpr int lanes = 8;
  static constexpr int most_blocks = 3;  // of a side: wider ones are solved one by one

  alignas(64) double impulse[3][lanes];
  double free[3][lanes];
  double target[lanes], friction[lanes], normal_gain[lanes], keep[lanes], tangent_gain[lanes];
  double gram[6][lanes];
  // Of each side, the coordinates of its lanes, a block of eight columns each; the last may be used in part. Lanes that
  // are narrower than others have zeros there.
  int columns_a, columns_b;
  std::size_t first_block;  // in Batches::blocks: those of a, then those of b, each of eight lanes
  std::size_t first_row;    // in Batches::rows: the normal's of a and b, then the tangents', each of eight lanes

  VOLVOX_KERNEL static int blocks(int columns) { return (columns + row_block - 1) / row_block; }
};
static_assert(sizeof(ContactBatch) == 64 * 18, "17 numbers a lane, and where the rest is");

// Batches one behind the other, and what they work on.
struct Batches {
  ContactBatch* first = nullptr;
  std::size_t count = 0;
  double* const* blocks = nullptr;
  const double* rows = nullptr;
  const double* nothing = nullptr;  // the block of a lane that has none: zeros, never written to
};

// Goes once through all batches, in their order. Returns by how much the velocity of a contact has changed at most,
// m/s.
double solve_batches(const Batches& batches);

// The same for one instruction set.
double solve_batches_avx512(const Batches& batches);
double solve_batches_avx2(const Batches& batches);
double solve_batches_sse2(const Batches& batches);

}  // namespace volvox::physics::native
