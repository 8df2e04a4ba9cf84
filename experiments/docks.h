// What experiments do to docks, and measure of them.
#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments {

// Modules that share one model go on sharing one.
void make_docks_unbreakable(model::WorldModel& world);

// The largest error of any dock in any tick so far.
class DockErrors {
 public:
  void observe(const world::World& world);
  void report(sim::Metrics& metrics) const;  // dock_error_max_mm, dock_error_max_deg
  void archive(Archive& ar);

 private:
  double distance_ = 0;  // m
  double angle_ = 0;     // rad
};

}  // namespace volvox::experiments
