// How exactly 1 kHz ticks are kept: the wake-up delay of an empty loop and of one that simulates a light world, in
// turns in one process. Prints one table.
//   bench_pacing [seconds of each, default 30]
#include <fmt/format.h>

#include <cstdlib>

#include "volvox/base/index.h"
#include "volvox/base/platform/real_time.h"
#include "volvox/cli/cli.h"
#include "volvox/sim/pacing.h"
#include "volvox/sim/run.h"

using namespace volvox;

namespace {

// The pacer's statistics accumulate over all turns.
struct Loop {
  const char* name;
  sim::Pacer pacer{{1, 1000}, 1};

  template <class Work>
  void turn(int ticks, Work&& work) {
    pacer.start(0);
    for (int i = 0; i < ticks; ++i) {
      pacer.begin_tick();
      work();
      pacer.end_tick();
      pacer.wait(nullptr);
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 30;
  constexpr int turn_ticks = 1000;
  const int turns = truncated(seconds * 1000 / turn_ticks);

  const sim::Library library = cli::standard_library();
  Log log([](LogLevel, std::string_view) {});
  sim::RunOptions options;
  options.experiment = "remod3d/snake";
  options.settings["modules"] = "3";
  options.dt = TickLength{1, 1000};
  options.duration = seconds + 1;
  auto run = sim::Run::prepare(options, library, log);
  if (!run.ok()) return fmt::print(stderr, "{}\n", run.error().text()), 2;

  const platform::LockedMemory memory;
  const platform::RealTimePriority priority;
  Loop empty{"empty loop"}, light{"snake of 3"};
  for (int turn = 0; turn < turns; ++turn) {
    empty.turn(turn_ticks, [] {});
    light.turn(turn_ticks, [&] { (void)(*run)->step(); });
  }
  fmt::print("1 kHz, {} ticks each, {} scheduling, memory {}; times in ms\n", turns * turn_ticks, priority.scheduling(),
             memory.outcome());
  fmt::print("{:<14}{:>10}{:>10}{:>10}{:>10}{:>10}{:>12}\n", "wake-up delay", "median", "p99", "p99.9", "max", "tick",
             "late ticks");
  for (const Loop* loop : {&empty, &light}) {
    const sim::PacingReport& report = loop->pacer.report();
    const sim::TimeDistribution& late = report.wake_delays;
    fmt::print("{:<14}{:>10.4f}{:>10.4f}{:>10.4f}{:>10.4f}{:>10.4f}{:>12}\n", loop->name, late.quantile(0.5) * 1e3,
               late.quantile(0.99) * 1e3, late.quantile(0.999) * 1e3, late.longest() * 1e3,
               report.tick_times.quantile(0.5) * 1e3, report.late_ticks);
  }
  fmt::print(
      "p99.9 of the light world minus that of the empty loop: {:.4f} ms\n",
      (light.pacer.report().wake_delays.quantile(0.999) - empty.pacer.report().wake_delays.quantile(0.999)) * 1e3);
}
