#include "volvox/sim/pacing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/base/platform/real_time.h"

namespace volvox::sim {
namespace {

constexpr std::int64_t longest_nap_ns = 100'000'000;  // so that a request to stop is noticed

class MonotonicClock final : public WallClock {
 public:
  std::int64_t now_ns() override { return platform::monotonic_ns(); }
  void sleep_until_ns(std::int64_t moment) override { platform::sleep_until_ns(moment); }
};

}  // namespace

WallClock& monotonic_clock() {
  static MonotonicClock clock;
  return clock;
}

Pacer::Pacer(TickLength dt, double factor, WallClock& clock) : dt_(dt), clock_(clock) {
  VOLVOX_ASSERT(factor > 0);
  report_.factor = factor;
  report_.tick_length = dt.seconds() / factor;
}

void Pacer::start(std::int64_t first_tick) {
  first_tick_ = next_tick_ = first_tick;
  start_ns_ = clock_.now_ns();
}

std::int64_t Pacer::due_ns() const {
  VOLVOX_ASSERT(next_tick_ >= first_tick_);
  const std::int64_t simulated = (dt_.start_of(next_tick_) - dt_.start_of(first_tick_)).ns;
  if (report_.factor == 1) return start_ns_ + simulated;
  return start_ns_ + std::llround(real(simulated) / report_.factor);
}

void Pacer::begin_tick() { begin_ns_ = clock_.now_ns(); }

void Pacer::end_tick() {
  const std::int64_t now = clock_.now_ns();
  ++next_tick_;
  ++report_.ticks;
  report_.tick_times.add(now - begin_ns_);
  lateness_ns_ = std::max<std::int64_t>(now - due_ns(), 0);
  if (lateness_ns_ > 0) ++report_.late_ticks;
  report_.drift = real(lateness_ns_) * 1e-9;
  report_.worst_lateness = std::max(report_.worst_lateness, report_.drift);
}

bool Pacer::wait(const std::atomic<bool>* stop) {
  if (lateness_ns_ > 0) return stop == nullptr || !stop->load();
  const std::int64_t due = due_ns();
  for (std::int64_t now = clock_.now_ns(); now < due; now = clock_.now_ns()) {
    if (stop != nullptr && stop->load()) return false;
    clock_.sleep_until_ns(std::min(due, now + longest_nap_ns));
  }
  report_.wake_delays.add(clock_.now_ns() - due);
  return stop == nullptr || !stop->load();
}

std::string pacing_text(const PacingReport& report) {
  const auto row = [](const char* name, const TimeDistribution& times) {
    const auto ms = [](double seconds) { return fmt::format("{:>9.3f}", seconds * 1e3); };
    return fmt::format("  {:<22}{}{}{}{}{}{}{}\n", name, ms(times.shortest()), ms(times.quantile(0.25)),
                       ms(times.quantile(0.5)), ms(times.quantile(0.75)), ms(times.quantile(0.99)),
                       ms(times.quantile(0.999)), ms(times.longest()));
  };
  std::string text = fmt::format("  {:<22}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}\n", "times in ms", "least", "quarter",
                                 "median", "3/4", "p99", "p99.9", "most");
  text += row("tick", report.tick_times) + row("woken late by", report.wake_delays);
  text += fmt::format(
      "  real time x {:g}: {} of {} ticks of {:g} ms were late, the worst by {:.3g} ms; at the end {:.3g} ms behind\n",
      report.factor, report.late_ticks, report.ticks, report.tick_length * 1e3, report.worst_lateness * 1e3,
      report.drift * 1e3);
  return text + fmt::format("  scheduling {}; memory {}\n", report.scheduling, report.memory);
}

}  // namespace volvox::sim
