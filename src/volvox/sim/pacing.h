// Real time: a tick begins when the clock on the wall says so. Deadlines are absolute, so that an
// error never adds up; a tick that ends after its deadline is late, the next one begins at once,
// and the backlog is made up for as soon as ticks take less than their length (seed 003, 2.1).
// Nothing here reaches the state: a paced run has the same bits as any other.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "volvox/base/time.h"
#include "volvox/sim/tick_times.h"

namespace volvox::sim {

struct PacingReport {
  double factor = 1;       // simulated seconds to a second on the wall
  double tick_length = 0;  // s on the wall
  std::int64_t ticks = 0;
  std::int64_t late_ticks = 0;     // that ended after their deadline
  double worst_lateness = 0;       // s
  double drift = 0;                // s by which the end came too late
  TimeDistribution tick_times;     // what ticks took
  TimeDistribution wake_delays;    // how late the system woke us for those that were waited for
  std::string scheduling, memory;  // what the system allowed
};

// The clock on the wall; a test has its own.
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

  // The tick of that number begins now; its start is what all deadlines count from.
  void start(std::int64_t first_tick);
  // Around every tick:
  void begin_tick();
  void end_tick();
  // Until the next tick is due. False: stopped meanwhile.
  bool wait(const std::atomic<bool>* stop);

  bool late() const { return lateness_ns_ > 0; }  // the last tick was
  const PacingReport& report() const { return report_; }
  PacingReport& report() { return report_; }

 private:
  // By the wall, since start: when the tick of that number is due.
  std::int64_t due_ns() const;

  TickLength dt_;
  WallClock& clock_;
  std::int64_t first_tick_ = 0, next_tick_ = 0;
  std::int64_t start_ns_ = 0, begin_ns_ = 0, lateness_ns_ = 0;
  PacingReport report_;
};

// A table and a sentence for people.
std::string pacing_text(const PacingReport& report);

}  // namespace volvox::sim
