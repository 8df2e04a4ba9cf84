// Engine `mujoco`: Debian's MuJoCo with its kinematic trees, soft contacts and Newton solver.
// Units, frames, threads and determinism as in physics/engine.h; it uses one thread.
#pragma once

#include <memory>

#include "volvox/physics/engine.h"

namespace volvox::physics {

std::unique_ptr<Engine> make_mujoco_engine(const EngineSettings& settings);

}  // namespace volvox::physics
