// The rasteriser's loops with AVX-512: see raster_surroundings.h.
#include "volvox/view/picture/raster_surroundings.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC push_options
#  pragma GCC target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl")
#endif
#include "volvox/view/picture/raster_kernel.h"
#include "volvox/view/picture/smooth_kernel.h"
#include "volvox/view/picture/water_kernel.h"

namespace volvox::view::picture {

const RasterKernels raster_avx512{draw_tile_lanes<16>, draw_shadow_tile_lanes<16>, work_on_water_lanes<16>,
                                  smooth_row_lanes<16>};

}  // namespace volvox::view::picture

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC pop_options
#endif
