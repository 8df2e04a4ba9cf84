// Real time: every tick begins at its time on the wall clock. Deadlines are absolute, so that errors do not add up. A
// tick that ends after its deadline is late; the next one then begins at once, until the run has caught up (seed 003,
// 2.1). Pacing does not change the state: a paced run has the same bits as any other.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "volvox/base/time.h"
#include "volvox/sim/tick_times.h"

namespace volvox::sim {

struct PacingReport {
  double factor = 1;       // simulated s per s of wall time
  double tick_length = 0;  // s of wall time
  std::int64_t ticks = 0;
  std::int64_t late_ticks = 0;     // ticks that ended after their deadline
  double worst_lateness = 0;       // s
  double drift = 0;                // s by which the last tick ended too late
  TimeDistribution tick_times;     // durations of ticks
  TimeDistribution wake_delays;    // how late the system woke the thread, for ticks that were waited for
  std::string scheduling, memory;  // what the system granted
};

// The wall clock; tests replace it.
class WallClock {
 public:
  virtual ~WallClock() = default;
  virtual std::int64_t now_ns() = 0;
  virtual void sleep_until_ns(std::int64_t moment) = 0;  // may return earlier
};
WallClock& monotonic_clock();

class Pacer {
 public:
  Pacer(TickLength dt, double factor, WallClock& clock = monotonic_clock());

  // The tick of that number begins now; all deadlines are relative to this moment.
  void start(std::int64_t first_tick);
  // Around every tick:
  void begin_tick();
  void end_tick();
  // Waits until the next tick is due. False: it was stopped meanwhile.
  bool wait(const std::atomic<bool>* stop);

  bool late() const { return lateness_ns_ > 0; }  // whether the last tick was late
  const PacingReport& report() const { return report_; }
  PacingReport& report() { return report_; }

 private:
  // The wall time at which the next tick is due.
  std::int64_t due_ns() const;

  TickLength dt_;
  WallClock& clock_;
  std::int64_t first_tick_ = 0, next_tick_ = 0;
  std::int64_t start_ns_ = 0, begin_ns_ = 0, lateness_ns_ = 0;
  PacingReport report_;
};

// A table and a sentence for the user.
std::string pacing_text(const PacingReport& report);

}  // namespace volvox::sim
