// A piece of work in a process of its own: what it allocates, breaks or hangs on stays there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace volvox::platform {

struct ChildOutcome {
  std::string text;     // what the work returned
  std::string failure;  // empty, or how the process ended: "crashed (signal 11, Segmentation fault)"
  std::int64_t peak_memory_bytes = 0;
};

// Forks, runs the work there and waits for it, `limit` seconds at most; then it is ended. The
// caller must have no other threads at the time.
ChildOutcome run_in_child(const std::function<std::string()>& work, double limit);

}  // namespace volvox::platform
