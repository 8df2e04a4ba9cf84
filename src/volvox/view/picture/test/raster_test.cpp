#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "volvox/base/isa.h"
#include "volvox/base/random.h"
#include "volvox/view/picture/shadow_map.h"
#include "volvox/view/picture/triangles.h"
#include "volvox/view/picture/water_layers.h"

namespace volvox::view::picture {
namespace {

constexpr int width = 150, height = 100;  // not whole tiles

// Corners at places in samples, at a depth of 1 / w.
struct Flat {
  double x, y, w = 1;
};

struct Canvas {
  Scene scene;
  TriangleList bodies, over;
  ShadowMaker shadows{64, false};
  std::vector<std::uint32_t> colors;
  std::vector<float> depths;

  Canvas() {
    scene.grid = {width, height};
    scene.ray = {0, 0, -1}, scene.sun = {0, 0, 1};
    scene.horizon = {1, 1, 1};
    const Viewpoint view(Camera{}, width, height);
    shadows.make({}, {}, view, nullptr);
    colors.resize(width * height), depths.resize(width * height);
  }

  // Triangles of one colour each, which is what the samples then show.
  void draw(const std::vector<std::array<Flat, 3>>& triangles, const RasterKernels* kernels = nullptr,
            ThreadPool* threads = nullptr, std::uint32_t flags = Triangle::unlit) {
    draw(mesh_of(triangles), kernels, threads, flags);
  }

  // With all that is seen close by, so that the map is asked.
  void stand_in_the_shadow_map() {
    const ShadowMap& map = shadows.map();
    scene.ray = {0, 0, -1e-3f};
    const auto add = [&](const Floats3& along, float from) {
      const float by =
          (to_float(map.size / 2) - from) / (along[0] * along[0] + along[1] * along[1] + along[2] * along[2]);
      for (int k = 0; k < 3; ++k) scene.eye[k] += along[k] * by;
    };
    add(map.x, map.x0), add(map.y, map.y0);
  }

  static Mesh mesh_of(const std::vector<std::array<Flat, 3>>& triangles) {
    Mesh mesh;
    for (std::size_t i = 0; i < triangles.size(); ++i)
      for (const Flat& corner : triangles[i]) {
        mesh.indices.push_back(narrow<std::uint32_t>(mesh.vertices.size()));
        mesh.vertices.push_back({{to_float(corner.x * corner.w), to_float(corner.y * corner.w), to_float(corner.w)},
                                 {0, 0, 1},
                                 color_of(i)});
      }
    return mesh;
  }

  void draw(const Mesh& mesh, const RasterKernels* kernels, ThreadPool* threads, std::uint32_t flags) {
    const Instance here{{0, 0, 0, 1}, {0, 0, 0, 1}};
    const Drawn drawn{&mesh, std::span(&here, 1), false, flags};
    Projection projection;  // x and y are samples times w
    projection.columns = {{{subsamples, 0, 0, 0}, {0, subsamples, 0, 0}, {0, 0, 0, 1}, {0, 0, 0, 0}}};
    projection.near = 0.01f;
    make_triangles(std::span(&drawn, 1), projection, scene.grid, threads, bodies);
    make_triangles({}, projection, scene.grid, threads, over);
    scene.bodies = &bodies, scene.over = &over, scene.shadows = &shadows.map();
    scene.colors = colors.data(), scene.depths = depths.data();
    parallel_for(threads, scene.grid.tiles(), 1, [&](std::size_t tile) {
      if (kernels != nullptr) kernels->draw_tile(scene, narrow<int>(tile), TilePart::all);
      else draw_tile(scene, narrow<int>(tile), TilePart::all);
    });
  }

