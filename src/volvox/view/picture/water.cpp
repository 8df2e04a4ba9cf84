#include "volvox/view/picture/water.h"

namespace volvox::view::picture {
namespace {

constexpr double drop_radius = 0.7;  // of the size of a drop: neighbours overlap and leave no gaps
constexpr int band = 8;              // rows that a thread takes at a time

}  // namespace

void Water::gather(const sim::CloudLook& look, std::span<const sim::CloudItem> items, const Viewpoint& view) {
  layers_.drops.clear();
  const double radius = drop_radius * look.drop_size;
  for (const sim::CloudItem& item : items.first(std::min<std::size_t>(items.size(), look.drops))) {
    const Vec3 at = to_vec(item.position) - view.target;
    if (item.shown <= sim::CloudItem::covered || !view.sees(at, radius)) continue;
    const Vec3 from = at - view.eye;
    const double middle = dot(from, view.forward);
    if (middle <= view.near) continue;
    const double scale = view.pixels_per_tangent / middle;
    layers_.drops.push_back({to_float(layers_.width / 2.0 + dot(from, view.right) * scale),
                             to_float(layers_.height / 2.0 - dot(from, view.up) * scale), to_float(radius * scale),
                             to_float(middle), to_float(radius),
                             to_floats(Vec3{item.color[0] / 255.0, item.color[1] / 255.0, item.color[2] / 255.0})});
  }
}

void Water::draw(const sim::CloudLook& look, std::span<const sim::CloudItem> items, const Viewpoint& view,
                 const Scene& scene, bool fine, ThreadPool* threads) {
  WaterLayers& water = layers_;
  water.width = scene.grid.width / scene.samples, water.height = scene.grid.height / scene.samples;
  water.stride = water.width + 2 * WaterLayers::margin;
  gather(look, items, view);
  if (water.drops.empty()) return;
  const std::size_t size = water.at(-WaterLayers::margin, water.height);
  for (auto* layer : {&water.front[0], &water.front[1], &water.back[0], &water.back[1], &water.red, &water.green,
                      &water.blue, &water.weight})
    layer->resize(size + WaterLayers::margin);
  water.first.resize(water.height), water.last.resize(water.height);
  const std::size_t pixels = std::size_t{1} * water.width * water.height;
  behind_.resize(pixels), walls_.resize(pixels);
  const auto bands = [&](const auto& work) {
    parallel_for(threads, (water.height + band - 1) / band, 1, [&](std::size_t b) {
      const int y0 = narrow<int>(b) * band;
      work(y0, std::min(y0 + band, water.height));
    });
  };
  bands([&](int y0, int y1) {
    std::copy(scene.colors + y0 * water.width, scene.colors + y1 * water.width, behind_.begin() + y0 * water.width);
    std::copy(scene.depths + y0 * water.width, scene.depths + y1 * water.width, walls_.begin() + y0 * water.width);
  });

  const float samples = to_float(scene.samples);
  water.eye = scene.eye, water.ray = scene.ray;
  for (int k = 0; k < 3; ++k) water.ray_x[k] = scene.ray_x[k] * samples, water.ray_y[k] = scene.ray_y[k] * samples;
  water.right = to_floats(view.right), water.up = to_floats(view.up);
  water.pixels_x = to_float(0.125 / view.tan_x * water.width),
  water.pixels_y = to_float(0.125 / view.tan_y * water.height);
  water.sun = scene.sun, water.horizon = scene.horizon, water.zenith = scene.zenith;
  water.color = to_floats(Vec3{look.fluid_color[0] / 255.0, look.fluid_color[1] / 255.0, look.fluid_color[2] / 255.0});
  water.drop = to_float(look.drop_size);
  water.near = to_float(view.near);
  water.pixels_per_tangent = to_float(view.pixels_per_tangent);
  water.most = fine ? 40 : 16;
  water.behind = behind_.data(), water.walls = walls_.data();
  water.colors = scene.colors, water.depths = scene.depths;

  const int room = WaterLayers::margin - 16;
  water.from_x = water.width, water.to_x = 0, water.from_y = water.height, water.to_y = 0;
  for (const Drop& drop : water.drops) {
    const auto place = [](float x) { return truncated(clamp(x, -1e6f, 1e6f)); };
    water.from_x = std::min(water.from_x, place(drop.x - drop.radius) - room);
    water.to_x = std::max(water.to_x, place(drop.x + drop.radius) + room);
    water.from_y = std::min(water.from_y, place(drop.y - drop.radius) - room);
    water.to_y = std::max(water.to_y, place(drop.y + drop.radius) + room);
  }
  water.from_x = std::max(water.from_x, -room), water.to_x = std::min(water.to_x, water.width + room);

  const auto step = [&](WaterStep which) { bands([&](int y0, int y1) { work_on_water(water, which, y0, y1); }); };
  step(WaterStep::splat);
  step(WaterStep::dye);
  for (int pass = 0; pass < (fine ? 3 : 2); ++pass) {
    step(WaterStep::smooth_rows);
    step(WaterStep::smooth_columns);
  }
  step(WaterStep::finish);
}

}  // namespace volvox::view::picture
