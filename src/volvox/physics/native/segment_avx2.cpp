// Segments side by side, with AVX2: see kernel_surroundings.h.
#include "volvox/physics/native/kernel_surroundings.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC push_options
#  pragma GCC target("avx2")
#endif
#include "volvox/physics/native/segment_kernel.h"

namespace volvox::physics::native {

SegmentAnswer run_segments(const SegmentView<FourLanes>& view, SegmentStage stage, const SegmentOrder& order) {
  return SegmentStep<FourLanes>(view, order).run(stage);
}

}  // namespace volvox::physics::native

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC pop_options
#endif
