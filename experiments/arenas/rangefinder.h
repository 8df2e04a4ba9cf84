#pragma once

#include <memory>

#include "pit.h"
#include "volvox/rays/ray_caster.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::arenas {

// The Symbrion paper, section 3.2 and table 3: a laser rangefinder with 360 rays, in arenas of few and of many
// triangles. A pair of Scouts carries it in a circle beside the pit.
class Rangefinder final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path& folder) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  std::string camera() const override { return overview; }
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  std::string arena_;
  std::size_t triangles_ = 0;
  std::unique_ptr<rays::RayCaster> truth_;  // the arena as it really is
  // Over all rays: how far a reading is from what the true arena would give.
  double error_sum_ = 0, error_max_ = 0;
  std::int64_t rays_ = 0, returned_ = 0;
  double nearest_ = 1e9;  // m
};

}  // namespace volvox::experiments::arenas
