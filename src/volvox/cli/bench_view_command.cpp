#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>

#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/clock.h"
#include "volvox/cli/bench_view.h"
#include "volvox/cli/film.h"
#include "volvox/cli/progress.h"
#include "volvox/cli/terminal.h"
#include "volvox/report/table.h"

namespace volvox::cli {
namespace {

struct Scene {
  std::string name, experiment;
  bool sized = false;              // it has --modules of them
  std::vector<std::string> set{};  // KEY=VALUE
};
const std::vector<Scene> figure_1 = {{"1a complex structure", "remod3d/complex_structure"},
                                     {"1b disconnected SuperBots", "remod3d/scatter", true},
                                     {"1c snake", "remod3d/snake", true},
                                     {"1d manipulator", "remod3d/manipulator"},
                                     {"1e rolling track", "remod3d/rolling_track"},
                                     {"1f eight shape", "remod3d/eight_shape"},
                                     {"1g terrain", "remod3d/terrain"},
                                     {"1h wheelbot", "remod3d/wheelbot"}};

struct Drawn {
  std::string scene, experiment, device;
  std::size_t modules = 0;
  int frames = 0;
  double wall = 0, processor = 0;  // s, of all frames
  double simulate = 0, draw = 0;   // s of the clock a frame, medians
  double per_second() const { return frames / wall; }
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// Catoms are modules, too, but stand in the cloud of the run.
std::size_t modules_of(const sim::Run& run, const view::RenderTree& tree, const view::Frame& frame) {
  std::size_t modules = run.report().modules;
  if (tree.cloud && tree.cloud->look.noun == "catom")
    for (const sim::CloudItem& item : frame.cloud) modules += item.shown != sim::CloudItem::gone;
  return modules;
}

// Each frame is a tick of the run and a picture of it in memory, as a window would show it. It is drawn while the next
// tick is simulated, as a film is.
Result<Drawn> measure(const Scene& scene, const BenchViewArguments& arguments, sim::Library& library, Log& log) {
  constexpr int warm_up = 5;  // frames: meshes are made, contacts found
  RunArguments run_arguments;
  run_arguments.experiment = scene.experiment;
  run_arguments.dt = arguments.dt;
  run_arguments.duration = 1e4;
  run_arguments.threads = run_arguments.view.threads = arguments.threads;
  run_arguments.view.size = arguments.size;
  run_arguments.set = scene.set;
  if (scene.sized) run_arguments.set.push_back(fmt::format("modules={}", arguments.modules));
  auto options = run_options(run_arguments);
  if (!options.ok()) return options.error();
  auto prepared = sim::Run::prepare(*options, library, log);
  if (!prepared.ok()) return prepared.error();
  sim::Run& run = **prepared;
  auto studio = Studio::create(run_arguments.view, render_engines(library), run, 1);
  if (!studio.ok()) return studio.error();
  if (auto ready = studio->use_renderer_of(0); !ready.ok()) return ready.error();
  view::Frame frame;
  studio->capture(run, frame);
  const auto camera =
      view::parse_camera(run.camera(), studio->subject(frame), studio->aspect, run.simulation().world(), frame);
  if (!camera.ok()) return camera.error();

  Drawn m{scene.name, scene.experiment, studio->engine->info().device, modules_of(run, *studio->tree, frame),
          arguments.frames};
  std::vector<double> simulate, draw;
  double begin = 0, processor = 0;
  struct Picture {
    Result<view::Image> image;
    double took = 0;  // s
  };
  std::future<Picture> drawn;
  const auto await = [&]() -> Result<void> {
    if (!drawn.valid()) return {};
    const Picture picture = drawn.get();
    draw.push_back(picture.took);
    return picture.image.ok() ? Result<void>() : picture.image.error();
  };
  for (int i = -warm_up; i < arguments.frames; ++i) {
    if (i == 0) {
      if (auto last = await(); !last.ok()) return last.error();
      simulate.clear(), draw.clear();
      begin = platform::monotonic_seconds(), processor = platform::process_cpu_seconds();
    }
    const double before = platform::monotonic_seconds();
    if (!run.step().ok()) return Error(run.report().failure, "");
    simulate.push_back(platform::monotonic_seconds() - before);
    studio->capture(run, frame);
    if (auto last = await(); !last.ok()) return last.error();
    if (auto shown = studio->engine->show(frame); !shown.ok()) return shown.error();
    drawn = std::async(std::launch::async, [&] {
      const double from = platform::monotonic_seconds();
      auto image = studio->engine->image(*camera, {});
      return Picture{std::move(image), platform::monotonic_seconds() - from};
    });
  }
  if (auto last = await(); !last.ok()) return last.error();
  m.wall = platform::monotonic_seconds() - begin;
  m.processor = platform::process_cpu_seconds() - processor;
  m.simulate = median(std::move(simulate));
  m.draw = median(std::move(draw));
  return m;
}

void print(const std::vector<Drawn>& all, const BenchViewArguments& arguments) {
  if (arguments.json) {
    nlohmann::ordered_json scenes = nlohmann::ordered_json::array();
    for (const Drawn& m : all)
      scenes.push_back({{"scene", m.scene},
                        {"experiment", m.experiment},
                        {"modules", m.modules},
                        {"frames", m.frames},
                        {"frames_per_second", m.per_second()},
                        {"processor_s_per_frame", m.processor / m.frames},
                        {"simulate_ms", 1e3 * m.simulate},
                        {"draw_ms", 1e3 * m.draw},
                        {"device", m.device}});
    fmt::print("{}\n", to_json_text(nlohmann::ordered_json{{"size", arguments.size},
                                                           {"dt", arguments.dt},
                                                           {"threads", arguments.threads.value_or(1)},
                                                           {"scenes", scenes}},
                                    2));
    return;
  }
  report::Rows rows = {{"scene", "modules", "frames/s", "simulate, ms", "draw, ms", "processor, ms"}};
  for (const Drawn& m : all)
    rows.push_back({m.scene, std::to_string(m.modules), report::number(m.per_second(), 3),
                    report::number(1e3 * m.simulate, 3), report::number(1e3 * m.draw, 3),
                    report::number(1e3 * m.processor / m.frames, 3)});
  fmt::print("{}  {} frames of {}, ticks of {} s, drawn by {}\n", report::text_table(rows), arguments.frames,
             arguments.size, arguments.dt, all.empty() ? "" : all.front().device);
}

}  // namespace

Result<double> drawn_per_second(const std::string& experiment, const std::map<std::string, std::string>& set,
                                sim::Library& library, Log& log) {
  Scene scene{experiment, experiment};
  for (const auto& [key, value] : set) scene.set.push_back(key + "=" + value);
  const auto measured = measure(scene, {}, library, log);
  if (!measured.ok()) return measured.error();
  return measured->per_second();
}

int bench_view_command(const BenchViewArguments& arguments, sim::Library& library, Log& log) {
  std::vector<Scene> scenes = figure_1;
  if (!arguments.scenes.empty()) {
    scenes.clear();
    for (const std::string& name : arguments.scenes) {
      const auto known =
          std::find_if(figure_1.begin(), figure_1.end(), [&](const Scene& s) { return s.experiment == name; });
      scenes.push_back(known != figure_1.end() ? *known : Scene{name, name});
    }
  }
  std::vector<Drawn> all;
  Progress progress("", !is_terminal(2));
  for (const Scene& scene : scenes) {
    progress.begin(scene.name);
    auto measured = measure(scene, arguments, library, log);
    progress.clear();
    if (!measured.ok()) return complain(measured.error());
    all.push_back(std::move(*measured));
  }
  print(all, arguments);
  return done;
}

}  // namespace volvox::cli
