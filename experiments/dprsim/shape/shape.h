#pragma once

#include "../catom_experiment.h"
#include "volvox/lattice/programs/self_assembly.h"

namespace volvox::experiments::dprsim {

// A heap of catoms becomes a given shape by the self-assembly of Rubenstein, Cornejo and Nagpal (Science 345, 2014), by
// rolling on a hexagonal lattice. Chance makes the heap, and decides between catoms that are in each other's way.
class Shape final : public SharedCatomExperiment {
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
  Result<lattice::TargetShape> read_shape(sim::Setup& setup) const;
  std::uint64_t filled() const;  // cells of the shape that have a catom which stays

  lattice::TargetShape shape_;
  std::vector<std::uint64_t> filled_;  // after each tick
};

}  // namespace volvox::experiments::dprsim
