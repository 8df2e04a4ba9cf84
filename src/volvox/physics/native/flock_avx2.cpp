// Trees side by side, with AVX2: see kernel_surroundings.h.
#include "volvox/physics/native/kernel_surroundings.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC push_options
#  pragma GCC target("avx2")
#endif
#include "volvox/physics/native/flock_rows.h"

namespace volvox::physics::native {

FlockKernels<FourLanes> four_doubles_avx2() { return own_kernels<FourLanes>(); }
FlockKernels<Floats<8>> eight_floats_avx2() { return own_kernels<Floats<8>>(); }

}  // namespace volvox::physics::native

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC pop_options
#endif
