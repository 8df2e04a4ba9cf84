// The results of a run, and their files.
// Times in s. A report is a value that owns all it holds. Ticks, simulated time and state hash are the same in every
// whole run of the same options; wall times and memory are not.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/base/math.h"
#include "volvox/base/time.h"
#include "volvox/model/sources.h"
#include "volvox/sim/metrics.h"
#include "volvox/sim/pacing.h"
#include "volvox/sim/phases.h"

namespace volvox::sim {

// For tables: the number nearest to the nanoseconds, which has no more digits than they have. Time::seconds(), which
// the simulation computes with, may be the one next to it (2.2666666660000003).
constexpr double seconds_in_tables(Time time) { return real(time.ns) / 1e9; }

// A sample of the run at one time. SI units.
struct TimePoint {
  double time = 0;
  Vec3 centre_of_mass;
  double kinetic_energy = 0;
  double lift = 0;
  std::size_t organisms = 0, connections = 0;

  // The columns of metrics.csv, after the time.
  static constexpr std::array<const char*, 7> names = {"centre_x_m", "centre_y_m", "centre_z_m", "kinetic_energy_J",
                                                       "lift_m",     "organisms",  "connections"};
  std::array<double, 7> values() const {  // in their order
    return {centre_of_mass.x, centre_of_mass.y, centre_of_mass.z, kinetic_energy, lift,
            real(organisms),  real(connections)};
  }
};

// How a run began that did not begin at its start.
struct Restored {
  std::string file;  // of the snapshot
  std::int64_t tick = 0;
  double time = 0;                         // s
  std::vector<std::string> differences;    // from the run that was saved, as the user accepted them
  std::string engine{};                    // that wrote the snapshot
  std::vector<std::string> not_carried{};  // from that engine to this run's, in words
};

struct RunReport {
  std::string experiment, engine, engine_settings, precision, file;
  std::uint64_t seed = 0;
  TickLength dt;
  int threads = 1;
  std::size_t modules = 0;
  std::int64_t ticks = 0;
  double sim_time = 0, wall_time = 0, load_time = 0;
  double sim_time_here = 0;     // s simulated in this process: less than sim_time after a restore
  std::string status = "done";  // or "failed", or "stopped"
  std::string failure;
  std::uint64_t state_hash = 0;
  Metrics metrics;
  PhaseTimes phases;
  static constexpr std::size_t most_warnings = 1000;  // a run of days may warn every few seconds
  std::vector<std::string> warnings;                  // before and during the run
  // Samples from the start to the end, at even distances. Of a long run only every second is kept, then every fourth,
  // ...: the charts need no more. metrics.csv has all.
  std::vector<TimePoint> history;
  static constexpr std::size_t longest_history = 16'384;
  std::size_t memory_bytes = 0;  // of world and minds, without the engine
  std::map<std::string, std::string> settings;
  model::Sources files;                // that it was read from
  std::vector<std::string> own_files;  // that the experiment wrote into the folder of results
  std::optional<Restored> restored;
  std::int64_t inputs = 0;             // from outside, during the run
  bool clock_decided = false;          // a plugin that took too long was disabled: the next run may differ
  std::optional<PacingReport> pacing;  // of a run in real time
  std::optional<double> save_every;    // s between snapshots, as asked for

  double real_time_factor() const { return wall_time > 0 ? sim_time_here / wall_time : 0; }
  std::string json() const;     // the contract of `volvox run --json`, one object
  std::string summary() const;  // summary.json: the same, and more
  std::string csv() const;      // metrics.csv: the history
};

}  // namespace volvox::sim
