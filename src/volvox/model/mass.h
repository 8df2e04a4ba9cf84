// Mass, centre of mass and inertia of bodies put together from parts.
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

// Of a solid of even density. A hull counts as the box around it; planes, meshes and height
// fields have no mass properties and come back with zero inertia.
MassProperties solid(const Shape& shape, double mass);

MassProperties placed(const MassProperties& part, const Pose& pose);
MassProperties sum(const MassProperties& a, const MassProperties& b);

MassProperties mass_properties(const Link& link);
void set_mass_properties(Link& link, const MassProperties& properties);

// Whether the moments can be those of any body: positive, none larger than the other two together.
bool is_physical(const Vec3& principal_moments);

}  // namespace volvox::model
