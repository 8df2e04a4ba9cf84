// Roles that control self-reconfiguration, the outlook of seed 004 (section 6): a chain of ten CONROs becomes a
// quadruped with a tail and a chain again. Modules dock and undock themselves; they use neither ids nor global state.
//
// Only the root of a tree of CONROs has a free female dock, so only the root can take another place: the chain curls up
// on the ground until the root's s meets the side of a module farther on, the root lets go of its child and is a leg,
// and its child is the new root. With yaws of 55 degrees such a loop needs seven modules. Four moves, of loops of
// eight, seven, eight and seven modules, make four legs; three modules are left as a tail. The way back is the same in
// reverse. A leg feels by its accelerometer whether the robot lies on its back ("over"), and then moves the other way
// up.
#pragma once

#include <array>
#include <vector>

#include "volvox/mind/roles.h"

namespace volvox::robots {

constexpr int shape_modules = 10;

// A closed loop of modules: by place in the loop, the yaw to the east, in degrees. The first module is the one that
// moves; its s is at dock e of the last one and its n at s of the second.
struct ShapeLoop {
  std::vector<double> closed;  // both docks of the first module meet their partners
  std::vector<double> ahead;   // its s is 30 mm away from the side of the last one
  std::vector<double> behind;  // its n is away from s of the second: by 30 mm (eight modules) or 20 mm (seven)
};
const ShapeLoop& shape_loop(int move);  // of the moves 0 to 3

struct ShapeTimes {  // s
  double wind = 12;  // as a sidewinder, before it changes
  double walk = 30;  // as a quadruped, before it changes back
};

// Roles: rest, sw (winds), then for the moves k = 0 to 3 "straight k", "fold k", "close k", "part k", and for the leg
// "release", "tuck"; "stand", "tail", "sp", "waist", "down", "eleg", "wleg" (walks), "halt"; and for k = 3 to 0
// "refold k", "reclose k", "rejoin k", "restraight k", and for the leg "lie k", "let go k"; then sw again.
mind::RoleBook shape_roles(const ShapeTimes& times = {});

}  // namespace volvox::robots
