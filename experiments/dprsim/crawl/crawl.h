#pragma once

#include "../catom_experiment.h"
#include "volvox/lattice/programs/crawler.h"

namespace volvox::experiments::dprsim {

// Some catoms of a box crawl over its surface at random, by any motion that its lattice has: rolling, sliding,
// pivoting. Nothing may be cut off, and nobody may be in two places.
class Crawl final : public SharedCatomExperiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void before_tick(sim::Simulation&) override;
  void shutdown(const sim::Simulation&, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 protected:
  std::array<std::uint8_t, 3> color(std::uint32_t catom) const override;

 private:
  std::vector<lattice::Cell> begun_;  // by catom
  std::vector<bool> crawlers_;        // likewise
  std::uint64_t on_the_way_ = 0;      // the most at once
};

}  // namespace volvox::experiments::dprsim
