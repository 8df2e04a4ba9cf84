// The rasteriser of the engine `picture`: triangles on a grid of samples (the pixels of a canvas, or of a shadow map),
// sorted into tiles of 64 x 64, which threads take one by one. A triangle covers the samples whose middles lie in it,
// to the bit: corners lie on a grid of 1/256 of a sample, and of two triangles with a common edge exactly one covers a
// sample on it.
// A tile is drawn in two steps: first, which triangle is seen at each sample (its number and depth); then every sample
// is lit once. Both go over 4, 8 or 16 samples side by side (raster_kernel.h).
//
// x goes to the right and y down, in samples; other lengths in m, in world axes, relative to the camera's target.
// Tiles are independent: the picture is the same at any number of threads and with any instruction set.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace volvox::view::picture {

// Of the light of bodies and grounds: from the sun, from above and from below.
inline constexpr float sun_color[3] = {2.05f, 1.98f, 1.86f}, sky_color[3] = {0.66f, 0.71f, 0.80f},
                       bounce_color[3] = {0.44f, 0.42f, 0.40f};

using Floats3 = std::array<float, 3>;

inline constexpr int subsamples = 256;  // steps of a corner's coordinates, a sample
inline constexpr int tile_side = 64;    // samples
inline constexpr int block_side = 4;    // texels of a shadow map that have a common highest and lowest

// A corner of a triangle on the grid.
struct alignas(32) Corner {
  std::int32_t x = 0, y = 0;  // 1/256 sample
  float depth = 0;          // larger is nearer: 1 / distance along the camera's axis; in shadow maps m towards the sun
  float pale = 0;           // 1: the colour of the background
  Floats3 normal{};         // world axes
  std::uint32_t color = 0;  // sRGB and opacity, red in the lowest byte
};
static_assert(sizeof(Corner) == 32);

struct Triangle {
  enum Flag : std::uint32_t {
    back = 1,   // seen from behind
    unlit = 2,  // its colour has a meaning
    front = 4,  // nothing hides it
    marker = 8  // it lies on a surface, which does not hide it
  };
  std::uint32_t corners[3] = {};  // in their chunk; clockwise as seen
  std::uint32_t flags = 0;
};

// Triangles in the order in which they are drawn, and by tile. Chunks are made in parallel.
struct TriangleChunk {
  std::vector<Corner> corners;
  std::vector<Triangle> triangles;
  struct InTile {
    std::uint32_t tile, triangle;
  };
  std::vector<InTile> pairs;                 // as they were found
  std::vector<std::uint32_t> first, sorted;  // triangles of tile t: sorted[first[t]] to sorted[first[t + 1]]
};

struct TileGrid {
  int width = 0, height = 0;  // samples
  int columns() const { return (width + tile_side - 1) / tile_side; }
  int rows() const { return (height + tile_side - 1) / tile_side; }
  int tiles() const { return columns() * rows(); }
};

// At most 255 chunks of fewer than 2^24 triangles each.
struct TriangleList {
  TileGrid grid;
  std::vector<TriangleChunk> chunks;
};

// What is nearest to the sun at each texel. Coordinates in it, of a point p: dot(p, x) + x0, in texels; its height is
// dot(p, height), which grows towards the sun, and is the same all over level ground.
struct ShadowMap {
  int size = 0;  // texels a side; a multiple of tile_side
  std::vector<float> heights;
  // Of the 3 x 3 blocks around each block.
  struct Block {
    float high = 0, low = 0;
  };
  std::vector<Block> blocks;
  Floats3 x{}, y{}, height{};  // x and y: 1 / texel size long; height: 1 along the light
  float x0 = 0, y0 = 0;
  float texel_size = 0;  // m
  float softness = 0;    // how far shadows are looked up off the surface, in texels
  int reach = 1;         // texels to each side that soften the edge of a shadow

  int block_columns() const { return size / block_side; }
};

// An infinite plane with a grid of lines. All functions of a sample's place are a + b x + c y.
struct GroundPlane {
  Floats3 depth{};   // as in Corner; no ground where it is not positive
  Floats3 u{}, v{};  // place on the plane times depth, m; u and v are known but for a multiple of 10 m
  Floats3 normal{};
  Floats3 sunny{}, shady{};  // sRGB, 0 to 1
};

// All that a canvas shows.
struct Scene {
  TileGrid grid;    // of samples
  int samples = 1;  // of a pixel, a side
  Floats3 eye{};
  Floats3 ray{}, ray_x{},
      ray_y{};  // the way to the sample (x, y) is ray + x ray_x + y ray_y, 1 m along the camera's axis
  Floats3 sun{};
  Floats3 horizon{}, zenith{};  // sRGB, 0 to 1
  bool sky = false;             // whether any sample looks above the horizon
  bool lines = true;            // on grounds
  float fade = 0;               // m from the eye, where grounds begin to fade
  std::vector<GroundPlane> grounds;
  const ShadowMap* shadows = nullptr;
  const TriangleList* bodies = nullptr;  // opaque
  const TriangleList* over = nullptr;    // blended over them, in their order
  // By pixel, rows from the top: red, green, blue in the lower bytes; and what is nearest, as in Corner.
  std::uint32_t* colors = nullptr;
  float* depths = nullptr;  // null: nobody asks
};

enum class TilePart {
  all,
  behind,  // all but what is blended over it, which has to wait for water
  over     // only that, over what is in `colors` and `depths`
};
void draw_tile(const Scene& scene, int tile, TilePart part);
// Of the shadow map's heights and blocks (not yet those around them).
void draw_shadow_tile(const TriangleList& casters, int tile, ShadowMap& map);

struct WaterLayers;
enum class WaterStep;
// The same with each instruction set: raster_avx2.cpp and so on.
struct RasterKernels {
  void (*draw_tile)(const Scene&, int tile, TilePart);
  void (*draw_shadow_tile)(const TriangleList&, int tile, ShadowMap&);
  void (*work_on_water)(WaterLayers&, WaterStep, int y0, int y1);  // see water_layers.h
  void (*smooth_row)(const std::uint32_t* colors, const std::int32_t* luma, int width, int height, int y,
                     std::int32_t* found, std::uint8_t* pixels);  // see smooth_edges.h
};
extern const RasterKernels raster_sse2, raster_avx2, raster_avx512;

}  // namespace volvox::view::picture
