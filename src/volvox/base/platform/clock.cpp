#include "volvox/base/platform/clock.h"

#include <sys/resource.h>
#include <time.h>

#include "volvox/base/index.h"

namespace volvox::platform {
namespace {

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return real(now.tv_sec) + 1e-9 * real(now.tv_nsec);
}

}  // namespace

double monotonic_seconds() { return seconds(CLOCK_MONOTONIC); }
double process_cpu_seconds() { return seconds(CLOCK_PROCESS_CPUTIME_ID); }

std::int64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace volvox::platform
