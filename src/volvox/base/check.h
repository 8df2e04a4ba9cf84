// Checks in three tiers:
//   VOLVOX_ASSERT  internal bugs; in debug and sanitizer builds, and with -DVOLVOX_ASSERTS=ON, as ./check builds (for
//                  hot paths)
//   VOLVOX_CHECK   internal bugs; in all builds (if it is cheap, or if wrong results would follow)
//   Result<T>      errors in external input (result.h); never use a check for these
// A failed check prints to standard error and ends the program, from whichever thread; it never throws.
#pragma once

namespace volvox::detail {
[[noreturn]] void check_failed(const char* condition, const char* message, const char* file, int line);
}

#define VOLVOX_CHECK(condition, message) \
  ((condition) ? void(0) : ::volvox::detail::check_failed(#condition, message, __FILE__, __LINE__))

#if defined(NDEBUG) && !defined(VOLVOX_ASSERTS)
#  define VOLVOX_ASSERT(condition) void(0)
#else
#  define VOLVOX_ASSERT(condition) \
    ((condition) ? void(0) : ::volvox::detail::check_failed(#condition, "", __FILE__, __LINE__))
#endif
