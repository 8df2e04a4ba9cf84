// Ray casting against the world's water, grains and cloth. Particles are balls, wide enough to leave no gaps between
// neighbours. A ray that starts in the fluid (nearer to a particle than the spacing) ignores the fluid: a sensor under
// water would see nothing else.
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
