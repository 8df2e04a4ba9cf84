// What a system offers to programs that must keep time with the world outside.
#pragma once

#include <cstdint>
#include <string>

namespace volvox::platform {

std::int64_t monotonic_ns();
// Returns at that moment of the monotonic clock, or earlier if a signal comes in between.
void sleep_until_ns(std::int64_t moment);

// While it lives, the calling thread goes before all ordinary ones (SCHED_FIFO), and so do the
// threads that it makes meanwhile; it wakes as exactly as the system can. What is not allowed is
// left out: both strings say what came of it.
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

// While it lives, the memory of the process stays in memory: no tick waits for a disk.
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
