// The rasteriser's loops with AVX2: see raster_surroundings.h.
#include "volvox/view/picture/raster_surroundings.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC push_options
#  pragma GCC target("avx2")
#endif
#include "volvox/view/picture/raster_kernel.h"
#include "volvox/view/picture/smooth_kernel.h"
#include "volvox/view/picture/water_kernel.h"

namespace volvox::view::picture {

const RasterKernels raster_avx2{draw_tile_lanes<8>, draw_shadow_tile_lanes<8>, work_on_water_lanes<8>,
                                smooth_row_lanes<8>};

}  // namespace volvox::view::picture

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC pop_options
#endif
