#pragma once

#include "arm.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {

// Seed 000, figure 1(d) and section IV.C: three SuperBots with elongated docks on a base, an arm of nine joints whose
// tip goes to random poses by inverse kinematics.
class Manipulator final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path& folder) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  struct Miss {                      // how far the tip was from a target when its time was over
    double distance = 0, angle = 0;  // m, rad
    template <class A>
    void archive(A& ar) {
      ar("distance", distance);
      ar("angle", angle);
    }
  };

  std::shared_ptr<const robots::ArmMission> mission_;
  std::uint32_t tip_ = 0;  // dock
  std::size_t first_ = 0;  // agent on the base
  int target_ = -1;
  Miss now_;  // at present
  std::vector<Miss> misses_;
  std::int64_t solved_ = 0;
};

}  // namespace volvox::experiments::remod3d
