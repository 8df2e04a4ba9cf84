#include "world_pictures.h"

#include <fmt/format.h>

#include <limits>

#include "arrays.h"
#include "volvox/base/math.h"
#include "volvox/exchange/particle_sight.h"
#include "volvox/exchange/sight.h"
#include "volvox/plugin/plugins.h"
#include "volvox/view/camera.h"

namespace volvox::python {

namespace {

void cast_depths(const view::Camera& camera, const world::World& world, std::size_t columns, std::size_t rows,
                 double range, std::vector<float>& depths) {
  const Vec3 ahead = normalized(camera.target - camera.eye), across = cross(ahead, normalized(camera.up)),
             right = length(across) > 1e-9 ? normalized(across) : Vec3{1, 0, 0},  // straight down: as pictures have it
      up = cross(right, ahead);
  const double half = camera.field_of_view / 2;
  const double tangent = volvox::sin(half) / volvox::cos(half) / double(rows);  // of half a pixel
  std::vector<exchange::Ray> rays;
  std::vector<double> along;  // the cosine between a ray and the axis
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column) {
      const double x = (2 * double(column) + 1 - double(columns)) * tangent;
      const double y = (double(rows) - 2 * double(row) - 1) * tangent;
      const Vec3 direction = normalized(ahead + right * x + up * y);
      along.push_back(dot(direction, ahead));
      rays.push_back({camera.eye, direction, range / along.back()});
    }
  std::vector<exchange::RayHit> hits(rays.size());
  exchange::Sight sight;
  sight.update(world);
  sight.cast(rays, hits);
  exchange::cast_at_particles(world, rays, hits);
  for (std::size_t i = 0; i < hits.size(); ++i)
    depths[i] =
        hits[i].hit() ? static_cast<float>(hits[i].distance * along[i]) : std::numeric_limits<float>::infinity();
}

}  // namespace

py::object WorldHandle::picture(const std::string& camera, int width, int height, const std::string& docks) {
  const Use use(*this, "picture");
  Result<view::Image> image = [&]() -> Result<view::Image> {
    const py::gil_scoped_release release;
    cli::ViewArguments arguments;
    arguments.size = fmt::format("{}x{}", width, height);
    arguments.docks = docks;
    const std::string wanted = arguments.size + " " + docks;
    if (!pictures_ || pictures_->made_for != wanted) {
      pictures_.reset();
      auto studio = cli::Studio::create(arguments, cli::render_engines(standard_library()), *run_, 1);
      if (!studio.ok()) return studio.error();
      pictures_.reset(new Pictures{std::move(*studio), wanted});
    }
    cli::Studio& studio = pictures_->studio;
    view::Frame frame;
    view::capture(*run_, frame);
    const auto where = view::parse_camera(camera.empty() ? run_->camera() : camera, studio.subject(frame),
                                          studio.aspect, run_->simulation().world(), frame);
    if (!where.ok()) return where.error();
    if (auto shown = studio.engine->show(frame); !shown.ok()) return shown.error();
    return studio.engine->image(*where);
  }();
  if (!image.ok()) throw Failure(Kind::input, image.error());
  const std::size_t rows = image->height, columns = image->width;
  return array_of(std::move(image->pixels), {rows, columns, 3});
}

py::object WorldHandle::depth(const std::string& camera, int width, int height, double range) {
  const Use use(*this, "depth");
  constexpr int most = 8192;
  if (width < 1 || height < 1 || width > most || height > most)
    throw Failure(Kind::input, fmt::format("a picture of {} x {} pixels is not possible", width, height),
                  fmt::format("give 1 to {} for both", most));
  if (!(range > 0 && range <= 1e6))
    throw Failure(Kind::input, fmt::format("a range of {} m is not possible", range), "give m, up to 1e6");
  const std::size_t columns = static_cast<std::size_t>(width), rows = static_cast<std::size_t>(height);
  std::vector<float> depths(columns * rows);
  const Result<void> seen = [&]() -> Result<void> {
    const py::gil_scoped_release release;
    const world::World& world = run_->simulation().world();
    view::Frame frame;
    view::capture(*run_, frame);
    const view::RenderTree tree = view::RenderTree::of(*run_);
    model::Bounds box = view::bounds(tree, frame, true);
    if (box.empty()) box = view::bounds(tree, frame, false);
    const double aspect = double(width) / height;
    const auto where = view::parse_camera(camera.empty() ? run_->camera() : camera, box, aspect, world, frame);
    if (!where.ok()) return where.error();
    cast_depths(*where, world, columns, rows, range, depths);
    return {};
  }();
  if (!seen.ok()) throw Failure(Kind::input, seen.error());
  return array_of(std::move(depths), {rows, columns});
}

}  // namespace volvox::python
