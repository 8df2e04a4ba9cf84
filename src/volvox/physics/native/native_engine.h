// Units, frames, threads and determinism: physics/engine.h.
#pragma once

#include "volvox/physics/engine.h"

namespace volvox::physics {

// Volvox's own engine: joints and docks solved directly, contacts by an exact sweep. See
// native/README.md and docs/decisions/0010-native-engine.md.
std::unique_ptr<Engine> make_native_engine(const EngineSettings& settings);

}  // namespace volvox::physics
