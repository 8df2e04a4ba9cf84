// How much memory this process could still use. Must not affect the state of a simulation.
// Any thread may ask.
#pragma once

#include <cstdint>

namespace volvox::platform {

// The least of what the machine has, what the process may use (ulimit -v) and what its control group may use; in bytes.
// INT64_MAX: unknown.
std::int64_t available_memory_bytes();

// The address space that this process has now; 0: unknown.
std::int64_t address_space_bytes();

}  // namespace volvox::platform
