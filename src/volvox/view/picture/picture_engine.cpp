#include "volvox/view/picture/picture_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/isa.h"
#include "volvox/view/picture/instances.h"
#include "volvox/view/picture/lines.h"
#include "volvox/view/picture/overlay.h"
#include "volvox/view/picture/raster.h"
#include "volvox/view/picture/shadow_map.h"
#include "volvox/view/picture/sheets.h"
#include "volvox/view/picture/smooth_edges.h"
#include "volvox/view/picture/triangles.h"
#include "volvox/view/picture/water.h"

namespace volvox::view::picture {
namespace {

constexpr Floats3 horizon{0.915f, 0.928f, 0.945f}, zenith{0.80f, 0.85f, 0.905f};
constexpr double oldest_paleness = 0.72;  // of a stroboscopic sequence
constexpr float mark_opacity = 0.4f;      // of the markers between two modules, which are seen through them
constexpr float mark_nearer = 2.5f;       // times their radius: the two modules do not hide them, but others do

// The same lighting as that of bodies: see lit() in light_kernel.h.
Floats3 ground_on_screen(Rgba color, const Vec3& normal, double direct) {
  Vec3 screen;
  const double part[3] = {color.r / 255.0, color.g / 255.0, color.b / 255.0};
  for (int k = 0; k < 3; ++k) {
    const double bounce = bounce_color[k], sky = bounce + (sky_color[k] - bounce) * (0.5 + 0.5 * normal.z);
    const double glow = 0.62 * std::pow(part[k], 2.2) * (sun_color[k] * direct + sky * 0.62);
    screen[k] = std::pow(clamp(1.22 * glow * (1 + glow * 0.16) / (1 + glow * 0.72), 0, 1), 1 / 2.2);
  }
  return to_floats(screen);
}

// The samples of a pixel lie on a square grid. A power of two a side: a tile holds whole pixels.
int samples_a_side(int samples) {
  int side = 1;
  while (side * side < samples) side *= 2;
  return side;
}

int threads_for(int wanted) {
  return wanted > 0 ? wanted
                    : std::clamp(narrow<int>(std::thread::hardware_concurrency()), 1, PictureSettings::most_threads);
}

class PictureEngine final : public RenderEngine {
 public:
  explicit PictureEngine(const PictureSettings& settings)
      : settings_(settings),
        threads_(threads_for(settings.threads)),
        samples_(samples_a_side(settings.samples)),
        // A picture may take longer than a video frame: a larger map, because a texel is large if bodies stand far
        // apart.
        shadows_((std::max(settings.width, settings.height) > 1600 ? 2048 : 1024) * (settings.detail > 1 ? 2 : 1),
                 settings.detail > 1),
        colors_(std::size_t(settings.width) * std::size_t(settings.height)) {
    info_ = {"picture", "pictures and video, drawn by the processor",
             fmt::format("the processor ({}, {} thread{})", name(isa()), threads_.threads(),
                         threads_.threads() == 1 ? "" : "s"),
             true};
  }

  const RenderEngineInfo& info() const override { return info_; }

  Result<void> load(std::shared_ptr<const RenderTree> tree) override {
    tree_ = std::move(tree);
    frame_ = {};
    return {};
  }

  Result<void> show(const Frame& frame) override {
    if (auto good = check(frame); !good.ok()) return good;
    frame_ = frame;
    return {};
  }

  Result<Image> image(const Camera& camera, std::span<const Frame> earlier) override {
    if (tree_ == nullptr || frame_.links.size() != tree_->links())
      return Error("there is nothing to draw yet", "load a render tree and show a frame first");
    if (!finite(camera.eye) || !finite(camera.target) || !finite(camera.up) || !finite(camera.sun) ||
        length(camera.sun) == 0 || !(camera.field_of_view > 0 && camera.field_of_view < pi))
      return Error("the camera has no valid position or field of view",
                   "give it finite coordinates and a field of view between 0 and 180 degrees");
    for (const Frame& frame : earlier)
      if (auto good = check(frame); !good.ok()) return good.error();
    const Viewpoint view(camera, settings_.width, settings_.height);
    const Instances instances = seen_by(view, earlier);
    draw(view, instances);
    const bool smooth = settings_.samples == 0 || has_water();  // the surface of water has one sample a pixel
    Image image = smooth ? edges_.smoothed(colors_, settings_.width, settings_.height, &threads_)
                         : image_of(colors_, settings_.width, settings_.height);
    if (settings_.scale_bar) draw_scale_bar(image, view.pixels_per_tangent / view.distance);
    return image;
  }

