#pragma once

#include "../catom_experiment.h"
#include "volvox/meld/meld_modules.h"

namespace volvox::experiments::dprsim {

// A program in Meld on all catoms of a lattice world (`volvox run FILE.meld`).
class Meld final : public SharedCatomExperiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void before_tick(sim::Simulation&) override;
  void shutdown(const sim::Simulation&, sim::Metrics& metrics) override;
  Result<void> write(const std::filesystem::path& folder) const override;
  void archive_state(Archive& ar) override;
  sim::CloudLook cloud_look() const override;
  bool cloud_tap(std::uint32_t catom) override;

 protected:
  std::array<std::uint8_t, 3> color(std::uint32_t catom) const override;

 private:
  struct Tap {
    double time = 0;  // s
    std::uint32_t catom = 0;
  };
  Result<void> read_taps(const std::string& text);
  std::vector<std::uint32_t> colors() const;  // by catom; on ranks other than the first, none
  std::string picture(const std::vector<std::uint32_t>& colors) const;

  meld::MeldModules* modules_ = nullptr;  // the world's
  std::vector<Tap> taps_;
  std::int64_t last_change_ = 0;  // the tick after which nothing was on its way
};

}  // namespace volvox::experiments::dprsim
