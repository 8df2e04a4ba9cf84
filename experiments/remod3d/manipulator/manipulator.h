#pragma once

#include "arm.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {

// The ReMod3D paper, figure 1(d) and section IV.C: three SuperBots with elongated docks form an arm of nine joints on a
// base. Its tip moves to random poses by inverse kinematics.
class Manipulator final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path& folder) const override;
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  struct Miss {                      // distance of the tip from a target at the end of its time
    double distance = 0, angle = 0;  // m, rad
    template <class A>
    void archive(A& ar) {
      ar("distance", distance);
      ar("angle", angle);
    }
  };

  std::shared_ptr<const robots::ArmMission> mission_;
  world::DockIndex tip_ = 0;
  std::size_t first_ = 0;  // the agent at the base
  int target_ = -1;
  Miss now_;  // of the present target
  std::vector<Miss> misses_;
  std::int64_t solved_ = 0;
};

}  // namespace volvox::experiments::remod3d
