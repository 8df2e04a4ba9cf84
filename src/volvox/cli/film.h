// Pictures and videos of a run.
// SI units. Only reads the run, from its thread: a run has the same state hash with and without a film. What it has
// read is drawn and written by another thread.
#pragma once

#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "volvox/cli/commands.h"
#include "volvox/sim/cloud.h"
#include "volvox/view/render_engine.h"

namespace volvox::view::picture {
class VideoWriter;
}

namespace volvox::cli {

// Change to this render engine at a simulated time, s.
struct RendererChange {
  double from = 0;
  std::string name;
};
// Parses "picture", or "picture,fog@2.5": another engine from 2.5 s on. Every name must be registered.
Result<std::vector<RendererChange>> parse_renderers(const std::string& text, const view::RenderEngineRegistry& engines);

// A render engine with the tree of the world. It can be replaced by another, by name, during the run. `detail`: see
// view::picture::PictureSettings.
struct Studio {
  static Result<Studio> create(const ViewArguments& arguments, const view::RenderEngineRegistry& engines,
                               const sim::Run& run, double detail);

  std::vector<RendererChange> renderers;  // in the order of their times; the first from the start
  // Changes to the engine of this time, if it is another; the new engine gets the tree.
  Result<void> use_renderer_of(double time);

  view::RenderEngineRegistry engines{"render engine"};
  std::map<std::string, std::string> settings;
  std::optional<int> threads;
  std::size_t current = 0;  // of renderers
  std::unique_ptr<view::RenderEngine> engine;
  std::shared_ptr<const view::RenderTree> tree;
  double aspect = 1;
  int width = 0, height = 0;

  // A value of the run's cloud, and where it is cut. `percent`: of its extent.
  std::optional<std::size_t> color_by;
  std::optional<sim::CloudCut> cut;
  bool percent = false;
  void capture(const sim::Run& run, view::Frame& frame) const;

  // Around the modules or, if there are none, around everything.
  model::Bounds subject(const view::Frame& frame) const;
};

// Films a run: 30 frames per second of simulated time. A camera given by a direction follows the modules; a camera
// given by points does not move.
class Film {
 public:
  static Result<std::unique_ptr<Film>> create(const std::string& file, const ViewArguments& arguments,
                                              const view::RenderEngineRegistry& engines, sim::Run& run);
  ~Film();

  // Takes a frame if one is due. The first failure ends the film, not the run.
  void observe();
  const Result<void>& status() const { return status_; }
  Result<void> finish();

 private:
  Film() = default;
  Result<void> take();
  Result<void> await_picture();
  Result<view::Camera> follow();

  static constexpr int frames_per_second = 30;

  const sim::Run* run_ = nullptr;
  Studio studio_;
  ViewArguments arguments_;
  std::unique_ptr<view::picture::VideoWriter> writer_;
  view::Frame frame_;
  record::TrafficWatch traffic_;
  view::Camera camera_;
  std::int64_t taken_ = 0;
  double begin_ = 0;
  Result<void> status_;
  std::future<Result<void>> picture_;  // drawn and written while the next ticks are simulated; ends before what it uses
};

}  // namespace volvox::cli
