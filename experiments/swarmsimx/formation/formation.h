#pragma once

#include "volvox/sim/experiment.h"
#include "volvox/sim/tick_times.h"

namespace volvox::experiments::swarmsimx {

// The SwarmSimX paper, section 3.2 and figure 5: quadrotors keep a formation on a sphere among pillars; the time of a
// tick is measured against their number. The world is built in C++ because the sphere's radius depends on that number.
class Formation final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void before_tick(sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  Result<void> write(const std::filesystem::path& folder) const override;
  void archive_state(Archive& ar) override;
  const sim::TimeDistribution& tick_times() const { return tick_times_; }

 private:
  struct Pillar {
    double x = 0, y = 0;
  };
  static constexpr double pillar_radius = 0.4;  // m

  std::vector<Pillar> pillars_;
  static constexpr double farthest = 1e9;                     // m: not measured yet
  double min_distance_ = farthest, min_obstacle_ = farthest;  // m, over the run
  double sphere_error_ = 0;                                   // m, mean over the robots in the last tick

  // Wall-clock times are not part of the state and are not saved.
  double tick_begin_ = 0, backlog_ = 0;  // s
  sim::TimeDistribution tick_times_;
  std::int64_t late_ticks_ = 0;
};

}  // namespace volvox::experiments::swarmsimx
