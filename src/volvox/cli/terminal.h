// Output for a terminal: colour, and a progress bar on standard error; without a terminal, a few plain lines.
// For one thread at a time; a Log calls print_log under its own lock.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "volvox/base/log.h"
#include "volvox/report/table.h"
#include "volvox/sim/run.h"

namespace volvox::cli {

bool is_terminal(int descriptor);
// Honours NO_COLOR, and is plain where standard error is not a terminal. The text may come from outside: see
// printable().
std::string bold(const std::string& text);
std::string dim(const std::string& text);
std::string red(const std::string& text);

// "volvox: TEXT" on standard error. The text may come from outside: a terminal obeys nothing in it.
void print_error(std::string_view text);
void print_log(LogLevel level, std::string_view line);  // likewise

// "━━━━━────" for a share from 0 to 1.
std::string bar_text(double part);
// "12 s", "3 min"
std::string rough_duration(double seconds);

class ProgressBar {
 public:
  ProgressBar(const std::string& label, bool quiet);
  ~ProgressBar() { clear(); }
  void show(const sim::Progress& progress);
  void clear();

 private:
  std::string label_;
  bool quiet_, terminal_, drawn_ = false;
  double next_line_ = 2;  // s of wall time: when the next sparse line is due
};

// Progress of long work on standard error: one line that is overwritten on a terminal, a few lines otherwise.
class WorkProgress {
 public:
  WorkProgress(std::string label, bool quiet);
  ~WorkProgress();
  std::function<void(double part)> teller() {
    return [this](double part) { show(part); };
  }

 private:
  void show(double part);

  std::string label_;
  bool quiet_, terminal_, drawn_ = false;
  double start_, last_ = 0, next_line_ = 2;
};

using report::number;

}  // namespace volvox::cli
