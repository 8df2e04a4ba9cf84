#pragma once

#include "volvox/model/module_model.h"

namespace volvox::model {

// Makes a dock an elongated one: it moves out by `extension`, on a bar from where it was to where it is then, which
// adds to the shape, the mass and the inertia of its link.
void elongate(ModuleModel& model, std::size_t dock, double extension, double mass, double radius);

}  // namespace volvox::model
