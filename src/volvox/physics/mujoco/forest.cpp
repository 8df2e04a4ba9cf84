#include "volvox/physics/mujoco/forest.h"

#include <algorithm>
#include <numeric>

#include "volvox/base/index.h"

namespace volvox::physics::mujoco {
namespace {

// Joints with motors, limits or free axes must be in a tree; rigid joints can close a loop.
int rank(JointType type) {
  switch (type) {
    case JointType::prismatic: return 0;
    case JointType::revolute: return 1;
    case JointType::ball: return 2;
    case JointType::fixed: return 3;
    case JointType::dock: return 4;
  }
  return 4;
}

}  // namespace

Forest::Forest(const System& system) {
  const int count = narrow<int>(system.bodies.size());
  parent.assign(count, world), joint.assign(count, -1), reversed.assign(count, 0);
  children.resize(count), edges_.resize(count), placed_.assign(count, 0);
  take_joints(system);
  const auto alone = [&](int i) { return system.body_ids.alive_index(i) && !placed_[i]; };
  // Fixed and kinematic bodies become roots first: other bodies hang on them.
  for (int i = 0; i < count; ++i) {
    if (alone(i) && system.bodies[i].motion != Motion::dynamic) grow(system, i);
  }
  for (int i = 0; i < count; ++i) {  // and on the world itself
    for (const Edge& edge : edges_[i]) {
      if (edge.other != world || !alone(i)) continue;
      joint[i] = edge.joint;
      grow(system, i);
    }
  }
  for (int i = 0; i < count; ++i) {
    if (alone(i)) grow(system, middle_of_tree(i));
  }
}

// Kruskal's algorithm; the world and all bodies that are not dynamic are one node.
void Forest::take_joints(const System& system) {
  const std::size_t count = system.bodies.size();
  std::vector<std::size_t> group(count + 1);
  std::iota(group.begin(), group.end(), std::size_t{0});
  const auto find = [&](std::size_t i) {
    while (group[i] != i) i = group[i] = group[group[i]];
    return i;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (system.body_ids.alive_index(i) && system.bodies[i].motion != Motion::dynamic) group[find(i)] = find(count);
  }
  std::vector<int> order;
  for (int i = 0; i < narrow<int>(system.joint_descs.size()); ++i) {
    if (!system.joint_ids.alive_index(i)) continue;
    if (system.joint_descs[i].type != JointType::dock || system.latches[i].closed()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int x, int y) { return rank(system.joint_descs[x].type) < rank(system.joint_descs[y].type); });
  for (const int index : order) {
    const JointDesc& desc = system.joint_descs[index];
    const std::size_t a = desc.a.valid() ? find(desc.a.index) : find(count), b = find(desc.b.index);
    if (a == b) {
      const bool still = !system.moves(desc.a) && !system.moves(desc.b);
      if (!still) loops.push_back(index);
      continue;
    }
    group[b] = a;
    const int to_a = desc.a.valid() ? narrow<int>(desc.a.index) : world, to_b = narrow<int>(desc.b.index);
    edges_[desc.b.index].push_back({to_a, index, false});
    if (to_a != world) edges_[desc.a.index].push_back({to_b, index, true});
  }
}

void Forest::grow(const System& system, int root) {
  roots.push_back(root);
  placed_[root] = 1;
  std::vector<int> open{root};
  for (std::size_t at = 0; at < open.size(); ++at) {
    const int body = open[at];
    for (const Edge& edge : edges_[body]) {
      if (edge.other == world || edge.joint == joint[body]) continue;
      const std::size_t other = edge.other;
      if (system.bodies[other].motion != Motion::dynamic) continue;  // a root of its own
      placed_[other] = 1;
      parent[other] = body;
      joint[other] = edge.joint;
      reversed[other] = !edge.towards_b;
      children[body].push_back(edge.other);
      open.push_back(edge.other);
    }
  }
}

// Half way along the longest path, so that bodies are nested as little as possible: MuJoCo's reader has a limit.
int Forest::middle_of_tree(int start) const {
  std::vector<int> before(edges_.size(), -2);
  const auto farthest = [&](int from) {
    std::fill(before.begin(), before.end(), -2);
    std::vector<int> open{from};
    before[from] = -1;
    for (std::size_t at = 0; at < open.size(); ++at) {
      for (const Edge& edge : edges_[open[at]]) {
        if (edge.other == world || before[edge.other] != -2) continue;
        before[edge.other] = open[at];
        open.push_back(edge.other);
      }
    }
    return open.back();
  };
  const int end = farthest(farthest(start));
  std::vector<int> path;
  for (int body = end; body != -1; body = before[body]) path.push_back(body);
  return path[path.size() / 2];
}

}  // namespace volvox::physics::mujoco
