// How a tick, or a part of one, went: one type for the engine, the world, the minds and the loop. Each layer fills in
// what it knows; the loop (sim/simulation.cpp) adds phase and time.
// A value that owns its texts, except `phase`, which points to a constant. The same run fails with the same status, at
// any number of threads.
#pragma once

#include <string>
#include <string_view>

#include "volvox/base/id.h"
#include "volvox/base/time.h"

namespace volvox::physics {
struct BodyTag;
}

namespace volvox {

struct [[nodiscard]] StepStatus {
  Id<physics::BodyTag> body{};  // that failed, as the engine numbers it; the world turns it into `who`
  std::string what{};           // the error message; empty: no error
  std::string who{};            // "module 'm1'", "m1.head", "extension 'udp'"; empty: not known
  std::string_view phase{};     // of the tick, one of sim::phase_names
  Time time{};                  // simulated

  bool ok() const { return what.empty(); }
  std::string text() const;  // all of it, for people; empty: nothing went wrong
};

}  // namespace volvox
