// One run of one experiment, from its name to its results. The Run owns the experiment, the simulation and the
// extensions; the log must outlive it. All functions are to be called from one thread; only `stop` may be set by
// another.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "volvox/sim/cloud.h"
#include "volvox/sim/experiment.h"
#include "volvox/sim/load_peaks.h"
#include "volvox/sim/metrics_file.h"
#include "volvox/sim/origin.h"
#include "volvox/sim/run_report.h"

namespace volvox::sim {

struct RunOptions {
  std::string experiment;                       // a name or a file
  std::string engine;                           // empty: that of the world file, or the default engine
  std::optional<double> duration;               // s; none: that of the world file
  std::optional<TickLength> dt;                 // likewise
  std::optional<double> max_substep;            // s, likewise
  std::optional<physics::Precision> precision;  // none: as the engine likes
  std::uint64_t seed = 1;
  int threads = 1;
  std::map<std::string, std::string> settings;
  std::map<std::string, std::string> behaviors;  // by the names that the world uses: another behaviour in its place
  std::vector<std::string> plugins;              // in addition to those that the world file names
  std::optional<double> isolate;                 // s for one call: behaviours of plugins run in their own processes
  double isolate_megabytes = 4096;               // of memory, for each of these processes
  bool replay = false;                           // replays a recording: extensions must not use the outside
  std::optional<double> real_time;               // simulated s per s of wall time; none: as fast as possible
  std::optional<std::filesystem::path> save_to;  // writes a snapshot after the last tick
  std::optional<double> save_every;              // and one every so many simulated s; each replaces the one before
  std::optional<std::filesystem::path> restore_from;  // begins with this snapshot
  std::optional<std::string> restore_bytes;           // likewise, given as the content of the file
  bool accept_changes = false;  // restores also a snapshot of other files or settings, where its state fits
  // For many runs in one process: an experiment that the caller makes, instead of one that is found by its name, and
  // models that are read once for all of them.
  std::function<std::unique_ptr<Experiment>()> make{};
  std::shared_ptr<model::ModelLibrary> models{};
};

// The progress of a run, for a progress bar. Reported about ten times per second of wall time.
struct Progress {
  std::int64_t tick = 0, ticks = 0;
  double sim_time = 0, wall_time = 0;  // s
};

class Run {
 public:
  // Reads the experiment, builds the world and starts the minds. An error means bad input.
  static Result<std::unique_ptr<Run>> prepare(const RunOptions& options, const Library& library, Log& log);

  // Runs to the end, or to the first tick that fails (report().status says which).
  // `stop`, if given, is read between ticks: when it is true, the run ends with the status "stopped".
  void finish(const std::function<void(const Progress&)>& progress = {}, const std::atomic<bool>* stop = nullptr);
  StepStatus step();  // a single tick, instead of finish()
  // In two halves: see Simulation. A failed begin_step() is the end of the tick.
  StepStatus begin_step();
  StepStatus end_step(StepStatus moved, double seconds);
  void stop();  // sets the status "stopped"; to be called before end()
  std::int64_t ticks() const { return ticks_; }

  // Marks the run as failed because something else that was requested (a film, a recording) failed. Also updates the
  // summary.json that announce() or write() left in the folder, if it can be written.
  void fail(const std::filesystem::path& folder, const std::string& why);
  // Writes a summary.json with the status "running", so that the folder of a killed run shows that it did not end, and
  // begins metrics.csv, which grows from then on.
  Result<void> announce(const std::filesystem::path& folder);
  // Calls an observer in every publish phase. Its time is not counted as wall time of the run.
  void add_onlooker(std::function<void(const Simulation&)> look);
  // Calls an observer with every sample, right after it was taken.
  void add_sample_observer(std::function<void(const TimePoint&)> take) { sample_observers_.push_back(std::move(take)); }
  const std::string& restored() const {
    return restored_;
  }  // the content of the snapshot that it began with; empty: none

  // The whole state between two ticks, as the file that --save writes, and back to it. restore() takes a snapshot of
  // this run or of another one of the same options; samples and metrics then go on from there. What is refused changes
  // nothing.
  Result<std::string> snapshot();
  Result<void> restore(std::string_view snapshot);

  Simulation& simulation() { return *simulation_; }
  const Simulation& simulation() const { return *simulation_; }
  const RunOptions& options() const { return options_; }
  std::string camera() const { return experiment_->camera(); }  // the default camera
  // What the experiment simulates beside the world, or the particles of the world; null: nothing.
  const Cloud* cloud() const { return cloud_; }
  const std::vector<model::ParameterDesc>& parameters() const { return parameters_; }
  // Ends the experiment and completes the report. finish() calls it.
  void end();
  const RunReport& report() const { return report_; }

  // Writes summary.json, metrics.csv and the experiment's own files into the folder (created if necessary), and the
  // snapshot if one was requested. What cannot be written does not keep the rest from being written; the first error is
  // returned.
  Result<void> write(const std::filesystem::path& folder);

 private:
  void add_module_metrics();
  StepStatus stepped(StepStatus status);
  explicit Run(Log& log);
  Result<void> load(const RunOptions& options, const Library& library);
  Result<std::shared_ptr<const model::WorldModel>> make_world(const Located& located);
  Result<void> make_simulation(const std::shared_ptr<const model::WorldModel>& world);
  void describe(const model::WorldModel& world);
  void warn_of_worlds_without_life(const model::WorldModel& world);
  Result<void> restore_at_start();
  Result<void> restore(std::string_view text, const std::string& file);
  Result<void> restore_simulation(const std::vector<std::byte>& snapshot, const Origin& then,
                                  std::vector<std::string>& not_carried);
  void forget_samples_after(double time);
  Origin origin() const;
  Result<void> save(const std::filesystem::path& file);
  void archive(Archive& ar, std::vector<std::byte>& simulation);
  void save_on_the_way();
  void sample();
  Result<void> load_plugins(const model::WorldModel& world);
  Result<void> begin_hooks();
  void finish_paced(const std::function<void(const Progress&)>& progress, const std::atomic<bool>* stop);

  // The order matters: members are destroyed in reverse order of declaration.
  RunReport report_;
  Log log_;          // forwards to the given log, and keeps the warnings for the report
  Library library_;  // a copy of the given one, extended by the experiment and the plugins
  mind::Extensions extensions_;
  RunOptions options_;
  std::vector<model::ParameterDesc> parameters_;
  std::string restored_;
  StepStatus begun_;  // a failure of Experiment::begin() is the first tick's
  std::unique_ptr<Experiment> experiment_;
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<Cloud> particles_;  // those of the world; null: it has none
  const Cloud* cloud_ = nullptr;
  std::vector<std::function<void(const TimePoint&)>> sample_observers_;
  std::int64_t ticks_ = 0;
  double wall_begin_ = 0, sim_begin_ = 0;
  double onlooking_ = 0;  // s of wall time, in observers
  std::int64_t sample_every_ = 1;
  std::optional<MetricsFile> metrics_file_;
  std::filesystem::path metrics_folder_;
  TimePoint last_sample_;
  std::int64_t samples_ = 0, keep_every_ = 1;  // samples taken; the history keeps every keep_every_-th
  std::int64_t save_every_ = 0;                // ticks; 0: only at the end
  bool save_failed_ = false;
  Vec3 start_centre_;
  LoadPeaks loads_;
};

}  // namespace volvox::sim
