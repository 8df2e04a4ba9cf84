// The text protocol of devices over UDP and serial lines: inputs in one direction, percepts and a force (feedback) in
// the other.
// Numbers are in SI units and rad. Called by the thread of the loop only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "volvox/device/targets.h"
#include "volvox/sim/extension.h"

namespace volvox::device {

// Parses lines such as "joint rover neck 0.5"; none: malformed.
std::optional<sim::Input> parse_line(const std::string& line);

// The report that is sent after a tick.
class Telling {
 public:
  explicit Telling(const Parameters& parameters);  // send="MODULE.PERCEPT ...", force="MODULE.PERCEPT [FACTOR]", every
  void begin(const sim::Simulation& simulation);   // throws if a name is wrong
  // The lines of this tick; empty: nothing to report.
  std::string lines(const sim::Simulation& simulation) const;

 private:
  std::string send_text_, force_text_;
  std::int64_t every_;
  std::vector<Source> sources_;
  std::optional<Source> force_;
};

}  // namespace volvox::device
