// How an arm of modules that lie on the ground finds its postures (grow.h): one from which it looks around, one from
// which it approaches a module that it sees, and a way there on which it touches neither itself, nor its base, nor that
// module. All is planar: the axes of the arm's joints are vertical. SI units, in the frame of the base, whose dock is
// at the origin and points along x.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "volvox/model/kinematics.h"

namespace volvox::robots {

using Posture = std::vector<double>;  // rad, of all joints

// A module that lies on the ground, as its dock shows it.
struct SeenModule {
  Vec3 tail;             // m, the joint behind its back dock
  Vec3 facing{1, 0, 0};  // a unit vector out of that dock
  template <class A>
  void archive(A& ar) {
    ar("tail", tail);
    ar("facing", facing);
  }
};

// The kinematics of the arm for each number of modules, beginning with one.
struct GrowPlan {
  // m, gap between the docks in the steps of an approach.
  static constexpr std::array gaps = {0.050, 0.040, 0.030, 0.022, 0.015, 0.010, 0.005, 0.0, -0.002};
  struct Reach {
    model::Chain dock;                   // to the dock at the tip
    std::vector<model::Chain> approach;  // to the tail joint of the next module, one for each gap
  };
  std::vector<Reach> reaches;
  double tail_length = 0.042;  // m, from a module's back (or front) dock to its next joint
};

struct Approach {
  int step = 0;  // of the approach, at its start
  std::vector<Posture> way;
};

// The pose for the tip of an approach: at the tail joint, and facing the dock.
Pose facing_pose(const model::Chain& chain, const Posture& now, const SeenModule& module);

// A posture from which the approach can begin, and the way there; nothing if none was found. `aligned`: the tip shall
// also point at the dock, for which an arm of one module has too few joints.
std::optional<Approach> find_approach(const GrowPlan& plan, const GrowPlan::Reach& reach, const Posture& now,
                                      const SeenModule& module, bool aligned, RandomStream& random);

// The way to a posture that keeps near the base and looks outwards in the direction `azimuth` (rad).
std::vector<Posture> find_view(const GrowPlan::Reach& reach, const Posture& now, double azimuth, RandomStream& random);

}  // namespace volvox::robots
