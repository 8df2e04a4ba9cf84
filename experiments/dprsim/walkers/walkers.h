#pragma once

#include "../catom_experiment.h"
#include "volvox/lattice/programs/walker.h"

namespace volvox::experiments::dprsim {

// Seed 001, section V.A and figure 9: groups of catoms announce themselves by radio, walk to their barycentre and meet
// there; isolated catoms, which cannot move, call and are rescued. With an ideal radio, on a hexagonal lattice, or with
// `magnets` in dynamics, where the same program walks by switching magnets alone.
class Walkers final : public CatomExperiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void before_tick(sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation&, sim::Metrics& metrics) override;
  Result<void> write(const std::filesystem::path& folder) const override;
  void archive_state(Archive& ar) override;

 protected:
  std::array<std::uint8_t, 3> color(std::uint32_t catom) const override;

 private:
  Result<void> put_into_dynamics(const sim::Setup& setup);

  std::uint32_t first_isolated_ = 0;   // their numbers are the highest
  Vec3 begun_at_;                      // the barycentre of all catoms, in m
  std::vector<std::uint32_t> pieces_;  // every tenth tick
  std::int64_t met_ = -1;              // ticks
};

}  // namespace volvox::experiments::dprsim
