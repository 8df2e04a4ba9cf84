// Trees side by side, with AVX2: see kernel_surroundings.h.
#include "volvox/physics/native/kernel_surroundings.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC push_options
#  pragma GCC target("avx2")
#endif
#include "volvox/physics/native/flock_kernel.h"

namespace volvox::physics::native {

int move_flock_avx2(const FlockView<FourLanes>& flock, const FlockRoomView<FourLanes>& room, double step, int substeps,
                    double time_left, MaskOf<FourLanes>& alarmed) {
  return run_flock(flock, room, step, substeps, time_left, alarmed);
}
int move_flock_avx2(const FlockView<Floats<8>>& flock, const FlockRoomView<Floats<8>>& room, double step, int substeps,
                    double time_left, MaskOf<Floats<8>>& alarmed) {
  return run_flock(flock, room, step, substeps, time_left, alarmed);
}

}  // namespace volvox::physics::native

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC pop_options
#endif
