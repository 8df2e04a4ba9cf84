// Makes Ctrl-C and SIGTERM a flag that is read between two ticks.
#pragma once

#include <atomic>
#include <csignal>

namespace volvox::cli {

// During its lifetime Ctrl-C and SIGTERM end the run at the next tick and its results are written; a second signal ends
// the program at once.
class StopOnSignal {
 public:
  StopOnSignal() {
    flag() = false;
    for (const int signal : {SIGINT, SIGTERM})
      std::signal(signal, [](int which) {
        flag() = true;
        std::signal(which, SIG_DFL);
      });
  }
  ~StopOnSignal() {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  const std::atomic<bool>& requested() const { return flag(); }

 private:
  static std::atomic<bool>& flag() {  // static: a signal handler has no object
    static std::atomic<bool> requested = false;
    return requested;
  }
};

}  // namespace volvox::cli
