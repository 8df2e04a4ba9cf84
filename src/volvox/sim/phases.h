// The phases of a tick, in order (docs/step.md has a heading for each), and how long they take.
// The thread of the loop writes the times; others may read them between two ticks.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "volvox/base/index.h"

namespace volvox::sim {

enum class Phase : std::uint8_t { input, sense, think, send, act, dock, move, break_, deliver, publish, measure };
inline constexpr std::size_t phase_count = 11;
inline constexpr std::array<std::string_view, phase_count> phase_names = {
    "input", "sense", "think", "send", "act", "dock", "move", "break", "deliver", "publish", "measure"};

// Wall time spent in each phase since the start, in s. Measured, never part of the state.
struct PhaseTimes {
  std::array<double, phase_count> seconds{};
  double total() const {
    double sum = 0;
    for (const double s : seconds) sum += s;
    return sum;
  }
  double of(Phase phase) const { return seconds[number_of(phase)]; }
};

}  // namespace volvox::sim
