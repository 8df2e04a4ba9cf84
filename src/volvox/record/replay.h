// Uses of a recording without a viewer: running the experiment again to compare it, and exporting tables (CSV).
// Times in s, simulated. All functions belong to one thread, and `stop` may be set by any.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>

#include "volvox/record/recording.h"
#include "volvox/sim/run.h"

namespace volvox::record {

// The options under which the recorded run was made.
Result<sim::RunOptions> options_of(Recording& recording);

struct Verification {
  bool same = true;
  std::int64_t ticks = 0;            // simulated again and compared
  std::int64_t of = 0;               // ticks that the recorded run made; of one that was killed, that it was to make
  bool stopped = false;              // on request, before the end
  std::int64_t tick = 0;             // the first that differs
  double time = 0;                   // s
  std::string module;                // empty: the difference belongs to no module
  std::string field;                 // "links and joints: s3.head x", "percepts", ...
  std::string detail;                // recorded and new value, if the recording has it
  std::size_t parts = 0;             // number of parts of the state that differ in that tick
  std::vector<std::string> changed;  // files since the recording, in words, which were accepted
};

// Runs the experiment again with the recorded inputs. Compares the hash of every tick, and all that was recorded of it.
// Of other files than those that were recorded it would be another run: that is an error, unless `accept_changes`.
Result<Verification> verify(Recording& recording, const sim::Library& library, Log& log, int threads = 1,
                            const std::function<void(const sim::Progress&)>& progress = {},
                            const std::atomic<bool>* stop = nullptr, bool accept_changes = false);

std::vector<std::string> table_names();  // of the files that export_csv writes
// Writes links.csv, joints.csv, docks.csv, messages.csv, dock_events.csv, log.csv, inputs.csv, metrics.csv,
// state.csv and, if there is a cloud, cloud.csv into the folder; returns the names of the files written.
Result<std::vector<std::string>> export_csv(Recording& recording, const std::filesystem::path& folder);

}  // namespace volvox::record
