// Segments side by side, with AVX-512: see kernel_surroundings.h.
#include "volvox/physics/native/kernel_surroundings.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC push_options
#  pragma GCC target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl")
#endif
#include "volvox/physics/native/segment_kernel.h"

namespace volvox::physics::native {

SegmentAnswer run_segments(const SegmentView<EightLanes>& view, SegmentStage stage, const SegmentOrder& order) {
  return SegmentStep<EightLanes>(view, order).run(stage);
}

}  // namespace volvox::physics::native

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC pop_options
#endif
