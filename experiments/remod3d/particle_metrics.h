#pragma once

#include "travel.h"
#include "volvox/world/matter.h"

namespace volvox::experiments::remod3d {

// What experiments with water, rubble and cloth measure, beside how far their robots move. SI units.
class WithParticles : public Travel {
 public:
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 protected:
  static const world::Matter& matter(const sim::Simulation& simulation);

 private:
  double error_sum_ = 0;  // of densities
  std::int64_t errors_ = 0;
};

// Figure 7: a dam of 40,000 particles breaks over modules. When its front reaches the far wall, and how high it
// splashes.
class FluidDam final : public WithParticles {
 public:
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  double arrived_at_ = -1;  // s; -1: not yet
  double splash_ = 0;       // m, the highest particle
};

// A snake crawls through rubble: what it pushes aside.
class Rubble final : public WithParticles {
 public:
  void begin(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  std::vector<Vec3> start_;  // by id
};

// A Wheelbot pushes through a curtain, and a net catches a SuperBot.
class ClothScene final : public WithParticles {
 public:
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  double passed_at_ = -1;  // s, when all of the Wheelbot is behind the curtain; -1: not yet
  double lowest_ = 1e300;  // m, of the caught module's centre
};

// A snake of SuperBots in a tank: whether it floats, and how fast it swims. Its modules get the mean density that the
// parameter `density` says; 0: their own.
class Swim final : public WithParticles {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  Vec3 begun_;            // centre of mass when the wave has its full height
  Vec3 thrust_;           // N s, from the water since then, without weight
  double submerged_ = 0;  // mean over the links, by volume, summed over the last second
  std::int64_t samples_ = 0;
};

}  // namespace volvox::experiments::remod3d
