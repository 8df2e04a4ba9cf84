// Engine `none`: keeps everything and moves nothing but what set_body places. For network
// studies and lattices, where the bodies' places matter and their motion does not.
#pragma once

#include <memory>

#include "volvox/physics/engine.h"

namespace volvox::physics {

std::unique_ptr<Engine> make_none_engine(const EngineSettings& settings);

}  // namespace volvox::physics
