#include "volvox/base/log.h"

namespace volvox {

std::string_view name(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return "debug";
    case LogLevel::info: return "info";
    case LogLevel::warning: return "warning";
    case LogLevel::error: return "error";
  }
  return "?";
}

void Log::write(LogLevel level, std::string_view line) {
  if (!sink_ || level < threshold_) return;
  const std::lock_guard lock(mutex_);
  sink_(level, line);
}

}  // namespace volvox
