// Trees side by side, with AVX-512: see kernel_surroundings.h.
#include "volvox/physics/native/kernel_surroundings.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC push_options
#  pragma GCC target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl")
#endif
#include "volvox/physics/native/flock_kernel.h"

namespace volvox::physics::native {

int move_flock_avx512(const FlockView<EightLanes>& flock, const FlockRoomView<EightLanes>& room, double step,
                      int substeps, double time_left, MaskOf<EightLanes>& alarmed) {
  return run_flock(flock, room, step, substeps, time_left, alarmed);
}
int move_flock_avx512(const FlockView<Floats<16>>& flock, const FlockRoomView<Floats<16>>& room, double step,
                      int substeps, double time_left, MaskOf<Floats<16>>& alarmed) {
  return run_flock(flock, room, step, substeps, time_left, alarmed);
}

}  // namespace volvox::physics::native

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC pop_options
#endif
