#pragma once

#include "../travel.h"

namespace volvox::experiments::remod3d {

// The ReMod3D paper, figure 1(g) and section IV.E: a snake crosses hills made from a grayscale image, with loose
// obstacles of all shapes, which it climbs over and pushes away.
class Terrain final : public Travel {
 public:
  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 private:
  double crossed_at_ = -1;       // s, when the whole snake had passed the crest; -1: not yet
  double below_ = 0;             // m, largest depth of any link's origin below the surface
  int wet_ = 0;                  // most links of the snake that were wet at one time
  std::vector<Vec3> obstacles_;  // their positions at the start, in the order of placements
};

}  // namespace volvox::experiments::remod3d
