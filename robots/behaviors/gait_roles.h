// The roles of seed 004 (section 4), with its slips mended (docs/decisions/0040), and of the caterpillar
// that it quotes. Every module of a robot runs the same book.
#pragma once

#include "volvox/mind/roles.h"

namespace volvox::robots {

// sw, sp, eleg and wleg for CONRO: a chain winds sideways, a body with legs walks.
mind::RoleBook conro_roles();

// A wave of one joint that travels along a chain, for any robot: `child` of one holds `parent` of the next.
// The joints in `held` keep the chain straight.
mind::RoleBook caterpillar_roles(const std::string& parent, const std::string& child, const std::string& joint,
                                 const std::vector<std::string>& held);
mind::RoleBook conro_caterpillar();
mind::RoleBook superbot_caterpillar();

// Section 2.2's arm of five for CONRO: shoulder, upper arm, elbow, lower arm and wrist, told apart by
// induction from the root, which stands alone or in a base's dock `socket`.
mind::RoleBook arm_roles();

}  // namespace volvox::robots
