#include "volvox/base/platform/real_time.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "volvox/base/platform/available_memory.h"

namespace volvox::platform {
namespace {

// Above ordinary threads, below the threads of the kernel, which have 50 or more.
constexpr int fifo_priority = 10;

}  // namespace

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void sleep_until_ns(std::int64_t moment) {
  const timespec at{moment / 1'000'000'000, moment % 1'000'000'000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

RealTimePriority::RealTimePriority() {
  sched_param before{};
  pthread_getschedparam(pthread_self(), &policy_before_, &before);
  priority_before_ = before.sched_priority;
  slack_before_ = prctl(PR_GET_TIMERSLACK);
  prctl(PR_SET_TIMERSLACK, 1);  // ns; the default for ordinary threads is 50 us
  const sched_param wanted{fifo_priority};
  const int refused = pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted);
  scheduling_ = refused == 0 ? "SCHED_FIFO"
                             : std::string("ordinary (SCHED_FIFO was refused: ") + std::strerror(refused) +
                                   "; allow it with: ulimit -r 10)";
}

RealTimePriority::~RealTimePriority() {
  const sched_param before{priority_before_};
  pthread_setschedparam(pthread_self(), policy_before_, &before);
  const unsigned long slack = slack_before_;
  prctl(PR_SET_TIMERSLACK, slack);
}

LockedMemory::LockedMemory() {
  if (mlockall(MCL_CURRENT) != 0) {
    outcome_ = std::string("not locked (") + std::strerror(errno) + "; allow it with: ulimit -l unlimited)";
    return;
  }
  outcome_ = "locked";
  // Later allocations are locked, too, but only if no limit can make them fail.
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  const rlim_t used = address_space_bytes();
  if (limit.rlim_cur == RLIM_INFINITY || used > limit.rlim_cur) mlockall(MCL_CURRENT | MCL_FUTURE);
}

LockedMemory::~LockedMemory() {
  if (outcome_ == "locked") munlockall();
}

}  // namespace volvox::platform
