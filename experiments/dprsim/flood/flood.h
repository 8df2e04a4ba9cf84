#pragma once

#include <memory>

#include "volvox/lattice/catom_world.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::dprsim {

// Seed 001, section III: a wave floods an ensemble of catoms with holes, over DPRSim's ideal links. One tick of the run
// is one of DPRSim's. The catoms are no modules of the run's own world, which is empty.
class Flood final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void before_tick(sim::Simulation&) override;
  void shutdown(const sim::Simulation&, sim::Metrics& metrics) override;
  Result<void> write(const std::filesystem::path& folder) const override;
  void archive_state(Archive& ar) override;
  bool state_is_hashed() const override { return true; }

 private:
  struct Expected {  // by the theory of graphs
    std::uint64_t catoms = 0, links = 0;
    std::uint32_t farthest = 0;
  };
  Expected expected() const;

  std::unique_ptr<lattice::CatomWorld> world_;
  std::uint32_t source_ = 0;
  std::vector<std::uint64_t> reached_;  // catoms, after each tick
};

}  // namespace volvox::experiments::dprsim
