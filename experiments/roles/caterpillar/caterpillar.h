#pragma once

#include "roles/gait.h"

namespace volvox::experiments::roles {

// The caterpillar that the role-based control paper quotes (section 2.1): the same role program on two robots.
class Caterpillar final : public Gait {
 public:
  Caterpillar() : Gait({}, {}) {}
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;

 protected:
  Result<model::WorldModel> make_world(sim::Setup& setup) override;
};

}  // namespace volvox::experiments::roles
