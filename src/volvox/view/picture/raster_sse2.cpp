// The rasteriser's loops without AVX: see raster_surroundings.h.
#include "volvox/view/picture/raster_surroundings.h"

#include "volvox/view/picture/raster_kernel.h"
#include "volvox/view/picture/smooth_kernel.h"
#include "volvox/view/picture/water_kernel.h"

namespace volvox::view::picture {

const RasterKernels raster_sse2{draw_tile_lanes<4>, draw_shadow_tile_lanes<4>, work_on_water_lanes<4>,
                                smooth_row_lanes<4>};

}  // namespace volvox::view::picture
