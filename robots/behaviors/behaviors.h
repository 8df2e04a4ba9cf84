// The behaviours that come with Volvox. Each can be named in SDF: <volvox:mind behavior="snake">.
#pragma once

#include "volvox/mind/behavior.h"

namespace volvox::robots {

void register_behaviors(mind::BehaviorRegistry& registry);

}  // namespace volvox::robots
