// Quantities of the whole world: what physics conserves and what experiments report. In the world frame, SI units.
// Only read the world. Sums are taken in the order of the links, so that they have the same bits at any number of
// threads; links that are fixed in place do not count.
#pragma once

#include "volvox/world/world.h"

namespace volvox::world {

Vec3 centre_of_mass(const World& world);  // m, of all links that can move
Vec3 centre_of_mass(const World& world, PlacementIndex placement);
Vec3 momentum(const World& world);                             // kg m/s
Vec3 angular_momentum(const World& world, const Vec3& about);  // kg m^2/s
double kinetic_energy(const World& world);                     // J
double highest_link(const World& world);                       // m, the centre of mass of the highest link of a module

}  // namespace volvox::world
