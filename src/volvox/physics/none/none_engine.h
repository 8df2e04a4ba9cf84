// Engine `none`: holds bodies and joints and moves only what set_body places. For network studies and lattices, where
// the positions of bodies matter and their dynamics do not.
// Units, frames, threads and determinism as in physics/engine.h; it uses one thread.
#pragma once

#include <memory>

#include "volvox/physics/engine.h"

namespace volvox::physics {

std::unique_ptr<Engine> make_none_engine(const EngineSettings& settings);

}  // namespace volvox::physics
