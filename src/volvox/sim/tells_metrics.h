// An extension that has something to say of how it went, once the run is over.
#pragma once

#include "volvox/sim/metrics.h"

namespace volvox::sim {

class TellsMetrics {
 public:
  virtual ~TellsMetrics() = default;
  virtual void add_metrics(Metrics& metrics) const = 0;
};

}  // namespace volvox::sim
