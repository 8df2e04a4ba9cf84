// The highest loads of docks in a run, per axis and relative to the docks' strength. They validate a gait before it is
// tried on hardware (seed 000, section IV.F).
// SI units. Snapshots keep it. For the thread of the loop; deterministic.
#pragma once

#include <span>
#include <string>

#include "volvox/world/world.h"

namespace volvox::sim {

class LoadPeaks {
 public:
  void observe(const world::World& world, std::span<const world::DockEvent> events, double time);  // after each tick

  const world::DockLoad& highest() const { return highest_; }  // N and N m, each over all docks and ticks
  double utilisation() const { return utilisation_; }          // load / strength; a dock breaks at 1
  std::string where(const world::World& world) const;          // "s3.front at 4.2 s"; empty: no load yet

  template <class A>
  void archive(A& ar) {
    ar("axial", highest_.axial);
    ar("shear", highest_.shear);
    ar("bending", highest_.bending);
    ar("torsion", highest_.torsion);
    ar("utilisation", utilisation_);
    ar("dock", dock_);
    ar("time", time_);
  }

 private:
  void take(const world::World& world, world::DockIndex dock, world::DockIndex partner, const world::DockLoad& load,
            double time);

  world::DockLoad highest_;
  double utilisation_ = 0;
  world::DockIndex dock_ = 0;  // with the highest utilisation
  double time_ = 0;            // s
};

}  // namespace volvox::sim
