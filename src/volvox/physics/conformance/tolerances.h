// The tolerances of the suite: one table for all engines, and the exceptions with their reasons.
// Constant: any thread may ask.
#pragma once

#include <string>
#include <string_view>

namespace volvox::physics::conformance {

// The tolerance for an engine; aborts if the name is not in the table.
double tolerance(const std::string& engine, std::string_view name);

}  // namespace volvox::physics::conformance
