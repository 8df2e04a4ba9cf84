#pragma once

#include "gait_roles.h"
#include "roles/gait.h"

namespace volvox::experiments::roles {

// The role-based control paper, section 5 and figure 6: 63 cm in 12.3 s.
class Sidewinder final : public Gait {
 public:
  Sidewinder() : Gait(robots::conro_roles(), {0.63, 12.3, 0.051, true, "role-based control paper, figure 6"}) {}
};

}  // namespace volvox::experiments::roles
