#include "volvox/cli/film.h"
#include "volvox/base/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "volvox/view/picture/image_file.h"
#include "volvox/view/picture/picture_engine.h"
#include "volvox/view/picture/video.h"

namespace volvox::cli {

Result<std::vector<RendererChange>> parse_renderers(const std::string& text,
                                                    const view::RenderEngineRegistry& engines) {
  std::vector<RendererChange> changes;
  for (const std::string& part : split_list(text)) {
    const auto at = part.find('@');
    RendererChange change{0, part.substr(0, at)};
    if (const auto known = engines.find(change.name); !known.ok()) return known.error();
    if (at != std::string::npos) {
      const auto time = parse_number(part.substr(at + 1), 0, 1e9);
      if (!time || changes.empty() || *time < changes.back().from)
        return Error(fmt::format("'{}' does not say when each render engine draws", text),
                     "write it as picture,other@2.5: the first from the start, the others in the order of their times");
      change.from = *time;
    } else if (!changes.empty()) {
      return Error(fmt::format("'{}' does not say when '{}' takes over", text, part),
                   fmt::format("write it as {},{}@2.5", changes.front().name, part));
    }
    changes.push_back(std::move(change));
  }
  if (changes.empty()) return Error("no render engine is named", "see: volvox list renderers");
  return changes;
}

namespace {

// By its name, or by what stands before its unit ("speed" of "speed, m/s") where no other value is called so.
std::optional<std::size_t> find_value(const std::vector<std::string>& values, const std::string& wanted) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == wanted) return i;
    if (values[i].substr(0, values[i].find(',')) != wanted) continue;
    if (found) return {};
    found = i;
  }
  return found;
}

// Which value of the cloud colours it, and where it is cut.
Result<void> parse_cloud_options(const ViewArguments& arguments, const sim::Run& run, Studio& studio) {
  if (arguments.color_by.empty() && arguments.cut.empty()) return {};
  if (run.cloud() == nullptr)
    return Error("this run has neither catoms nor particles", "leave out --color-by and --cut, which are for them");
  if (const std::string& wanted = arguments.color_by; !wanted.empty()) {
    const std::vector<std::string> values = run.cloud()->cloud_look().values;
    studio.color_by = find_value(values, wanted);
    if (!studio.color_by)
      return Error(fmt::format("there is no value '{}' to colour by", wanted),
                   values.empty() ? std::string("its program has no numbers: leave out --color-by")
                                  : fmt::format("choose one of: '{}'", fmt::join(values, "', '")));
  }
  if (const std::string& text = arguments.cut; !text.empty()) {
    const std::size_t axis = std::string_view("xyz").find(text[0]);
    studio.percent = text.back() == '%';
    const auto at = text.size() > 2
                        ? parse_number(text.substr(2, text.size() - 2 - (studio.percent ? 1 : 0)), -1e9, 1e9)
                        : std::nullopt;
    if (axis == std::string::npos || text.size() < 3 || text[1] != '=' || !at)
      return Error(fmt::format("'{}' is no cut", text), "write it as x=12.5, in m, or as z=50%");
    studio.cut = sim::CloudCut{narrow<int>(axis), *at};
  }
  return {};
}

}  // namespace

void Studio::capture(const sim::Run& run, view::Frame& frame) const {
  view::capture(run, frame);
  if (color_by) {
    std::vector<float> values;
    run.cloud()->cloud_values(*color_by, values);
    (void)sim::color_by(values, frame.cloud);
  }
  if (!cut) return;
  sim::CloudCut here = *cut;
  if (percent) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (const sim::CloudItem& item : frame.cloud) {
      if (item.shown == sim::CloudItem::gone) continue;
      low = std::min<double>(low, item.position[here.axis]), high = std::max<double>(high, item.position[here.axis]);
    }
    here.at = low + (high - low) * here.at / 100;
  }
  sim::cut_open(here, tree->cloud->look, frame.cloud);
}

Result<Studio> Studio::create(const ViewArguments& arguments, const view::RenderEngineRegistry& engines,
                              const sim::Run& run, double detail) {
  const auto size = view::picture::parse_size(arguments.size);
  if (!size.ok()) return size.error();
  auto renderers = parse_renderers(arguments.renderer, engines);
  if (!renderers.ok()) return renderers.error();
  Studio studio;
  studio.renderers = std::move(*renderers);
  studio.engines = engines;
  if (auto good = parse_cloud_options(arguments, run, studio); !good.ok()) return good.error();
  studio.settings = {{"width", std::to_string(size->width)},
                     {"height", std::to_string(size->height)},
                     {"detail", fmt::format("{}", detail)},
                     {"docks", arguments.docks},
                     {"rays", arguments.rays ? "true" : "false"}};
  if (arguments.messages) studio.settings["messages"] = "true";  // plugins' engines may not know this setting
  studio.threads = arguments.threads;
  studio.tree = std::make_shared<const view::RenderTree>(view::RenderTree::of(run));
  studio.width = size->width, studio.height = size->height;
  studio.aspect = real(size->width) / size->height;
  if (auto ready = studio.use_renderer_of(0); !ready.ok()) return ready.error();
  return studio;
}

