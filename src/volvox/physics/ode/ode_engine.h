// Engine `ode`: Debian's Open Dynamics Engine with its QuickStep solver and its colliders.
#pragma once

#include <memory>

#include "volvox/physics/engine.h"

namespace volvox::physics {

std::unique_ptr<Engine> make_ode_engine(const EngineSettings& settings);

}  // namespace volvox::physics
