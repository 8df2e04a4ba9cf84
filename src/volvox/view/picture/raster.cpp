#include "volvox/view/picture/raster.h"

#include "volvox/base/isa.h"
#include "volvox/view/picture/smooth_edges.h"
#include "volvox/view/picture/water_layers.h"

namespace volvox::view::picture {
namespace {

const RasterKernels& kernels() {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  if (isa() == Isa::avx2) return raster_avx2;
  if (isa() == Isa::avx512) return raster_avx512;
#endif
  return raster_sse2;
}

}  // namespace

void draw_tile(const Scene& scene, int tile, TilePart part) { kernels().draw_tile(scene, tile, part); }
void draw_shadow_tile(const TriangleList& casters, int tile, ShadowMap& map) {
  kernels().draw_shadow_tile(casters, tile, map);
}
void work_on_water(WaterLayers& water, WaterStep step, int y0, int y1) { kernels().work_on_water(water, step, y0, y1); }
void smooth_row(const std::uint32_t* colors, const std::int32_t* luma, int width, int height, int y,
                std::int32_t* found, std::uint8_t* pixels) {
  kernels().smooth_row(colors, luma, width, height, y, found, pixels);
}

}  // namespace volvox::view::picture
