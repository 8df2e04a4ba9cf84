// Mass (kg), centre of mass (m) and inertia (kg m^2) of bodies that are composed of parts.
// Pure functions.
#pragma once

#include "volvox/base/math.h"
#include "volvox/model/module_model.h"
#include "volvox/model/shape.h"

namespace volvox::model {

struct MassProperties {
  double mass = 0;
  Vec3 center;      // of mass, in the frame of the body
  Inertia inertia;  // about the centre of mass, along the axes of that frame
};

// Of a solid of uniform density. A hull counts as its bounding box; planes, meshes and height
// fields get zero inertia.
MassProperties solid(const Shape& shape, double mass);

MassProperties placed(const MassProperties& part, const Pose& pose);
MassProperties sum(const MassProperties& a, const MassProperties& b);

MassProperties mass_properties(const Link& link);
void set_mass_properties(Link& link, const MassProperties& properties);

// Whether a body can have these moments: they are positive, and none is larger than the sum of the other two.
bool is_physical(const Vec3& principal_moments);

}  // namespace volvox::model