Result<void> Studio::use_renderer_of(double time) {
  std::size_t wanted = current;
  while (wanted + 1 < renderers.size() && renderers[wanted + 1].from <= time + 1e-9) ++wanted;
  if (engine && wanted == current) return {};
  const std::string& name = renderers[wanted].name;
  const auto factory = engines.find(name);
  if (!factory.ok()) return factory.error();
  auto own = settings;
  if (threads && name == "picture")  // engines of plugins need not know it
    own["threads"] = std::to_string(std::min(*threads, view::picture::PictureSettings::most_threads));
  auto made = (**factory)(Parameters(std::move(own), "render engine '" + name + "'"));
  if (!made.ok()) return made.error();
  if (auto loaded = (*made)->load(tree); !loaded.ok()) return loaded;
  engine = std::move(*made);  // the old engine is destroyed after the new one is ready
  current = wanted;
  return {};
}

model::Bounds Studio::subject(const view::Frame& frame) const {
  const model::Bounds modules = view::bounds(*tree, frame, true);
  return modules.empty() ? view::bounds(*tree, frame, false) : modules;
}

Result<std::unique_ptr<Film>> Film::create(const std::string& file, const ViewArguments& arguments,
                                           const view::RenderEngineRegistry& engines, sim::Run& run) {
  std::unique_ptr<Film> film(new Film);
  film->run_ = &run;
  film->arguments_ = arguments;
  if (arguments.messages) record::TrafficWatch::prepare(run.simulation());
  auto studio = Studio::create(arguments, engines, run, 1);
  if (!studio.ok()) return studio.error();
  film->studio_ = std::move(*studio);
  auto writer = view::picture::VideoWriter::create(file, film->studio_.width, film->studio_.height, frames_per_second);
  if (!writer.ok()) return writer.error();
  film->writer_ = std::move(*writer);
  film->begin_ = run.simulation().now().seconds();
  if (auto first = film->take(); !first.ok()) return first.error();
  return film;
}

Film::~Film() = default;

// Smoothly follows the modules, and moves back when they spread.
Result<view::Camera> Film::follow() {
  auto wanted = view::parse_camera(arguments_.camera, studio_.subject(frame_), studio_.aspect,
                                   run_->simulation().world(), frame_);
  const bool by_direction = arguments_.camera.find_first_of(",.") == std::string::npos;
  if (!wanted.ok() || taken_ == 0 || !by_direction) return wanted;
  constexpr double part = 1 - 0.96;  // per frame: two thirds of the way in nearly a second
  const Vec3 out = normalized(wanted->eye - wanted->target);
  const double before = length(camera_.eye - camera_.target), now = length(wanted->eye - wanted->target);
  // But fast enough that they stay in the picture: they fill 0.9 of it, and 0.92 * 0.97 is 0.9.
  const double distance = std::max(before + part * std::max(now - before, 0.0), 0.97 * now);
  const Vec3 behind = (camera_.target - wanted->target) * (1 - part);
  const double farthest = 0.08 * std::tan(wanted->field_of_view / 2) * now;
  const Vec3 target = wanted->target + behind * std::min(1.0, farthest / std::max(length(behind), 1e-12));
  view::Camera camera = *wanted;
  camera.target = target;
  camera.eye = target + out * distance;
  return camera;
}

Result<void> Film::take() {
  const sim::Simulation& simulation = run_->simulation();
  studio_.capture(*run_, frame_);
  if (arguments_.rays) view::capture_rays(simulation.minds(), frame_);
  if (arguments_.messages) frame_.traffic = traffic_.take(simulation);
  if (auto last = await_picture(); !last.ok()) return last;
  if (auto changed = studio_.use_renderer_of(simulation.now().seconds()); !changed.ok()) return changed;
  if (auto shown = studio_.engine->show(frame_); !shown.ok()) return shown;
  auto camera = follow();
  if (!camera.ok()) return camera.error();
  camera_ = *camera;
  ++taken_;
  picture_ = std::async(std::launch::async, [this]() -> Result<void> {
    auto image = studio_.engine->image(camera_);
    if (!image.ok()) return image.error();
    return writer_->write(*image);
  });
  return {};
}

Result<void> Film::await_picture() { return picture_.valid() ? picture_.get() : Result<void>(); }

void Film::observe() {
  const sim::Simulation& simulation = run_->simulation();
  if (arguments_.messages) traffic_.look(simulation);
  // A tick longer than a frame gives several frames.
  while (status_.ok() && simulation.now().seconds() - begin_ >= real(taken_) / frames_per_second - 1e-9)
    status_ = take();
}

Result<void> Film::finish() {
  if (auto last = await_picture(); status_.ok()) status_ = last;
  if (!status_.ok()) return status_;
  return writer_->finish();
}

}  // namespace volvox::cli
