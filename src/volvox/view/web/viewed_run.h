// Shows a run in the viewer: steps it when a tick is due, publishes frames, and passes the inputs of people
// to the input phase. The run itself does not depend on it. All functions belong to one thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>

#include "volvox/sim/run.h"
#include "volvox/view/web/cloud_sender.h"
#include "volvox/view/web/playback.h"
#include "volvox/view/web/viewer.h"

namespace volvox::view {

class ViewedRun {
 public:
  // Makes a run again whenever a person resets it, with other settings.
  using Prepare = std::function<Result<std::unique_ptr<sim::Run>>(const std::map<std::string, std::string>& settings)>;
  using AtEnd = std::function<void(sim::Run&)>;  // the run is over: write its results

  ViewedRun(Viewer& viewer, std::unique_ptr<sim::Run> run, Prepare prepare, AtEnd at_end, bool recorded = false);
  // A short run would be over before a browser is there, so it begins once somebody watches or, if nobody comes, after
  // `patience`; or only when somebody presses play.
  enum class Start { watched, paused };
  // Until `stop`. A run that has come to its end stays to be looked at.
  void loop(const std::atomic<bool>& stop, Start start, std::chrono::milliseconds patience);
  // One turn of that loop: handles commands, runs a tick if one is due, and shows the new state.
  void turn();
  void set_speed(double factor) { playback_.set_speed(factor, run_->simulation().now().seconds()); }
  sim::Run& run() { return *run_; }
  // Set if a person has reset the run and it could not be made again. Then there is no run any more.
  const std::optional<Error>& lost() const { return lost_; }

 private:
  void introduce();
  void handle(const Command& command);
  void reset(const std::map<std::string, std::string>& settings, WebServer::ClientId client);
  void step();
  void end();
  void show(bool all);
  void show_cloud(Playback::Clock::time_point now);
  void tell_item(WebServer::ClientId client, std::uint32_t item);
  void tell_state();
  void tell_watched();
  void tell_metrics();

  Viewer& viewer_;
  std::unique_ptr<sim::Run> run_;
  std::optional<Error> lost_;
  Prepare prepare_;
  AtEnd at_end_;
  Playback playback_;
  bool recorded_, ended_ = false, rays_ = false;
  std::map<WebServer::ClientId, std::string> watched_;  // which module each client looks at
  std::map<WebServer::ClientId, std::uint32_t> items_;  // or which item of the cloud
  CloudSender cloud_;                                   // tells them of the cloud
  std::optional<std::size_t> colored_by_;               // a value of the cloud's programs
  bool cloud_late_ = false;                             // a change of it could not be told yet
  double metrics_told_ = -1;   // s: samples up to this time; not their number, because the history is thinned out
  double second_sample_ = -1;  // s: its time; it changes when the history is thinned out
  Frame frame_;
  record::TrafficWatch traffic_;
  Playback::Clock::time_point last_frame_{}, last_details_{};
  std::int64_t shown_tick_ = -1;
};

}  // namespace volvox::view
