// A forked process together with every process that it starts. When it ends or is ended, all of them are killed, also
// those that have left its process group: none outlives the run or keeps its output open. A second small process, the
// warden, sees to that: it adopts the orphans, and it is told when this process ends for any reason.
// Used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/result.h"

namespace volvox::platform {

struct ProcessLimits {
  std::uint64_t memory_bytes = 0;  // of address space, beyond what it has at its start; 0: no limit
  unsigned cpu_seconds = 0;        // 0: no limit
  bool opens_files = true;         // false: it can open and write no file
};

class GuardedProcess {
 public:
  // Forks and runs `work` in the new process, which ends with the exit status that it returns. With `keep`, it has only
  // these file descriptors beside standard input, output and error. It ignores Ctrl-C: its parent decides when it ends.
  static Result<std::unique_ptr<GuardedProcess>> start(const std::function<int()>& work, const ProcessLimits& limits,
                                                       const std::optional<std::vector<int>>& keep = {});
  ~GuardedProcess();  // ends it
  GuardedProcess(const GuardedProcess&) = delete;
  GuardedProcess& operator=(const GuardedProcess&) = delete;

  // Takes the report of a process that has ended, without waiting for one that has not. True: it has ended.
  bool poll_end();
  void end();  // kills it, if it has not ended
  // A descriptor that is readable once it has ended, for poll(2).
  int descriptor() const { return report_; }

  // Once it has ended: "" (exit status 0), "exit status 7" or "crashed (signal 11, Segmentation fault)".
  const std::string& failure() const { return failure_; }
  std::int64_t peak_memory_bytes() const { return peak_memory_bytes_; }

 private:
  GuardedProcess() = default;
  void take_report();

  int warden_ = -1;
  int report_ = -1;  // the warden writes one report, when all have ended
  bool ended_ = false;
  std::string failure_;
  std::int64_t peak_memory_bytes_ = 0;
};

}  // namespace volvox::platform
