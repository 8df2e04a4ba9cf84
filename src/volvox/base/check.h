// Checks in three tiers:
//   VOLVOX_ASSERT  an internal bug, checked in debug and sanitizer builds only (hot paths)
//   VOLVOX_CHECK   an internal bug, checked always (cheap, or the alternative is wrong results)
//   Result<T>      anything that comes from outside (result.h); never a check
#pragma once

namespace volvox::detail {
[[noreturn]] void check_failed(const char* condition, const char* message, const char* file, int line);
}

#define VOLVOX_CHECK(condition, message) \
  ((condition) ? void(0) : ::volvox::detail::check_failed(#condition, message, __FILE__, __LINE__))

#ifdef NDEBUG
#  define VOLVOX_ASSERT(condition) void(0)
#else
#  define VOLVOX_ASSERT(condition) \
    ((condition) ? void(0) : ::volvox::detail::check_failed(#condition, "", __FILE__, __LINE__))
#endif
