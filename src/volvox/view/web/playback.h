// Pause, step and speed of a run or recording that people watch: decides when the next tick is due. Times of the
// simulation in s.
// Wall time decides when a tick runs, never what is in it. For the thread that steps the run.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace volvox::view {

class Playback {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr double slowest = 0.1, as_fast_as_possible = 0;

  bool paused() const { return paused_; }
  double speed() const { return speed_; }  // 1: real time; 0: as fast as possible
  void pause() { paused_ = true, steps_ = 0; }
  void play(double now) { paused_ = false, anchor(now); }
  void step(std::int64_t ticks) { paused_ = true, steps_ += std::clamp<std::int64_t>(ticks, 0, 1'000'000); }
  void set_speed(double speed, double now) {
    speed_ = std::isfinite(speed) && speed > 0 ? std::clamp(speed, slowest, 1000.0) : as_fast_as_possible;
    anchor(now);
  }

  // Schedules the tick that begins at the simulated time `now`. Returns when it may run: `max` while paused.
  Clock::time_point schedule(double now) {
    if (steps_ > 0) return Clock::time_point::min();
    if (paused_) return Clock::time_point::max();
    if (speed_ == as_fast_as_possible) return Clock::time_point::min();
    const auto moment = begin_ + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>((now - begin_time_) / speed_));
    // After a delay of more than 0.25 s, continue at normal speed instead of catching up.
    if (Clock::now() - moment > std::chrono::milliseconds(250)) anchor(now);
    return moment;
  }
  void count_tick() {
    if (steps_ > 0) --steps_;
  }
  bool stepping() const { return steps_ > 0; }

 private:
  void anchor(double now) { begin_ = Clock::now(), begin_time_ = now; }

  bool paused_ = false;
  std::int64_t steps_ = 0;
  double speed_ = 1;
  Clock::time_point begin_ = Clock::now();
  double begin_time_ = 0;
};

}  // namespace volvox::view
