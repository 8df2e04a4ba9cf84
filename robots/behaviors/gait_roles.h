// The roles of seed 004 (section 4), with its mistakes corrected (docs/decisions/0040), and the roles of the
// caterpillar that it cites. All modules of a robot run the same set of roles.
#pragma once

#include "volvox/mind/roles.h"

namespace volvox::robots {

// The roles sw, sp, eleg and wleg for CONRO: a chain sidewinds, a body with legs walks.
mind::RoleBook conro_roles();

// The same, and roles that change by a sensor and by time (section 6): a quadruped walks until the infra-red sensor in
// front sees an obstacle nearer than `near` metres, then backwards ("sp back", "eleg back", "wleg back") for `back`
// seconds, then forwards again. The module in front decides; the others hear it from their neighbours.
mind::RoleBook shuttle_roles(double near = 0.12, double back = 12);

// A travelling wave of one joint along a chain, for any robot: dock `child` of one module holds dock `parent` of the
// next. The joints in `held` stay at zero.
mind::RoleBook caterpillar_roles(const std::string& parent, const std::string& child, const std::string& joint,
                                 const std::vector<std::string>& held);
mind::RoleBook conro_caterpillar();
mind::RoleBook superbot_caterpillar();

// The arm of five CONROs of section 2.2: shoulder, upper arm, elbow, lower arm and wrist. Modules find their roles by
// induction from the root, whose parent dock is free or held by a base that says nothing.
mind::RoleBook arm_roles();

}  // namespace volvox::robots
