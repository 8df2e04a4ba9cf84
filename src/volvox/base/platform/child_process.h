// A piece of work in a process of its own: what it allocates, breaks or hangs on stays there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "volvox/base/result.h"

namespace volvox::platform {

struct ChildOutcome {
  std::string text;     // what the work returned
  std::string failure;  // empty, or how the process ended: "crashed (signal 11, Segmentation fault)"
  std::int64_t peak_memory_bytes = 0;
};

// Work that goes on beside us. It is ended with this object, and with our own process, however that
// ends. Ctrl-C reaches only us: whoever starts children decides what becomes of them.
class ChildProcess {
 public:
  // Forks and runs the work there. The caller must have no other threads at the time.
  static Result<std::unique_ptr<ChildProcess>> start(const std::function<std::string()>& work);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  bool ended();                                             // looks, and does not wait
  void end(const std::string& why);                         // now; `why` becomes its failure
  const ChildOutcome& outcome() const { return outcome_; }  // once it has ended

  // Until one of them has something to tell or that many seconds have passed; a signal to us wakes too.
  static void wait_for_any(const std::vector<const ChildProcess*>& children, double seconds);

 private:
  ChildProcess() = default;
  void reap(const std::string& why);

  int process_ = -1;
  int pipe_ = -1;
  bool ended_ = false;
  ChildOutcome outcome_;
};

// The same, waited for: `limit` seconds at most; then it is ended. So it is within a second once `stop` is true.
ChildOutcome run_in_child(const std::function<std::string()>& work, double limit,
                          const std::atomic<bool>* stop = nullptr);

}  // namespace volvox::platform
