// Engine `mujoco`: Debian's MuJoCo, its trees, its soft contacts and its Newton solver.
#pragma once

#include <memory>

#include "volvox/physics/engine.h"

namespace volvox::physics {

std::unique_ptr<Engine> make_mujoco_engine(const EngineSettings& settings);

}  // namespace volvox::physics
