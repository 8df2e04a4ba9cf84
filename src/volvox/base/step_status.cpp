#include "volvox/base/step_status.h"

#include <fmt/format.h>

namespace volvox {

std::string StepStatus::text() const {
  if (ok()) return {};
  if (who.empty()) return fmt::format("{} at {:.3f} s: {}", phase, time.seconds(), what);
  return fmt::format("{} at {:.3f} s, in {}: {}", who, time.seconds(), phase, what);
}

}  // namespace volvox