 private:
  bool has_water() const { return tree_->cloud && tree_->cloud->look.drops > 0; }

  Result<void> check(const Frame& frame) const {
    if (tree_ != nullptr && frame.links.size() == tree_->links() && frame.docks.size() == tree_->docks()) return {};
    return Error("the frame does not belong to the loaded render tree", "load the tree of its world first");
  }

  Instances seen_by(const Viewpoint& view, std::span<const Frame> earlier) const {
    Instances instances;
    // Each instant has its own loads: the red of a module must not be taken for one.
    const auto tints_of = [&](const Frame& frame) {
      return settings_.docks == DockMarks::load ? load_tints(*tree_, frame) : std::vector<Rgba>{};
    };
    for (std::size_t i = 0; i < earlier.size(); ++i) {
      const double pale = oldest_paleness * (1 - real(i) / real(earlier.size()));
      const Frame& later = i + 1 < earlier.size() ? earlier[i + 1] : frame_;
      instances.add(*tree_, earlier[i], view, settings_.detail, pale, &later, tints_of(earlier[i]));
      instances.add_cloud(*tree_, earlier[i], view, settings_.detail, pale, &later);
    }
    instances.add(*tree_, frame_, view, settings_.detail, 0, nullptr, tints_of(frame_));
    instances.add_cloud(*tree_, frame_, view, settings_.detail, 0, nullptr);
    if (settings_.docks == DockMarks::state) instances.add_docks(*tree_, frame_, view);
    instances.finish();
    return instances;
  }

  Drawn drawn(const Instances& instances, const Batch& batch) const {
    Drawn made;
    made.mesh = &tree_->meshes[batch.mesh]->levels[batch.level];
    made.instances = std::span(instances.all).subspan(batch.first, batch.count);
    made.one_sided = tree_->meshes[batch.mesh]->closed || batch.marker;
    return made;
  }

  void draw(const Viewpoint& view, const Instances& instances) {
    // Cloth has another form in every frame.
    const Mesh sheets = tree_->cloud ? sheets_of(tree_->cloud->look, frame_.cloud, view) : Mesh{};
    const Instance as_it_is{{0, 0, 0, 1}, {0, 0, 0, 1}};
    const auto whole = [&](const Mesh& mesh, std::uint32_t flags) {
      return Drawn{&mesh, std::span(&as_it_is, 1), false, flags};
    };
    std::vector<Drawn> casters;
    for (const Batch& batch : instances.shadow_batches) casters.push_back(drawn(instances, batch));
    casters.push_back(whole(sheets, 0));
    shadows_.make(casters, instances.casters, view, &threads_);

    std::vector<Drawn> bodies{whole(sheets, 0)}, over;
    for (const Batch& batch : instances.batches) {
      Drawn made = drawn(instances, batch);
      if (batch.marker) made.flags = Triangle::marker;
      if (!batch.translucent && !batch.inside) bodies.push_back(made);
      if (batch.translucent && !batch.inside) over.push_back(made);
    }
    for (const Batch& batch : instances.batches) {
      if (!batch.inside) continue;
      Drawn made = drawn(instances, batch);
      made.flags = Triangle::unlit, made.nearer = mark_nearer, made.opacity = mark_opacity;
      over.push_back(made);
    }
    const Mesh rays = settings_.rays ? mesh_of(ray_ribbons(frame_, view)) : Mesh{};
    over.push_back(whole(rays, Triangle::unlit));
    // In front of all bodies, because senders are often surrounded by others.
    const Mesh messages = settings_.messages ? mesh_of(traffic_ribbons(*tree_, frame_, view)) : Mesh{};
    over.push_back(whole(messages, Triangle::unlit | Triangle::front));

    const TileGrid grid{settings_.width * samples_, settings_.height * samples_};
    const Projection projection = camera_projection(view, grid.width, grid.height);
    make_triangles(bodies, projection, grid, &threads_, bodies_);
    make_triangles(over, projection, grid, &threads_, over_);

    Scene scene = scene_of(view, grid);
    const auto draw_tiles = [&](TilePart part) {
      parallel_for(&threads_, grid.tiles(), 2, [&](std::size_t tile) { draw_tile(scene, narrow<int>(tile), part); });
    };
    if (!has_water()) return draw_tiles(TilePart::all);
    depths_.resize(colors_.size());
    scene.depths = depths_.data();
    draw_tiles(TilePart::behind);
    water_.draw(tree_->cloud->look, frame_.cloud, view, scene, settings_.detail > 1, &threads_);
    draw_tiles(TilePart::over);
  }