  static Rgba color_of(std::size_t number) {
    return {narrow<std::uint8_t>(number % 250), narrow<std::uint8_t>(number / 250), 7, 255};
  }
  // -1: none, for the horizon is white.
  int shown(int x, int y) const {
    const std::uint32_t color = colors[y * width + x];
    return color == 0xffffff ? -1 : narrow<int>((color & 255) + 250 * (color >> 8 & 255));
  }
};

// On the grid of corners.
double snapped(double x) { return std::round(x * subsamples) / subsamples; }

// Whether a sample's middle lies in a triangle, and not on an edge that belongs to another; whole numbers.
bool covers(std::array<Flat, 3> t, int x, int y) {
  const auto grid = [](double v) { return static_cast<std::int64_t>(std::llround(v * subsamples)); };
  const auto area = [&](const Flat& a, const Flat& b, std::int64_t px, std::int64_t py) {
    return (grid(b.x) - grid(a.x)) * (py - grid(a.y)) - (grid(b.y) - grid(a.y)) * (px - grid(a.x));
  };
  if (area(t[0], t[1], grid(t[2].x), grid(t[2].y)) < 0) std::swap(t[1], t[2]);
  for (int i = 0; i < 3; ++i) {
    const Flat &a = t[i], &b = t[(i + 1) % 3];
    const std::int64_t here = area(a, b, x * subsamples + subsamples / 2, y * subsamples + subsamples / 2);
    const bool owned = grid(b.y) < grid(a.y) || (grid(b.y) == grid(a.y) && grid(b.x) > grid(a.x));
    if (here < 0 || (here == 0 && !owned)) return false;
  }
  return true;
}

TEST(Raster, CoversExactlyTheSamplesWhoseMiddlesLieInATriangle) {
  RandomStream random(7, 1, "triangles");
  Canvas canvas;
  for (int round = 0; round < 300; ++round) {
    std::array<Flat, 3> triangle;
    const double size = round % 3 == 0 ? 3 : round % 3 == 1 ? 40 : 4000;  // tiny, middle, far beyond the canvas
    const double cx = random.uniform(0, width), cy = random.uniform(0, height);
    for (Flat& corner : triangle) {
      corner = {snapped(cx + random.uniform(-size, size)), snapped(cy + random.uniform(-size, size))};
      // Corners and edges that go through the middles of samples.
      if (round % 2 == 0) corner = {std::floor(corner.x) + 0.5, std::floor(corner.y) + 0.5};
    }
    canvas.draw({triangle});
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        ASSERT_EQ(canvas.shown(x, y), covers(triangle, x, y) ? 0 : -1) << round << ": " << x << " " << y;
  }
}

TEST(Raster, LeavesNoCracksAndCoversNothingTwice) {
  RandomStream random(11, 1, "net");
  // A net with corners anywhere: each sample belongs to exactly one of its triangles.
  constexpr int across = 12, down = 9;
  std::vector<Flat> corners;
  for (int j = 0; j <= down; ++j)
    for (int i = 0; i <= across; ++i) {
      const bool edge = i == 0 || j == 0 || i == across || j == down;
      const double x = (i - 1) * 15.0 + (edge ? 0 : random.uniform(-7, 7)),
                   y = (j - 1) * 15.0 + (edge ? 0 : random.uniform(-7, 7));
      corners.push_back({snapped(x), snapped(y)});
    }
  std::vector<std::array<Flat, 3>> net;
  for (int j = 0; j < down; ++j)
    for (int i = 0; i < across; ++i) {
      const int a = j * (across + 1) + i, b = a + 1, c = a + across + 1, d = c + 1;
      net.push_back({corners[a], corners[b], corners[d]});
      net.push_back({corners[d], corners[c], corners[a]});
    }
  Canvas canvas;
  std::vector<int> times(width * height, 0);
  for (const auto& triangle : net) {
    canvas.draw({triangle});
    for (int i = 0; i < width * height; ++i) times[i] += canvas.shown(i % width, i / width) >= 0;
  }
  for (int i = 0; i < width * height; ++i) ASSERT_EQ(times[i], 1) << i % width << " " << i / width;
}

TEST(Raster, ShowsTheNearestAndOfEquallyNearTheLast) {
  const std::array<Flat, 3> far{{{10, 10, 4}, {90, 10, 4}, {10, 90, 4}}}, near{{{10, 10, 2}, {60, 10, 2}, {10, 60, 2}}};
  // One that leans through both: as near as `near` at x = 30, as far as `far` at x = 50 (1/w is linear over the
  // canvas).
  const auto leaning = [](double x) { return 1 / (0.5 - (x - 30) * 0.25 / 20); };
  const std::array<Flat, 3> leans{{{12, 12, leaning(12)}, {55, 12, leaning(55)}, {12, 55, leaning(12)}}};
  Canvas canvas;
  for (const auto& order : {std::array{0, 1, 2}, {2, 1, 0}, {1, 2, 0}}) {
    const std::array<std::array<Flat, 3>, 3> all{far, near, leans};
    canvas.draw({all[order[0]], all[order[1]], all[order[2]]});
    const auto which = [&](int x, int y) { return order[canvas.shown(x, y)]; };
    EXPECT_EQ(which(80, 12), 0);
    EXPECT_EQ(which(40, 15), 1);
    EXPECT_EQ(which(25, 15), 2);
    EXPECT_NEAR(canvas.depths[15 * width + 40], 0.5, 1e-6);
  }
  canvas.draw({near, near});
  EXPECT_EQ(canvas.shown(20, 20), 1);
}

// What comes too near or goes far beyond the canvas is cut.
TEST(Raster, CutsWhatReachesBehindTheEye) {
  Canvas canvas;
  canvas.draw({{{{75, 50, 1}, {2000, 50, -1}, {75, 900, 0.5}}}});
  EXPECT_EQ(canvas.shown(70, 60), 0);  // towards a corner behind the eye, an edge goes the other way
  EXPECT_EQ(canvas.shown(80, 60), -1);
  canvas.draw({{{{0, 0, -1}, {10, 0, -1}, {0, 10, -2}}}});
  for (int i = 0; i < width * height; ++i) ASSERT_EQ(canvas.shown(i % width, i / width), -1);
  canvas.draw({{{{-1e7, -1e7}, {1e7, -1e7}, {75, 1e7}}}});
  for (int i = 0; i < width * height; ++i) ASSERT_EQ(canvas.shown(i % width, i / width), 0);
}

std::vector<std::array<Flat, 3>> heap(int count) {
  RandomStream random(5, 1, "heap");
  std::vector<std::array<Flat, 3>> triangles(count);
  for (auto& triangle : triangles) {
    const double cx = random.uniform(0, width), cy = random.uniform(0, height), w = random.uniform(1, 5);
    for (Flat& corner : triangle)
      corner = {cx + random.uniform(-12, 12), cy + random.uniform(-12, 12), w + random.uniform(-0.3, 0.3)};
  }
  return triangles;
}

void expect_same(const Canvas& one, const Canvas& other, const char* how) {
  EXPECT_EQ(one.colors, other.colors) << how;
  EXPECT_EQ(0, std::memcmp(one.depths.data(), other.depths.data(), 4 * one.depths.size())) << how;
}

template <class Work>
void for_each_set(const Work& work) {
  const std::pair<Isa, const RasterKernels*> sets[] = {
      {Isa::sse2, &raster_sse2}, {Isa::avx2, &raster_avx2}, {Isa::avx512, &raster_avx512}};
  for (const auto& [set, kernels] : sets)
    if (set <= best_isa()) work(set, kernels);
}

TEST(Raster, HasTheSameBitsAtAnyNumberOfThreadsAndWithAnyInstructionSet) {
  Canvas one;
  one.draw(heap(5000), nullptr, nullptr, 0);  // lit
  std::map<std::uint32_t, int> colors;
  for (const std::uint32_t color : one.colors) ++colors[color];
  EXPECT_GT(colors.size(), 100u);
  for (const int count : {2, 3}) {
    ThreadPool threads(count);
    Canvas other;
    other.draw(heap(5000), nullptr, &threads, 0);
    expect_same(one, other, "threads");
  }
  for_each_set([&](Isa set, const RasterKernels* kernels) {
    Canvas other;
    other.draw(heap(5000), kernels, nullptr, 0);
    expect_same(one, other, name(set));
  });
}

// Beside tiny triangles so far away that nothing can be said between their corners: they keep their one colour.
TEST(Raster, ATriangleOfThreeColoursChangesNoBitOfItsNeighbours) {
  std::vector<std::array<Flat, 3>> triangles = heap(60);
  RandomStream random(6, 1, "far");
  for (int i = 0; i < 20000; ++i) {
    const double x = random.uniform(0, width), y = random.uniform(0, height), far = 5e33;
    std::array<Flat, 3>& triangle = triangles.emplace_back();
    for (Flat& corner : triangle) corner = {x + random.uniform(-0.4, 0.4), y + random.uniform(-0.4, 0.4), far};
  }
  Mesh mesh = Canvas::mesh_of(triangles);
  for (Vertex& vertex : mesh.vertices) vertex.color.b = vertex.color.g = 201;
  for (std::size_t i = 0; i < 180; i += 3) mesh.vertices[i].color = {250, 0, 0, 255};
  Canvas one;
  one.draw(mesh, &raster_sse2, nullptr, Triangle::unlit);
  for_each_set([&](Isa set, const RasterKernels* kernels) {
    Canvas other;
    other.draw(mesh, kernels, nullptr, Triangle::unlit);
    expect_same(one, other, name(set));
  });
}

TEST(Raster, TheFrontOfADropAroundTheEyeIsBeforeIt) {
  WaterLayers water;
  water.width = water.height = water.to_x = water.to_y = 16, water.stride = 16 + 2 * WaterLayers::margin;
  water.drops = {{.x = 8, .y = 8, .radius = 6, .middle = 0.01f, .half = 0.02f, .color = {}}};
  water.near = 0.005f;
  for (auto* layer : {&water.front[0], &water.front[1], &water.back[0], &water.back[1], &water.red, &water.green,
                      &water.blue, &water.weight})
    layer->resize(water.at(0, 16) + WaterLayers::margin);
  water.first.resize(16), water.last.resize(16);
  work_on_water(water, WaterStep::splat, 0, 16);
  EXPECT_EQ(water.front[0][water.at(8, 8)], water.near);
  EXPECT_NEAR(water.back[0][water.at(8, 8)], 0.03, 1e-3);
}

TEST(Raster, NormalsThatAreNoNumbersReadNothingOutside) {
  Mesh mesh = Canvas::mesh_of(heap(5000));
  for (std::size_t i = 0; i < mesh.vertices.size(); i += 30)
    for (std::size_t k = 0; k < 3; ++k) mesh.vertices[i + k].normal[0] = std::nanf("");
  for_each_set([&](Isa set, const RasterKernels* kernels) {
    Canvas canvas;
    canvas.stand_in_the_shadow_map();
    canvas.draw(mesh, kernels, nullptr, 0);
    EXPECT_TRUE(std::ranges::all_of(canvas.depths, [](float depth) { return std::isfinite(depth); })) << name(set);
  });
}

}  // namespace
}  // namespace volvox::view::picture
