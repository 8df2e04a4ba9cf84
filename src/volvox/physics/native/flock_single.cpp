// One tree alone, by the code of those side by side.
#include "volvox/physics/native/flock_rows.h"

namespace volvox::physics::native {

FlockKernels<double> one_double() { return own_kernels<double>(); }
FlockKernels<Floats<1>> one_float() { return own_kernels<Floats<1>>(); }

}  // namespace volvox::physics::native
