// Engine `ode`: Debian's Open Dynamics Engine with its QuickStep solver and its colliders.
// Units and frames as in physics/engine.h; it uses one thread. Deterministic. ODE
// has data that all worlds of a process share, so engines of several threads take turns.
#pragma once

#include <memory>

#include "volvox/physics/engine.h"

namespace volvox::physics {

std::unique_ptr<Engine> make_ode_engine(const EngineSettings& settings);

}  // namespace volvox::physics
