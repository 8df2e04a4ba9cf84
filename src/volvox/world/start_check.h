// Warnings about a world before its first tick: what its author has probably not intended. Bodies that overlap, and
// moments of inertia that are impossible for the mass and size of the body.
// Only reads the world, in the thread that calls it. The same world gives the same lines.
#pragma once

#include <string>
#include <vector>

#include "volvox/world/world.h"

namespace volvox::world {

// One line for each kind, with names, figures and what to do. Costs as much as one detection of contacts.
std::vector<std::string> start_warnings(const World& world);

// What this world has and its engine leaves out: friction of flush faces by their load, jaws that slide. `before`: an
// engine that moved it until now; what that left out, too, is no news. Null: there was none.
std::vector<std::string> left_out(const World& world, const physics::EngineInfo* before = nullptr);

}  // namespace volvox::world
