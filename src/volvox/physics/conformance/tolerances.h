// What every engine must reach: one table for all, and the exceptions with their reasons.
#pragma once

#include <string>
#include <string_view>

namespace volvox::physics::conformance {

// The tolerance that an engine is held to; aborts on a name that is not in the table.
double tolerance(const std::string& engine, std::string_view name);

}  // namespace volvox::physics::conformance
