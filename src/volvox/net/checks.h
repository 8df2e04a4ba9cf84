// Checks options that come from the user. Every error says what is wrong and what to give instead. Internal.
// Pure functions; options in SI units.
#pragma once

#include "volvox/base/result.h"
#include "volvox/net/types.h"

namespace volvox::net {

Result<void> check(const WireOptions& options);
Result<void> check(const BusOptions& options);
Result<void> check(const RadioOptions& options);
Result<void> check(const MediumOptions& options);

}  // namespace volvox::net
