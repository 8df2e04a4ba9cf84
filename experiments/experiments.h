// The experiments that come with Volvox.
#pragma once

#include "volvox/sim/experiment.h"

namespace volvox::experiments {

void register_experiments(Registry<sim::ExperimentFactory>& registry);

}  // namespace volvox::experiments
