// Real-time functions of the system, for programs that run in step with hardware.
// Times in nanoseconds of the monotonic clock. They decide when a tick is computed, never what.
#pragma once

#include <cstdint>
#include <string>

namespace volvox::platform {

std::int64_t monotonic_ns();
// Returns at that time of the monotonic clock, or earlier if a signal arrives.
void sleep_until_ns(std::int64_t moment);

// During its lifetime, the calling thread and the threads that it starts have a higher priority than all ordinary
// threads (SCHED_FIFO), and the calling thread wakes as exactly as possible. If the system does not permit this,
// priorities stay as they are; scheduling() says which policy is used.
class RealTimePriority {
 public:
  RealTimePriority();
  ~RealTimePriority();
  RealTimePriority(const RealTimePriority&) = delete;
  RealTimePriority& operator=(const RealTimePriority&) = delete;
  const std::string& scheduling() const { return scheduling_; }

 private:
  std::string scheduling_;
  int policy_before_ = 0, priority_before_ = 0;
  int slack_before_ = 0;
};

// During its lifetime, the memory of the process is not swapped out, so that no tick waits for a disk. outcome() says
// whether the system permitted it.
class LockedMemory {
 public:
  LockedMemory();
  ~LockedMemory();
  LockedMemory(const LockedMemory&) = delete;
  LockedMemory& operator=(const LockedMemory&) = delete;
  const std::string& outcome() const { return outcome_; }

 private:
  std::string outcome_;
};

}  // namespace volvox::platform
