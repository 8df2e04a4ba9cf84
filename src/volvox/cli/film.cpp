#include "volvox/cli/film.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#ifdef VOLVOX_HAS_PICTURE
#include "volvox/view/picture/image_file.h"
#include "volvox/view/picture/video.h"
#endif

namespace volvox::cli {

#ifdef VOLVOX_HAS_PICTURE

Result<Studio> Studio::create(const ViewArguments& arguments, const world::World& world, double detail) {
  const auto size = view::picture::parse_size(arguments.size);
  if (!size.ok()) return size.error();
  const view::RenderEngineRegistry engines = view::built_in_render_engines();
  const auto factory = engines.find(arguments.renderer);
  if (!factory.ok()) return factory.error();
  const Parameters parameters({{"width", std::to_string(size->width)}, {"height", std::to_string(size->height)}, {"detail", fmt::format("{}", detail)},
                               {"docks", arguments.docks}, {"rays", arguments.rays ? "true" : "false"}},
                              "render engine '" + arguments.renderer + "'");
  auto engine = (**factory)(parameters);
  if (!engine.ok()) return engine.error();
  Studio studio;
  studio.engine = std::move(*engine);
  studio.scene = std::make_shared<const view::Scene>(view::Scene::of(world));
  studio.width = size->width, studio.height = size->height;
  studio.aspect = static_cast<double>(size->width) / size->height;
  if (auto loaded = studio.engine->load(studio.scene); !loaded.ok()) return loaded.error();
  return studio;
}

model::Bounds Studio::subject(const view::Frame& frame) const {
  const model::Bounds modules = view::bounds(*scene, frame, true);
  return modules.empty() ? view::bounds(*scene, frame, false) : modules;
}

Result<std::unique_ptr<Film>> Film::create(const std::string& file, const ViewArguments& arguments, const sim::Simulation& simulation) {
  std::unique_ptr<Film> film(new Film);
  film->arguments_ = arguments;
  auto studio = Studio::create(arguments, simulation.world(), 1);
  if (!studio.ok()) return studio.error();
  film->studio_ = std::move(*studio);
  auto writer = view::picture::VideoWriter::create(file, film->studio_.width, film->studio_.height, frames_per_second);
  if (!writer.ok()) return writer.error();
  film->writer_ = std::move(*writer);
  film->begin_ = simulation.now().seconds();
  if (auto first = film->take(simulation); !first.ok()) return first.error();
  return film;
}

Film::~Film() = default;

// Turns to where the modules are as a calm hand would, and steps back when they spread.
Result<view::Camera> Film::follow(const sim::Simulation& simulation) {
  auto wanted = view::parse_camera(arguments_.camera, studio_.subject(frame_), studio_.aspect, simulation.world(), frame_);
  const bool by_direction = arguments_.camera.find_first_of(",.") == std::string::npos;
  if (!wanted.ok() || taken_ == 0 || !by_direction) return wanted;
  constexpr double part = 1 - 0.96;  // a frame: two thirds of the way in nearly a second
  const Vec3 out = normalized(wanted->eye - wanted->target);
  const double before = length(camera_.eye - camera_.target), now = length(wanted->eye - wanted->target);
  const double distance = before + part * std::max(now - before, 0.0);
  const Vec3 target = camera_.target + (wanted->target - camera_.target) * part;
  view::Camera camera = *wanted;
  camera.target = target;
  camera.eye = target + out * distance;
  return camera;
}

Result<void> Film::take(const sim::Simulation& simulation) {
  view::capture(simulation, frame_);
  if (arguments_.rays) view::capture_rays(simulation.minds(), frame_);
  if (auto shown = studio_.engine->show(frame_); !shown.ok()) return shown;
  auto camera = follow(simulation);
  if (!camera.ok()) return camera.error();
  camera_ = *camera;
  auto image = studio_.engine->image(camera_);
  if (!image.ok()) return image.error();
  ++taken_;
  return writer_->write(*image);
}

void Film::observe(const sim::Simulation& simulation) {
  // A tick longer than a frame is shown for several.
  while (status_.ok() && simulation.now().seconds() - begin_ >= static_cast<double>(taken_) / frames_per_second - 1e-9) status_ = take(simulation);
}

Result<void> Film::finish() {
  if (!status_.ok()) return status_;
  return writer_->finish();
}

#else

namespace {
Error no_pictures() { return Error("this build of Volvox makes no pictures and no videos", "install libepoxy-dev and build again"); }
}  // namespace

Result<Studio> Studio::create(const ViewArguments&, const world::World&, double) { return no_pictures(); }
model::Bounds Studio::subject(const view::Frame&) const { return {}; }
Result<std::unique_ptr<Film>> Film::create(const std::string&, const ViewArguments&, const sim::Simulation&) { return no_pictures(); }
Film::~Film() = default;
void Film::observe(const sim::Simulation&) {}
Result<void> Film::finish() { return {}; }

#endif

}  // namespace volvox::cli
