// The time to draw a frame off-screen: bench_picture [MODULES [FRAMES [KEY=VALUE ...]]], where the keys are settings of
// the engine (samples=0, grid=false, width=640). Draws remod3d/scatter at 1280 x 720 as for a video, everything
// included: capture of the world and drawing.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/cli/cli.h"
#include "volvox/sim/run.h"
#include "volvox/view/render_engine.h"

using namespace volvox;

int main(int argc, char** argv) {
  sim::RunOptions options;
  options.experiment = "remod3d/scatter";
  options.settings["modules"] = argc > 1 ? argv[1] : "1000";
  const int frames = argc > 2 ? std::max(1, std::atoi(argv[2])) : 30;
  sim::Library library = cli::standard_library();
  Log log;
  auto run = sim::Run::prepare(options, library, log);
  if (!run.ok()) return fmt::print(stderr, "{}\n", run.error().text()), 2;
  const view::RenderEngineRegistry engines = view::built_in_render_engines();
  const auto factory = engines.find("picture");
  if (!factory.ok()) return fmt::print(stderr, "{}\n", factory.error().text()), 2;
  std::map<std::string, std::string> settings;
  for (int i = 3; i < argc; ++i) {
    const std::string pair = argv[i];
    settings[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
  }
  auto engine = (**factory)(Parameters(settings, "bench"));
  if (!engine.ok()) return fmt::print(stderr, "{}\n", engine.error().text()), 2;

  const sim::Simulation& simulation = (*run)->simulation();
  const auto tree = std::make_shared<const view::RenderTree>(view::RenderTree::of(simulation.world()));
  if (auto loaded = (*engine)->load(tree); !loaded.ok()) return fmt::print(stderr, "{}\n", loaded.error().text()), 2;
  view::Frame frame;
  std::vector<double> total, captured;
  std::clock_t cpu = 0;
  for (int i = -2; i < frames; ++i) {  // the first two make meshes and fill caches
    if (const StepStatus status = (*run)->step(); !status.ok()) return fmt::print(stderr, "{}\n", status.text()), 1;
    const std::clock_t cpu_begin = std::clock();
    const double begin = platform::monotonic_seconds();
    view::capture(simulation, frame);
    const double taken = platform::monotonic_seconds();
    const auto camera = view::Camera::framing(view::bounds(*tree, frame, true), {0.62, -0.74, 0.52}, 16.0 / 9);
    if (auto shown = (*engine)->show(frame); !shown.ok()) return 1;
    const auto image = (*engine)->image(camera);
    if (!image.ok()) return fmt::print(stderr, "{}\n", image.error().text()), 1;
    if (i < 0) continue;
    cpu += std::clock() - cpu_begin;
    captured.push_back(taken - begin);
    total.push_back(platform::monotonic_seconds() - begin);
  }
  std::sort(total.begin(), total.end());
  std::sort(captured.begin(), captured.end());
  fmt::print(
      "{} modules, {} frames of 1280 x 720 by {}: {:.1f} ms per frame (median), {:.1f} ms at best, {:.1f} ms of "
      "processor time; capture of the world {:.3f} ms\n",
      options.settings["modules"], frames, (*engine)->info().device, 1e3 * total[total.size() / 2], 1e3 * total.front(),
      1e3 * real(cpu) / CLOCKS_PER_SEC / frames, 1e3 * captured[captured.size() / 2]);
}
