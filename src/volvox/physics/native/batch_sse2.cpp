// Contacts of a batch with the basic instructions, one by one; and which set is used.
#include "volvox/physics/native/batch_kernel.h"

namespace volvox::physics::native {

double solve_batches_sse2(const Batches& batches) { return solve_all_batches<double>(batches); }

double solve_batches(const Batches& batches) {
  if (isa() == Isa::avx512) return solve_batches_avx512(batches);
  if (isa() == Isa::avx2) return solve_batches_avx2(batches);
  return solve_batches_sse2(batches);
}

}  // namespace volvox::physics::native
