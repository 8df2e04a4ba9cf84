// The roles of seed 004 (section 4), with its mistakes corrected (docs/decisions/0040), and the roles of the
// caterpillar that it cites. All modules of a robot run the same set of roles.
#pragma once

#include "volvox/mind/roles.h"

namespace volvox::robots {

// The roles sw, sp, eleg and wleg for CONRO: a chain sidewinds, a body with legs walks.
mind::RoleBook conro_roles();

// A travelling wave of one joint along a chain, for any robot: dock `child` of one module holds dock `parent` of the
// next. The joints in `held` stay at zero.
mind::RoleBook caterpillar_roles(const std::string& parent, const std::string& child, const std::string& joint,
                                 const std::vector<std::string>& held);
mind::RoleBook conro_caterpillar();
mind::RoleBook superbot_caterpillar();

// The arm of five CONROs of section 2.2: shoulder, upper arm, elbow, lower arm and wrist. Modules find their roles by
// induction from the root, whose parent dock is free or held by a base's dock `socket`.
mind::RoleBook arm_roles();

}  // namespace volvox::robots
