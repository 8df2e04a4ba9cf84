#include "volvox/cli/terminal.h"
#include "volvox/base/index.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace volvox::cli {

bool is_terminal(int descriptor) { return isatty(descriptor) != 0; }

namespace {

std::string styled(const char* code, const std::string& text) {
  static const bool wanted =
      is_terminal(STDERR_FILENO) && is_terminal(STDOUT_FILENO) && std::getenv("NO_COLOR") == nullptr;
  return wanted ? fmt::format("\x1b[{}m{}\x1b[0m", code, printable(text)) : printable(text);
}

}  // namespace

std::string rough_duration(double seconds) {
  if (!(seconds < 86400)) return "a long time";
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string bar_text(double part) {
  const int width = 28, full = truncated(part * width);
  std::string bar;
  for (int i = 0; i < width; ++i) bar += i < full ? "━" : "─";
  return bar;
}

std::string bold(const std::string& text) { return styled("1", text); }
std::string dim(const std::string& text) { return styled("2", text); }
std::string red(const std::string& text) { return styled("31", text); }

void print_error(std::string_view text) {
  std::fputs(fmt::format("{} {}\n", red("volvox:"), printable(text)).c_str(), stderr);
}

void print_log(LogLevel level, std::string_view line) {
  std::fputs(
      (level == LogLevel::info ? printable(line) + "\n" : fmt::format("volvox: {}: {}\n", name(level), printable(line)))
          .c_str(),
      stderr);
}

ProgressBar::ProgressBar(const std::string& label, bool quiet)
    : label_(printable(label)), quiet_(quiet), terminal_(is_terminal(STDERR_FILENO)) {}

void ProgressBar::show(const sim::Progress& p) {
  if (quiet_ || p.ticks <= 0) return;
  const double part = real(p.tick) / real(p.ticks);
  const double left = part > 0 ? p.wall_time * (1 - part) / part : 0;
  const double factor = p.wall_time > 0 ? p.sim_time / p.wall_time : 0;
  if (terminal_) {
    std::fputs(fmt::format("\r\x1b[K{} {} {:3.0f} %  {:.1f} s simulated, {:.2g}x real time, {} left", label_,
                           bar_text(part), 100 * part, p.sim_time, factor, rough_duration(left))
                   .c_str(),
               stderr);
    std::fflush(stderr);
    drawn_ = true;
  } else if (p.wall_time >= next_line_) {
    std::fputs(
        fmt::format("{}: {:.0f} %, {:.1f} s simulated, {} left\n", label_, 100 * part, p.sim_time, rough_duration(left))
            .c_str(),
        stderr);
    next_line_ = p.wall_time * 2;  // less and less often
  }
}

void ProgressBar::clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

WorkProgress::WorkProgress(std::string label, bool quiet)
    : label_(std::move(label)),
      quiet_(quiet),
      terminal_(is_terminal(STDERR_FILENO)),
      start_(platform::monotonic_seconds()) {}

WorkProgress::~WorkProgress() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void WorkProgress::show(double part) {
  if (quiet_) return;
  const double elapsed = platform::monotonic_seconds() - start_;
  const double due = terminal_ ? last_ + 0.1 : next_line_;
  if (elapsed < due) return;
  const double percent = 100 * clamp(part, 0, 1);
  std::fputs((terminal_ ? fmt::format("\r\x1b[K{} {:3.0f} %", label_, percent)
                        : fmt::format("{}: {:.0f} %\n", label_, percent))
                 .c_str(),
             stderr);
  std::fflush(stderr);
  drawn_ = terminal_;
  last_ = elapsed;
  next_line_ = std::max(2.0, elapsed * 2);
}

}  // namespace volvox::cli
