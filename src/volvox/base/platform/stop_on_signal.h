// Makes Ctrl-C, SIGTERM and SIGHUP a flag that is read between two ticks.
// Any thread may read the flag. At which tick a run stops is a matter of chance; its state at that tick is not.
#pragma once

#include <atomic>

namespace volvox::platform {

// During its lifetime the first of these signals sets the flag and says on standard error that the program stops: it
// may take long, if a behaviour does not return. A second Ctrl-C or SIGTERM ends the program at once. A second SIGHUP
// does not: a terminal that is closed may send several. SIGHUP stays ignored under nohup. One object at a time.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  const std::atomic<bool>& requested() const;
};

}  // namespace volvox::platform
