#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "volvox/base/index.h"
#include "volvox/cli/commands.h"
#include "volvox/cli/film.h"
#include "volvox/cli/terminal.h"
#include "volvox/view/picture/image_file.h"

namespace volvox::cli {

namespace {

constexpr double fine = 4;  // a single picture has time for more detail than a video

constexpr double said_for = 0.1;  // s for which a message stays visible

// Runs to a time; true if it was reached. `watch` then holds the traffic shortly before it.
bool run_to(sim::Run& run, double time, record::TrafficWatch& watch) {
  while (run.simulation().now().seconds() < time - 1e-9) {
    if (!run.step().ok()) return false;
    if (run.simulation().now().seconds() < time - said_for) watch.take(run.simulation());
    watch.look(run.simulation());
  }
  return true;
}

}  // namespace

int picture_command(const PictureArguments& arguments, sim::Library& library, Log& log) {
  if (auto good = view::picture::check_image_file(arguments.file); !good.ok()) return complain(good.error());
  const auto options = run_options(arguments.run);
  if (!options.ok()) return complain(options.error());
  auto prepared = sim::Run::prepare(*options, library, log);
  if (!prepared.ok()) return complain(prepared.error());
  sim::Run& run = **prepared;
  const double begin = run.simulation().now().seconds(), end = run.report().dt.start_of(run.ticks()).seconds();
  if (!(arguments.at >= begin && arguments.at <= end + 1e-9))
    return complain(Error(
        fmt::format("there is no picture at {} s: the run goes from {:.6g} to {:.6g} s", arguments.at, begin, end),
        "give --at a time within it, or a longer --duration"));
  ViewArguments view = arguments.run.view;
  view.threads = arguments.run.threads;
  auto studio = Studio::create(view, render_engines(library), run, fine);
  if (!studio.ok()) return complain(studio.error());

  std::vector<view::Frame> frames(arguments.strobe);
  model::Bounds box;
  record::TrafficWatch watch;
  if (arguments.run.view.messages) record::TrafficWatch::prepare(run.simulation());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const double part = frames.size() == 1 ? 1 : real(i) / real(frames.size() - 1);
    if (!run_to(run, begin + (arguments.at - begin) * part, watch)) {
      print_error(fmt::format("the run failed: {}", run.report().failure));
      return run_failed;
    }
    studio->capture(run, frames[i]);
    box.add(studio->subject(frames[i]));
  }
  view::Frame& last = frames.back();
  if (arguments.run.view.rays) view::capture_rays(run.simulation().minds(), last);
  if (arguments.run.view.messages) {
    last.traffic = watch.take(run.simulation());
    std::erase_if(last.traffic.rings,
                  [](const record::Traffic::Ring& ring) { return ring.age > said_for; });  // ticks may be long
  }
  const auto camera = view::parse_camera(arguments.run.view.camera.empty() ? run.camera() : arguments.run.view.camera,
                                         box, studio->aspect, run.simulation().world(), last);
  if (!camera.ok()) return complain(camera.error());
  if (auto ready = studio->use_renderer_of(last.time.seconds()); !ready.ok()) return complain(ready.error());
  if (auto shown = studio->engine->show(last); !shown.ok()) return complain(shown.error());
  const auto image = studio->engine->image(*camera, std::span(frames).first(frames.size() - 1));
  if (!image.ok()) return complain(image.error());
  if (auto written = view::picture::write_image(*image, arguments.file); !written.ok())
    return complain(written.error());
  if (!arguments.run.quiet)
    fmt::print("{}  {} at {:.3f} s, {} x {}, drawn by {}\n", arguments.file, run.report().experiment,
               last.time.seconds(), image->width, image->height, studio->engine->info().device);
  return done;
}

}  // namespace volvox::cli
