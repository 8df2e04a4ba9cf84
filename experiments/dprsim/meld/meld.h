#pragma once

#include <memory>

#include "volvox/meld/meld_modules.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::dprsim {

// A program in Meld on all catoms of a lattice world (`volvox run FILE.meld`). One tick of the run is one of DPRSim's.
// The catoms are no modules of the run's own world, which is empty.
class Meld final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void before_tick(sim::Simulation&) override;
  void shutdown(const sim::Simulation&, sim::Metrics& metrics) override;
  Result<void> write(const std::filesystem::path& folder) const override;
  void archive_state(Archive& ar) override;
  bool state_is_hashed() const override { return true; }

 private:
  struct Tap {
    double time = 0;  // s
    std::uint32_t catom = 0;
  };
  Result<void> read_taps(const std::string& text);
  std::string picture() const;

  std::unique_ptr<ThreadPool> threads_;
  std::unique_ptr<lattice::CatomWorld> world_;
  meld::MeldModules* modules_ = nullptr;  // the world's
  std::vector<Tap> taps_;
  std::int64_t last_change_ = 0;         // the tick after which nothing was on its way
  std::vector<std::uint64_t> messages_;  // delivered, after each tick
};

}  // namespace volvox::experiments::dprsim
