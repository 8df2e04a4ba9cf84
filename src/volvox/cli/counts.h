// Lists of whole numbers, as in --n 100,1000 and --threads 1,2.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/base/parse.h"
#include "volvox/base/result.h"
#include "volvox/cli/commands.h"

namespace volvox::cli {

// Numbers from 1 to `most`, also as 1e6. An empty text is an empty list; a list of nothing but commas is an error.
template <typename Count>
Result<std::vector<Count>> parse_counts(const std::string& option, const std::string& text, Count most) {
  const std::string help = fmt::format("give one or more, as in {} 1,2", option);
  std::vector<Count> counts;
  for (const std::string& part : split_list(text)) {
    const double value = to_number<double>(part).value_or(0);  // exact for whole numbers up to 2^53
    if (!(value >= 1 && value <= real(most)) || value != std::floor(value))
      return Error(fmt::format("{}: '{}' is not a whole number from 1 to {}", option, part, most), help);
    counts.push_back(truncated<Count>(value));
  }
  if (counts.empty() && !text.empty()) return Error(fmt::format("{} '{}' names no number", option, text), help);
  return counts;
}

}  // namespace volvox::cli
