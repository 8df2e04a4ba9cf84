// Elongated docks: a dock at the end of a bar. Lengths in m, mass in kg.
// Changes a model that is still being built: one that is shared is never changed.
// One thread; deterministic.
#pragma once

#include "volvox/model/module_model.h"

namespace volvox::model {

// Moves a dock outwards by `extension` along its x axis. A bar joins its old and new place and adds to the colliders,
// visuals, mass and inertia of its link.
void elongate(ModuleModel& model, std::size_t dock, double extension, double mass, double radius);

}  // namespace volvox::model
