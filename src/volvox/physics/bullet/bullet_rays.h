// Rays through Bullet's broad phase, with the closed forms of ray_shapes.h for solids (Bullet's
// own convex cast stops at 1e-4) and Bullet's trees for meshes and height fields.
#pragma once

#include <btBulletDynamicsCommon.h>

#include "volvox/physics/engine.h"

namespace volvox::physics::bullet {

RayHit cast_ray(const btCollisionWorld& world, const Ray& ray);

}  // namespace volvox::physics::bullet
