#include "volvox/cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "volvox/base/index.h"
#include "volvox/base/math.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/text.h"
#include "volvox/cli/terminal.h"

namespace volvox::cli {
namespace {

constexpr const char* from_the_start = "\r\x1b[K";  // of the line, which is empty then

// "━━━━━────"
std::string bar_text(double part) {
  const int width = 28, full = truncated(part * width);
  std::string bar;
  for (int i = 0; i < width; ++i) bar += i < full ? "━" : "─";
  return bar;
}

void put(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

std::string rough_duration(double seconds) {
  if (!(seconds < 86400)) return "a long time";
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

Progress::Progress(const std::string& label, bool quiet)
    : label_(printable(label)), quiet_(quiet), terminal_(is_terminal(2)), start_(platform::monotonic_seconds()) {}

double Progress::elapsed() const { return platform::monotonic_seconds() - start_; }

void Progress::show(double part, const std::string& words, const std::string& details) {
  if (quiet_) return;
  const double now = elapsed();
  if (now < (terminal_ ? last_ + 0.1 : next_line_)) return;
  part = clamp(part, 0, 1);
  if (terminal_)
    put(fmt::format("{}{} {} {:3.0f} %  {}{}", from_the_start, label_, bar_text(part), 100 * part, printable(words),
                    printable(details)));
  else put(fmt::format("{}: {:.0f} %{}{}\n", label_, 100 * part, words.empty() ? "" : ", ", printable(words)));
  drawn_ = terminal_;
  last_ = now;
  next_line_ = std::max(2.0, 2 * now);
}

void Progress::show(const sim::Progress& run) {
  if (run.ticks <= 0) return;
  const double part = real(run.tick) / real(run.ticks);
  const double left = part > 0 ? run.wall_time * (1 - part) / part : 0;
  const double factor = run.wall_time > 0 ? run.sim_time / run.wall_time : 0;
  show(part, fmt::format("{:.1f} s simulated, {} left", run.sim_time, rough_duration(left)),
       fmt::format(", {:.2g}x real time", factor));
}

void Progress::begin(const std::string& words) {
  if (quiet_) return;
  put(fmt::format("{}{}{}{} ...", terminal_ ? from_the_start : "", label_, label_.empty() ? "" : " ",
                  printable(words)));
  drawn_ = terminal_;
}

void Progress::end(const std::string& outcome) {
  if (!quiet_ && !terminal_) put(fmt::format(" {}\n", printable(outcome)));
}

void Progress::clear() {
  if (drawn_) put(from_the_start);
  drawn_ = false;
}

}  // namespace volvox::cli
