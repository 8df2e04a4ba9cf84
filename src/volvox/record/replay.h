// What can be done with a recording without a viewer: run it again and compare, or write it out
// as tables.
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
  std::int64_t ticks = 0;  // that were compared
  bool stopped = false;    // on request, before the end
  std::int64_t tick = 0;   // the first that differs
  double time = 0;         // s
  std::string module;      // empty: it is nobody's own
  std::string field;       // "links and joints: s3.head x", "percepts", ...
  std::string detail;      // recorded and new value, where the recording has it
  std::size_t parts = 0;   // of the state that differ in that tick
};

// Runs the experiment again with the recorded inputs and compares the hash of every tick.
Result<Verification> verify(Recording& recording, const sim::Library& library, Log& log, int threads = 1,
                            const std::function<void(const sim::Progress&)>& progress = {},
                            const std::atomic<bool>* stop = nullptr);

// Writes links.csv, joints.csv, docks.csv, messages.csv, log.csv, inputs.csv, metrics.csv and
// state.csv into the folder; the names of those that were written come back.
Result<std::vector<std::string>> export_csv(Recording& recording, const std::filesystem::path& folder);

}  // namespace volvox::record
