// What is probably not meant, in a world before its first tick: bodies that overlap, moments of inertia that no body of
// its mass and size can have.
// Only reads the world, in the thread that calls it. The same world gives the same lines.
#pragma once

#include <string>
#include <vector>

#include "volvox/world/world.h"

namespace volvox::world {

// One line for each kind, with names, figures and what to do. Costs as much as one detection of contacts.
std::vector<std::string> start_warnings(const World& world);

// What this world has and its engine leaves out: friction of flush faces by their load, jaws that slide.
std::vector<std::string> left_out(const World& world);

}  // namespace volvox::world
