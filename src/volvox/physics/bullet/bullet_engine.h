// Engine `bullet`: Debian's Bullet 3 in double precision. Joints, docks, free rotation and contacts with planes are our
// own code (the README says why).
// Units, frames, threads and determinism as in physics/engine.h; it uses one thread.
#pragma once

#include <memory>

#include "volvox/physics/engine.h"

namespace volvox::physics {

std::unique_ptr<Engine> make_bullet_engine(const EngineSettings& settings);

}  // namespace volvox::physics
