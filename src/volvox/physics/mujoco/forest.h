// The kinematic trees of a system: in MuJoCo a body moves relative to its parent, by their joint. Joints that close a
// loop are not in a tree, nor are docks that are still open.
// Owns its lists and keeps no reference to the system. They depend on the ids of bodies and joints only: deterministic.
#pragma once

#include <vector>

#include "volvox/physics/system.h"

namespace volvox::physics::mujoco {

struct Forest {
  static constexpr int world = -1;

  explicit Forest(const System& system);

  // By body index.
  std::vector<int> parent;             // a body, or the world
  std::vector<int> joint;              // the joint that leads to the parent; -1: free, or it does not move
  std::vector<std::uint8_t> reversed;  // the body is the joint's a
  std::vector<std::vector<int>> children;
  std::vector<int> roots;  // children of the world
  std::vector<int> loops;  // joints that close a loop

 private:
  void take_joints(const System& system);
  void grow(const System& system, int root);
  int middle_of_tree(int start) const;

  struct Edge {
    int other, joint;
    bool towards_b;  // `other` is the joint's b
  };
  std::vector<std::vector<Edge>> edges_;  // by body index
  std::vector<std::uint8_t> placed_;      // by body index
};

}  // namespace volvox::physics::mujoco
