// Trees side by side in the registers that every processor has.
#include "volvox/physics/native/flock_rows.h"

namespace volvox::physics::native {

FlockKernels<FourLanes> four_doubles_sse2() { return own_kernels<FourLanes>(); }
FlockKernels<Floats<4>> four_floats_sse2() { return own_kernels<Floats<4>>(); }

}  // namespace volvox::physics::native
