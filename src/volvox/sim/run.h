// One run of one experiment, from its name to its results.
#pragma once

#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "volvox/sim/experiment.h"
#include "volvox/sim/load_peaks.h"
#include "volvox/sim/pacing.h"
#include "volvox/sim/recorder.h"

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

// A sample of what a run looked like at one moment, for metrics.csv.
struct TimePoint {
  double time = 0;
  Vec3 centre_of_mass;
  double kinetic_energy = 0;
  double lift = 0;
  std::size_t organisms = 0, connections = 0;

  std::array<double, 7> values() const {  // in the order of format::metric_names
    return {centre_of_mass.x,
            centre_of_mass.y,
            centre_of_mass.z,
            kinetic_energy,
            lift,
            static_cast<double>(organisms),
            static_cast<double>(connections)};
  }
};

struct RunReport {
  std::string experiment, engine, engine_settings, file;
  std::uint64_t seed = 0;
  TickLength dt;
  int threads = 1;
  std::size_t modules = 0;
  std::int64_t ticks = 0;
  double sim_time = 0, wall_time = 0, load_time = 0;
  double sim_time_here = 0;     // what was simulated in this process: less, after a restore
  std::string status = "done";  // or "failed", or "stopped"
  std::string failure;
  std::uint64_t state_hash = 0;
  Metrics metrics;
  PhaseTimes phases;
  std::vector<std::string> warnings;  // all that was said of it before and while it ran
  std::vector<TimePoint> history;
  std::size_t memory_bytes = 0;  // of world and minds, the engine's own apart
  std::map<std::string, std::string> settings;
  std::int64_t inputs = 0;             // that came from outside while it ran
  bool clock_decided = false;          // a plugin that took too long was disabled: the next run may be another
  std::optional<PacingReport> pacing;  // of a run that kept real time

  double real_time_factor() const { return wall_time > 0 ? sim_time_here / wall_time : 0; }
  std::string json() const;  // the contract of `volvox run --json`, one object
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

  // What was asked for beside the run itself could not be had: it counts as failed. Tells so in what
  // announce() or write() left in the folder, as far as that can be written.
  void fail(const std::filesystem::path& folder, const std::string& why);
  // Leaves a summary.json that says "running", so that a folder of a run that was killed tells so.
  Result<void> announce(const std::filesystem::path& folder) const;
  // Somebody looks on in every publish phase, and may take long: that is not the run's time.
  void add_onlooker(std::function<void(const Simulation&)> look);
  // Records the run into this file from here on; before the first step.
  Result<void> record(const std::filesystem::path& file);
  Recorder* recorder() { return recorder_.get(); }  // null: it is not recorded

  Simulation& simulation() { return *simulation_; }
  const RunOptions& options() const { return options_; }
  std::string camera() const { return experiment_->camera(); }  // from where it is best looked at
  const std::vector<model::ParameterDesc>& parameters() const { return parameters_; }
  // Ends the experiment; the report is complete afterwards. finish() calls it.
  void end();
  const RunReport& report() const { return report_; }

  // Writes summary.json, metrics.csv and report.html into the folder, which is made if need be, and the
  // snapshot if one was asked for.
  Result<void> write(const std::filesystem::path& folder);

 private:
  explicit Run(Log& log);
  Result<void> load(const RunOptions& options, const Library& library);
  Result<void> restore(const std::string& text, const std::string& file);
  Result<void> save(const std::filesystem::path& file);
  Result<void> write_summary(const std::filesystem::path& folder) const;
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
  std::string restored_;  // the snapshot that the run began with, for its recording
  std::unique_ptr<Experiment> experiment_;
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<Recorder> recorder_;
  std::int64_t ticks_ = 0;
  double wall_begin_ = 0, sim_begin_ = 0;
  double onlooking_ = 0;  // s, of the wall time
  std::int64_t sample_every_ = 1;
  Vec3 start_centre_;
  LoadPeaks loads_;
};

}  // namespace volvox::sim
