#pragma once

#include <vector>

#include "../catom_experiment.h"

namespace volvox::experiments::dprsim {

// Every catom of an ensemble with holes learns how many links it is from the nearest of some sources, by messages
// alone.
class Gradient final : public SharedCatomExperiment {
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
  std::vector<std::uint32_t> distances(const std::vector<std::uint32_t>& sources) const;  // by the theory of graphs

  mutable std::uint32_t farthest_ = 0;  // once somebody looks
  std::vector<std::uint64_t> right_;    // catoms that know their distance, after each tick
  std::vector<std::uint32_t> expected_;
};

}  // namespace volvox::experiments::dprsim
