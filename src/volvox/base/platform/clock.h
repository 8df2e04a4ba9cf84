// Clocks of the machine, for measuring and pacing; never for anything that reaches the state.
#pragma once

#include <cstdint>

namespace volvox::platform {

double monotonic_seconds();    // since an arbitrary moment
double process_cpu_seconds();  // of all threads of this process
std::int64_t peak_memory_bytes();
std::int64_t resident_memory_bytes();

}  // namespace volvox::platform
