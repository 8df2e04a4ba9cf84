#include "volvox/base/platform/available_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace volvox::platform {
namespace {

constexpr std::int64_t unknown = INT64_MAX;

std::int64_t of_machine() {
  std::ifstream file("/proc/meminfo");
  for (std::string name, rest; file >> name; std::getline(file, rest)) {
    std::int64_t kilobytes = 0;
    if (name == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  }
  return unknown;
}

std::int64_t number_in(const char* path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  return file >> value ? value : unknown;  // "max": no limit
}

std::int64_t of_group() {
  const std::int64_t most = number_in("/sys/fs/cgroup/memory.max"), now = number_in("/sys/fs/cgroup/memory.current");
  return most == unknown || now == unknown ? unknown : std::max<std::int64_t>(0, most - now);
}

std::int64_t of_process() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unknown;
  const std::int64_t most = limit.rlim_cur;
  return std::max<std::int64_t>(0, most - address_space_bytes());
}

}  // namespace

std::int64_t available_memory_bytes() { return std::min({of_machine(), of_group(), of_process()}); }

std::int64_t address_space_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0;
  return file >> pages ? pages * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace volvox::platform
