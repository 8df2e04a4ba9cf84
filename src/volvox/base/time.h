// Time is an integer number of nanoseconds, so that it neither drifts nor rounds. The tick length is a fraction
// of a second, so that 1/60 s is exact: tick k starts at floor(k dt).
// Plain values and pure functions, in simulated time; nothing here reads a clock.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "volvox/base/index.h"
#include "volvox/base/result.h"

namespace volvox {

struct Time {
  std::int64_t ns = 0;

  static constexpr Time seconds(double s) { return {truncated<std::int64_t>(s * 1e9 + (s < 0 ? -0.5 : 0.5))}; }
  constexpr double seconds() const { return real(ns) * 1e-9; }

  friend constexpr auto operator<=>(Time, Time) = default;
  friend constexpr Time operator+(Time a, Time b) { return {a.ns + b.ns}; }
  friend constexpr Time operator-(Time a, Time b) { return {a.ns - b.ns}; }
  constexpr Time& operator+=(Time other) {
    ns += other.ns;
    return *this;
  }
};

// The length of a tick in seconds, as a fraction in lowest terms.
struct TickLength {
  std::int64_t numerator = 1;
  std::int64_t denominator = 60;

  // Reads "1/60", "0.01" or "2"; from 1 ns to 1 hour.
  static Result<TickLength> parse(std::string_view text);
  double seconds() const { return real(numerator) / real(denominator); }
  std::string text() const;

  Time start_of(std::int64_t tick) const {
    // Whole seconds and the remainder are separate, so that no product overflows 64 bits (the denominator is at
    // most 1e9).
    const std::int64_t total = tick * numerator;
    return {total / denominator * 1'000'000'000 + total % denominator * 1'000'000'000 / denominator};
  }
  // The number of ticks that cover a duration: the index of the first tick that starts at or after its end.
  std::int64_t ticks_in(Time duration) const;
};

}  // namespace volvox
