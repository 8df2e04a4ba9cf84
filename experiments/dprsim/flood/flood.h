#pragma once

#include <optional>

#include "../catom_experiment.h"

namespace volvox::experiments::dprsim {

// Seed 001, section III: a wave floods an ensemble of catoms with holes, over DPRSim's ideal links.
class Flood final : public SharedCatomExperiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void before_tick(sim::Simulation&) override;
  void shutdown(const sim::Simulation&, sim::Metrics& metrics) override;
  Result<void> write(const std::filesystem::path& folder) const override;
  void archive_state(Archive& ar) override;

 protected:
  std::array<std::uint8_t, 3> color(std::uint32_t catom) const override;

 private:
  struct Expected {  // by the theory of graphs
    std::uint64_t catoms = 0, links = 0;
    std::uint32_t farthest = 0;
  };
  Expected expected() const;

  std::uint32_t source_ = 0;
  mutable std::optional<std::uint32_t> farthest_;  // once somebody looks
  std::vector<std::uint64_t> reached_;             // catoms, after each tick
};

}  // namespace volvox::experiments::dprsim
