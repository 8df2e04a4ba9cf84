// Tests that try many seeds or simulate for long: with the address or the thread sanitizer, where all takes five to ten
// times as long, a fifth of it. They look for wrong code there, and a fifth goes through the same; figures and rare
// cases, which need the whole run, are judged without them. docs/decisions/0045 says what it saves. Values; for any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>

namespace volvox {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

// A number of rounds, or of seconds that are simulated.
constexpr int shortened(int full) { return sanitized ? (full + 4) / 5 : full; }
constexpr double shortened(double full) { return sanitized ? full / 5 : full; }
// The first of these cases: put one there that goes through most.
template <class Case, std::size_t count>
constexpr std::span<const Case> shortened(const Case (&all)[count]) {
  return std::span<const Case>(all).first(sanitized ? (count + 4) / 5 : count);
}
// The seeds `first` to `last`, or the first fifth of them.
constexpr auto seeds(std::uint64_t first, std::uint64_t last) {
  const std::uint64_t count = last + 1 - first;
  return std::views::iota(first, first + (sanitized ? (count + 4) / 5 : count));
}

}  // namespace volvox

// EXPECT_NEAR for a figure that a shortened run does not reach.
#define VOLVOX_EXPECT_FIGURE(value, expected, tolerance) \
  do {                                                   \
    const double figure = (value);                       \
    if (!::volvox::sanitized) {                          \
      EXPECT_NEAR(figure, expected, tolerance);          \
    }                                                    \
  } while (false)
