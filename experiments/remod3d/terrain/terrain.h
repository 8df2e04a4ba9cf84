#pragma once

#include "../travel.h"

namespace volvox::experiments::remod3d {

// Seed 000, figure 1(g) and section IV.E: a snake crosses hills from a gray picture, strewn with loose
// obstacles of all shapes, which it climbs over and pushes about.
class Terrain final : public Travel {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  double crossed_at_ = -1;       // s, when all of the snake had passed the middle; -1: not yet
  double below_ = 0;             // m, by which any link's centre went below the surface
  std::vector<Vec3> obstacles_;  // where they lay, in the order of the world
};

}  // namespace volvox::experiments::remod3d
