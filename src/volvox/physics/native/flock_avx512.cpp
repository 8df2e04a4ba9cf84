// Trees side by side, with AVX-512: see kernel_surroundings.h.
#include "volvox/physics/native/kernel_surroundings.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC push_options
#  pragma GCC target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl")
#endif
#include "volvox/physics/native/flock_rows.h"

namespace volvox::physics::native {

FlockKernels<EightLanes> eight_doubles_avx512() { return own_kernels<EightLanes>(); }
FlockKernels<Floats<16>> sixteen_floats_avx512() { return own_kernels<Floats<16>>(); }

}  // namespace volvox::physics::native

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC pop_options
#endif
