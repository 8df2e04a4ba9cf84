// Rays against shapes serve the engines and the sensors' ray caster alike: they live in model/.
#pragma once

#include "volvox/model/ray_shapes.h"

namespace volvox::physics {

using model::hull_faces;
using model::HullFace;
using model::RayGeometry;
using model::ShapeHit;

}  // namespace volvox::physics
