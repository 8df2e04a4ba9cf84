// The text lines that devices speak over UDP and over a serial line: inputs one way, percepts and a
// force to be felt the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "volvox/device/targets.h"
#include "volvox/sim/extension.h"

namespace volvox::device {

// "joint rover neck 0.5" and its like; none: it makes no sense.
std::optional<sim::Input> parse_line(const std::string& line);

// What is told after a tick.
class Telling {
 public:
  explicit Telling(const Parameters& parameters);  // send="MODULE.PERCEPT ...", force="MODULE.PERCEPT [FACTOR]", every
  void begin(const sim::Simulation& simulation);   // throws: what is wrong with the names
  // The lines of this tick; empty: there is nothing to tell.
  std::string lines(const sim::Simulation& simulation) const;

 private:
  std::string send_text_, force_text_;
  std::int64_t every_;
  std::vector<Source> sources_;
  std::optional<Source> force_;
};

}  // namespace volvox::device
