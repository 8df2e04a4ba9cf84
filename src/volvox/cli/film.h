// Pictures and videos of a run.
#pragma once

#include <memory>
#include <string>

#include "volvox/cli/commands.h"
#include "volvox/view/render_engine.h"

namespace volvox::view::picture {
class VideoWriter;
}

namespace volvox::cli {

// From a time on (s, simulated), this render engine.
struct RendererChange {
  double from = 0;
  std::string name;
};
// "picture", or "picture,fog@2.5": another one from 2.5 s on. Every name must be there.
Result<std::vector<RendererChange>> parse_renderers(const std::string& text, const view::RenderEngineRegistry& engines);

// A render engine that makes images, with the scene of the world in it; it can be exchanged for
// another by name while the run goes on. `detail`: see view::picture::PictureSettings.
struct Studio {
  static Result<Studio> create(const ViewArguments& arguments, const view::RenderEngineRegistry& engines,
                               const world::World& world, double detail);

  std::vector<RendererChange> renderers;  // in the order of their times; the first from the start
  // The one whose time it is; it gets the scene when it takes over.
  Result<void> use_renderer_of(double time);

  view::RenderEngineRegistry engines{"render engine"};
  Parameters settings;
  std::size_t current = 0;  // of renderers
  std::unique_ptr<view::RenderEngine> engine;
  std::shared_ptr<const view::Scene> scene;
  double aspect = 1;
  int width = 0, height = 0;

  // Around the modules or, where there are none, around all.
  model::Bounds subject(const view::Frame& frame) const;
};

// Films a run: 30 frames a second of simulated time. A camera that was given by a direction follows
// the modules; one that was given by points stays.
class Film {
 public:
  static Result<std::unique_ptr<Film>> create(const std::string& file, const ViewArguments& arguments,
                                              const view::RenderEngineRegistry& engines, sim::Simulation& simulation);
  ~Film();

  // Takes a frame if it is time. The first failure ends the film, not the run.
  void observe(const sim::Simulation& simulation);
  Result<void> finish();

 private:
  Film() = default;
  Result<void> take(const sim::Simulation& simulation);
  Result<view::Camera> follow(const sim::Simulation& simulation);

  static constexpr int frames_per_second = 30;

  Studio studio_;
  ViewArguments arguments_;
  std::unique_ptr<view::picture::VideoWriter> writer_;
  view::Frame frame_;
  record::TrafficWatch traffic_;
  view::Camera camera_;
  std::int64_t taken_ = 0;
  double begin_ = 0;
  Result<void> status_;
};

}  // namespace volvox::cli
