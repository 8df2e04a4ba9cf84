// How far long work has come, on standard error: one line that is overwritten on a terminal; elsewhere whole lines,
// less and less often. Times are of the clock, s. For one thread, and one object at a time.
#pragma once

#include <functional>
#include <string>

#include "volvox/sim/run.h"

namespace volvox::cli {

class Progress {
 public:
  // The label and all words may come from outside: a terminal obeys nothing in them. `quiet`: says nothing.
  Progress(const std::string& label, bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `part`: from 0 to 1. `details` are for a terminal alone.
  void show(double part, const std::string& words = {}, const std::string& details = {});
  void show(const sim::Progress& run);
  // For functions that are told only the part.
  std::function<void(double part)> teller() {
    return [this](double part) { show(part); };
  }
  // One of many short pieces of work: "LABEL WORDS ..." when it begins, and how it went.
  void begin(const std::string& words);
  void end(const std::string& outcome);

  double elapsed() const;
  void clear();

 private:
  std::string label_;
  bool quiet_, terminal_, drawn_ = false;
  double start_, last_ = -1, next_line_ = 2;
};

// "12 s", "3 min"
std::string rough_duration(double seconds);

}  // namespace volvox::cli
