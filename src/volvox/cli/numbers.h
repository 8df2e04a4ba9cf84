// Checks of the numbers that options accept.
// Pure.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>

#include "volvox/base/parse.h"

namespace volvox::cli {

// A number within bounds. CLI11's own check lets NaN through.
inline CLI::Validator between(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) {
        double value = 0;
        const bool good = CLI::detail::lexical_cast(text, value) && value >= low && value <= high;
        return good ? std::string() : fmt::format("'{}' is not a number from {} to {}", text, low, high);
      },
      "");
}

// CLI11 would read -1, and numbers that are too large, as the largest number.
inline CLI::Validator whole_number(std::uint64_t low = 0, std::uint64_t high = UINT64_MAX) {
  return CLI::Validator(
      [low, high](std::string& text) {
        const auto value = to_number<std::uint64_t>(text);
        return value && *value >= low && *value <= high
                   ? std::string()
                   : fmt::format("'{}' is not a whole number from {} to {}", text, low, high);
      },
      "");
}

}  // namespace volvox::cli