  Scene scene_of(const Viewpoint& view, TileGrid grid) {
    Scene scene;
    scene.grid = grid;
    scene.samples = samples_;
    scene.eye = to_floats(view.eye);
    const Vec3 ray = view.forward - view.right * view.tan_x + view.up * view.tan_y,
               ray_x = view.right * (2 * view.tan_x / grid.width), ray_y = view.up * (-2 * view.tan_y / grid.height);
    scene.ray = to_floats(ray), scene.ray_x = to_floats(ray_x), scene.ray_y = to_floats(ray_y);
    scene.sun = to_floats(view.sun);
    scene.horizon = horizon, scene.zenith = zenith;
    for (const double x : {-1.0, 1.0})
      for (const double y : {-1.0, 1.0})
        scene.sky = scene.sky || (view.forward + view.right * (x * view.tan_x) + view.up * (y * view.tan_y)).z > 0;
    scene.lines = settings_.grid;
    scene.fade = to_float(2.2 * view.distance);
    for (const Ground& ground : tree_->grounds) {
      const Vec3 normal = ground.pose.rotation * Vec3{0, 0, 1}, along_u = ground.pose.rotation * Vec3{1, 0, 0},
                 along_v = ground.pose.rotation * Vec3{0, 1, 0};
      const Vec3 from = view.eye - (ground.pose.position - view.target);
      const double height = dot(from, normal);
      if (height <= 0) continue;  // seen from below, a ground is not drawn
      const Vec3 way[] = {ray, ray_x, ray_y};
      const double u = std::fmod(dot(from, along_u), 10), v = std::fmod(dot(from, along_v), 10);
      GroundPlane plane;
      for (int k = 0; k < 3; ++k) {
        const double depth = -dot(way[k], normal) / height;
        plane.depth[k] = to_float(depth);
        plane.u[k] = to_float(u * depth + dot(way[k], along_u));
        plane.v[k] = to_float(v * depth + dot(way[k], along_v));
      }
      plane.normal = to_floats(normal);
      plane.sunny = ground_on_screen(ground.color, normal, std::max(dot(normal, view.sun), 0.0));
      plane.shady = ground_on_screen(ground.color, normal, 0);
      scene.grounds.push_back(plane);
    }
    scene.shadows = &shadows_.map();
    scene.bodies = &bodies_, scene.over = &over_;
    scene.colors = colors_.data();
    return scene;
  }

  PictureSettings settings_;
  RenderEngineInfo info_;
  ThreadPool threads_;
  int samples_ = 1;  // of a pixel, a side
  ShadowMaker shadows_;
  TriangleList bodies_, over_;  // their memory is used again
  std::vector<std::uint32_t> colors_;
  std::vector<float> depths_;  // where there is water
  Water water_;
  EdgeSmoother edges_;

  std::shared_ptr<const RenderTree> tree_;
  Frame frame_;
};

}  // namespace

Result<PictureSettings> PictureSettings::read(const Parameters& parameters) {
  PictureSettings settings;
  settings.width = narrow<int>(parameters.integer("width", settings.width, smallest, largest));
  settings.height = narrow<int>(parameters.integer("height", settings.height, smallest, largest));
  settings.detail = parameters.number("detail", settings.detail, 0.01, 1000);
  settings.samples = narrow<int>(parameters.integer("samples", settings.detail > 1 ? settings.samples : 0, 0, 16));
  settings.threads = narrow<int>(parameters.integer("threads", settings.threads, 0, PictureSettings::most_threads));
  const std::string docks = parameters.text("docks", "state");
  settings.rays = parameters.flag("rays", settings.rays);
  settings.messages = parameters.flag("messages", settings.messages);
  settings.grid = parameters.flag("grid", settings.grid);
  settings.scale_bar = parameters.flag("scale_bar", settings.scale_bar);
  if (auto good = parameters.check(); !good.ok()) return good.error();
  if (docks == "none") settings.docks = DockMarks::hidden;
  else if (docks == "load") settings.docks = DockMarks::load;
  else if (docks != "state")
    return Error(fmt::format("'{}' is not a way to draw docks", docks), "use none, state or load");
  return settings;
}

std::unique_ptr<RenderEngine> make_picture_engine(const PictureSettings& settings) {
  return std::make_unique<PictureEngine>(settings);
}

}  // namespace volvox::view::picture
