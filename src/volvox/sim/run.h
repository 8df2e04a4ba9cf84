// One run of one experiment, from its name to its results.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "volvox/sim/experiment.h"
#include "volvox/sim/load_peaks.h"
#include "volvox/sim/run_report.h"

namespace volvox::sim {

struct RunOptions {
  std::string experiment;             // a name or a file
  std::string engine;                 // empty: the world's own, or the default one
  std::optional<double> duration;     // s; otherwise the world's own
  std::optional<TickLength> dt;       // likewise
  std::optional<double> max_substep;  // s, likewise
  std::uint64_t seed = 1;
  int threads = 1;
  std::map<std::string, std::string> settings;
  std::vector<std::string> plugins;              // further ones, beside those that the world names
  std::optional<double> isolate;                 // behaviours of plugins in processes of their own; s for one call
  bool replay = false;                           // of a recording: extensions touch nothing outside
  std::optional<double> real_time;               // simulated seconds to a second on the wall; none: as fast as it goes
  std::optional<std::filesystem::path> save_to;  // a snapshot of the last tick
  std::optional<std::filesystem::path> restore_from;  // begin where that one ended
  std::optional<std::string> restore_bytes;           // likewise, with the content of that file
};

// How far a run is, for a progress bar. Called about ten times a second of wall time.
struct Progress {
  std::int64_t tick = 0, ticks = 0;
  double sim_time = 0, wall_time = 0;
};

class Run {
 public:
  // Reads the experiment, builds the world and starts the minds. An error is bad input.
  static Result<std::unique_ptr<Run>> prepare(const RunOptions& options, const Library& library, Log& log);

  // Runs to the end, or to the first tick that fails (report().status says which).
  // `stop`, if given, is looked at between ticks: once true, the run ends there, and its status
  // is "stopped".
  void finish(const std::function<void(const Progress&)>& progress = {}, const std::atomic<bool>* stop = nullptr);
  StepStatus step();  // or one tick at a time
  void stop();        // it ends here, on request: before end()
  std::int64_t ticks() const { return ticks_; }

  // What was asked for beside the run itself could not be had: it counts as failed. Tells so in the
  // summary.json that announce() or write() left in the folder, as far as that can be written.
  void fail(const std::filesystem::path& folder, const std::string& why);
  // Leaves a summary.json that says "running", so that a folder of a run that was killed tells so.
  Result<void> announce(const std::filesystem::path& folder) const;
  // Somebody looks on in every publish phase, and may take long: that is not the run's time.
  void add_onlooker(std::function<void(const Simulation&)> look);
  // Somebody wants every sample that goes into the report's history, right after it was taken.
  void add_sample_observer(std::function<void(const TimePoint&)> take) { sample_observers_.push_back(std::move(take)); }
  const std::string& restored() const { return restored_; }  // the snapshot that it began with; empty: none

  Simulation& simulation() { return *simulation_; }
  const Simulation& simulation() const { return *simulation_; }
  const RunOptions& options() const { return options_; }
  std::string camera() const { return experiment_->camera(); }  // from where it is best looked at
  const std::vector<model::ParameterDesc>& parameters() const { return parameters_; }
  // Ends the experiment; the report is complete afterwards. finish() calls it.
  void end();
  const RunReport& report() const { return report_; }

  // Writes summary.json, metrics.csv and the experiment's own files into the folder, which is made if need be, and
  // the snapshot if one was asked for.
  Result<void> write(const std::filesystem::path& folder);

 private:
  explicit Run(Log& log);
  Result<void> load(const RunOptions& options, const Library& library);
  Result<void> restore(const std::string& text, const std::string& file);
  Result<void> save(const std::filesystem::path& file);
  void archive(Archive& ar, std::vector<std::byte>& simulation);
  void sample();
  Result<void> load_plugins(const model::WorldModel& world);
  Result<void> begin_hooks();
  void finish_paced(const std::function<void(const Progress&)>& progress, const std::atomic<bool>* stop);

  // First in, last out: what is declared first is freed last.
  RunReport report_;
  Log log_;          // passes on to the one given, and keeps the warnings for the report
  Library library_;  // the one given, with what the experiment and plugins add
  mind::Extensions extensions_;
  RunOptions options_;
  std::vector<model::ParameterDesc> parameters_;
  std::string restored_;
  std::unique_ptr<Experiment> experiment_;
  std::unique_ptr<Simulation> simulation_;
  std::vector<std::function<void(const TimePoint&)>> sample_observers_;
  std::int64_t ticks_ = 0;
  double wall_begin_ = 0, sim_begin_ = 0;
  double onlooking_ = 0;  // s, of the wall time
  std::int64_t sample_every_ = 1;
  Vec3 start_centre_;
  LoadPeaks loads_;
};

}  // namespace volvox::sim
