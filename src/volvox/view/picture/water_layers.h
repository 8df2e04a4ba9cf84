// What the loops of a fluid's surface work on (water_kernel.h): a picture, and beside it by pixel the distances of the
// surface's front and back along the camera's axis, and what dyes it. Distances in m; far away: nothing is there.
// Threads may work on bands of rows at the same time, one step after another; the same bits with any number of them.
#pragma once

#include <vector>

#include "volvox/view/picture/raster.h"

namespace volvox::view::picture {

// A drop as it lands in the picture.
struct Drop {
  float x = 0, y = 0, radius = 0;  // pixels
  float middle = 0, half = 0;      // m: its distance, its radius
  Floats3 color{};                 // sRGB, 0 to 1
};

struct WaterLayers {
  static constexpr float nothing = 1e9f;
  static constexpr int margin = 64;  // pixels to each side of a row, for loops that look beyond its ends

  int width = 0, height = 0, stride = 0;
  std::vector<Drop> drops;
  // Two of each: a step reads one and writes the other.
  std::vector<float> front[2], back[2];
  std::vector<float> red, green, blue, weight;
  std::vector<int> first, last;  // of each row: the pixels with water, and beyond
  // Around all drops, with as much room as smoothing looks beyond: only here the layers are cleared and read.
  int from_x = 0, to_x = 0, from_y = 0, to_y = 0;

  Floats3 eye{}, ray{}, ray_x{}, ray_y{};  // as in Scene, by pixel
  Floats3 right{}, up{};                   // unit vectors
  float pixels_x = 0, pixels_y = 0;        // by which light is bent sideways, at most: see finish_water()
  Floats3 sun{}, horizon{}, zenith{}, color{};
  float drop = 0, pixels_per_tangent = 0;  // its size, m
  float near = 1e-3f;                      // m: no front is nearer to the eye
  int most = 16;                           // pixels to a side that smoothing looks at
  const std::uint32_t* behind = nullptr;
  const float* walls = nullptr;  // depths of what is behind, as in Scene
  std::uint32_t* colors = nullptr;
  float* depths = nullptr;

  std::size_t at(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(stride) + static_cast<std::size_t>(x + margin);
  }
};

enum class WaterStep { splat, dye, smooth_rows, smooth_columns, finish };
// Rows y0 to y1 - 1. smooth_rows reads layers 0 and writes 1, smooth_columns the other way round.
void work_on_water(WaterLayers& water, WaterStep step, int y0, int y1);

}  // namespace volvox::view::picture
