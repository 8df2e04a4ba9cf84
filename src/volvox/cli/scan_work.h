// What the files of `volvox scan` share. Internal to cli/.
#pragma once

#include <string>

#include "volvox/cli/commands.h"
#include "volvox/scan/cloud.h"
#include "volvox/scan/evaluate.h"
#include "volvox/scan/scan_log.h"

namespace volvox::cli {

// Progress of long work on standard error: one line that is overwritten on a terminal, a few lines otherwise.
class WorkProgress {
 public:
  WorkProgress(std::string label, bool quiet);
  ~WorkProgress();
  scan::Progress teller() {
    return [this](double part) { show(part); };
  }

 private:
  void show(double part);

  std::string label_;
  bool quiet_, terminal_, drawn_ = false;
  double start_, last_ = 0, next_line_ = 2;
};

// One line on standard error, unless --quiet.
void note(const ScanArguments& arguments, const std::string& line);
// A result that may be wrong: said even with --quiet.
void warn(const std::string& what, const std::string& fix);

// Reads a cloud from a cloud file, or from a scan log; a log without poses is located first.
Result<scan::Cloud> cloud_from(const ScanArguments& arguments, const std::string& file);

int scan_simulate(const ScanArguments& arguments);
int scan_locate(const ScanArguments& arguments);

}  // namespace volvox::cli
