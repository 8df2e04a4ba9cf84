#pragma once

#include <optional>

#include "docks.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {

inline constexpr double toppled = radians(45);  // a rolling track that tilts by more lies on its side

// Measures how far and how upright one robot of a world.sdf moves. Experiments about locomotion use or extend it. SI
// units, world frame; obstacles do not count.
class Travel : public sim::Experiment {
 public:
  void begin(const sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 protected:
  static Vec3 centre_of_modules(const world::World& world);
  static std::optional<double> phase_spread(const sim::Simulation& simulation);

 private:
  Vec3 start_;                              // the modules' centre of mass at the start
  double height_sum_ = 0, lowest_ = 1e300;  // m, of the centre of mass, over all ticks
  std::int64_t ticks_ = 0;
  DockErrors dock_errors_;
};

}  // namespace volvox::experiments::remod3d
