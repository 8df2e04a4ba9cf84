// What rays meet of the world's water, grains and cloth: balls, as wide as leaves no gaps between neighbours. A ray
// that starts within the fluid, less than its spacing from a particle, sees through it: a sensor under water would see
// nothing else.
#pragma once

#include "volvox/exchange/sight.h"

namespace volvox::exchange {

// Shortens hits to particles that are nearer. Their body is the number of links plus that of the particle
// (world/matter.h). Deterministic at any number of threads.
void cast_at_particles(const world::World& world, std::span<const Ray> rays, std::span<RayHit> hits,
                       ThreadPool* threads = nullptr);

inline bool is_particle(const world::World& world, const RayHit& hit) { return hit.body >= world.links(); }
model::Color color_of_particle(const world::World& world, const RayHit& hit);

}  // namespace volvox::exchange
