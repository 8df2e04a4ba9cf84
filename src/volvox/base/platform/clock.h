// Clocks and memory use of the process, for measuring and pacing. Must not affect the state of a simulation.
// Any thread may ask.
#pragma once

#include <cstdint>

namespace volvox::platform {

double monotonic_seconds();    // since an arbitrary time
double process_cpu_seconds();  // of all threads of this process
std::int64_t peak_memory_bytes();

}  // namespace volvox::platform
