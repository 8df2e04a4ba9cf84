// Runs a function in a child process, so that its memory, crashes and endless loops do not affect this process. What
// the child starts ends with it (guarded_process.h). Used by one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "volvox/base/platform/guarded_process.h"
#include "volvox/base/result.h"

namespace volvox::platform {

struct ChildOutcome {
  std::string text;     // the return value of the function
  std::string failure;  // empty, or how the process ended: "crashed (signal 11, Segmentation fault)"
  std::int64_t peak_memory_bytes = 0;
};

// A child process that runs in parallel. It is killed when this object is destroyed and when this process ends
// for any reason. It ignores Ctrl-C: the parent decides when its children end.
class ChildProcess {
 public:
  // Forks and runs the function in the child. This process must have no other threads at that time.
  // Where `limits` let it open no files, it inherits none, either.
  static Result<std::unique_ptr<ChildProcess>> start(const std::function<std::string()>& work,
                                                     const ProcessLimits& limits = {});
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  bool poll();                                              // reads its output without waiting; true once it has ended
  void end(const std::string& why);                         // kills it; `why` becomes its failure
  const ChildOutcome& outcome() const { return outcome_; }  // valid once it has ended

  // Waits until one of them has output or has ended, at most `seconds`; a signal to this process ends the wait, too.
  static void wait_for_any(const std::vector<const ChildProcess*>& children, double seconds);

 private:
  ChildProcess() = default;
  void reap(const std::string& why);

  std::unique_ptr<GuardedProcess> process_;
  int pipe_ = -1;
  bool said_all_ = false;  // its output has ended
  bool ended_ = false;
  ChildOutcome outcome_;
};

// Runs a function in a child and waits for it. Kills it after `limit` seconds, or within a second after `stop`
// becomes true.
ChildOutcome run_in_child(const std::function<std::string()>& work, double limit,
                          const std::atomic<bool>* stop = nullptr, const ProcessLimits& limits = {});

}  // namespace volvox::platform
