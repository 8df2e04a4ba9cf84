// Engine `ode`: Debian's Open Dynamics Engine with its QuickStep solver and its colliders.
// Units and frames as in physics/engine.h; it uses one thread. Deterministic, but two ODE worlds of one process must
// not be stepped at the same time: they share ODE's generator of random numbers (ode_world.cpp).
#pragma once

#include <memory>

#include "volvox/physics/engine.h"

namespace volvox::physics {

std::unique_ptr<Engine> make_ode_engine(const EngineSettings& settings);

}  // namespace volvox::physics
