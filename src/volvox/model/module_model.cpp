#include "volvox/model/module_model.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/check.h"

namespace volvox::model {
namespace {

template <class T>
int index_by_name(const std::vector<T>& items, const std::string& name) {
  for (int i = 0; i < std::ssize(items); ++i) {
    if (items[i].name == name) return i;
  }
  return -1;
}

Pose joint_motion(const Joint& joint, double position) {
  switch (joint.type) {
    case JointType::revolute: return {{}, Quat::axis_angle({0, 0, 1}, position)};
    case JointType::prismatic: return {{0, 0, position}, {}};
    case JointType::fixed:
    case JointType::ball: break;
  }
  return {};
}

}  // namespace

int ModuleModel::link_index(const std::string& wanted) const { return index_by_name(links, wanted); }
int ModuleModel::joint_index(const std::string& wanted) const { return index_by_name(joints, wanted); }
int ModuleModel::dock_index(const std::string& wanted) const { return index_by_name(docks, wanted); }

const Wire* ModuleModel::wire_of(int dock) const {
  for (const Wire& wire : wires)
    if (wire.dock == dock) return &wire;
  return nullptr;
}

std::vector<std::string> ModuleModel::outlet_names() const {
  std::vector<std::string> names;
  for (const Dock& dock : docks) names.push_back(dock.name);
  for (const Radio& radio : radios) names.push_back(radio.name);
  for (const Bus& bus : buses) names.push_back(bus.name);
  return names;
}

double ModuleModel::mass() const {
  double sum = 0;
  for (const Link& link : links) sum += link.mass;
  return sum;
}

std::vector<Pose> forward_kinematics(const ModuleModel& model, const std::vector<double>& positions) {
  VOLVOX_CHECK(positions.empty() || positions.size() == model.joints.size(), "one position per joint");
  std::vector<Pose> poses(model.links.size());
  std::vector<char> is_child(model.links.size()), placed(model.links.size()), moved(model.links.size());
  for (const Joint& joint : model.joints) is_child[joint.child] = 1;
  for (std::size_t i = 0; i < poses.size(); ++i) {
    poses[i] = model.links[i].pose;
    placed[i] = !is_child[i];
  }
  // Each pass places at least one link, unless the remaining links depend on a loop.
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t j = 0; j < model.joints.size(); ++j) {
      const Joint& joint = model.joints[j];
      const int child = joint.child, parent = std::max(joint.parent, 0);
      const bool in_world = joint.parent < 0;
      if (placed[child] || (!in_world && !placed[parent])) continue;
      placed[child] = 1;
      progress = true;
      const double position = positions.empty() ? 0 : positions[j];
      // A link that did not move keeps the exact pose of the file, without rounding errors.
      if (position == 0 && (in_world || !moved[parent])) continue;
      moved[child] = 1;
      const Pose base = in_world ? Pose{} : poses[parent];
      poses[child] = base * joint.parent_frame * joint_motion(joint, position) * joint.child_frame.inverse();
      poses[child].rotation = normalized(poses[child].rotation);
    }
  }
  return poses;
}

Bounds bounds(const ModuleModel& model, const std::vector<Pose>& links) {
  VOLVOX_ASSERT(links.size() == model.links.size());
  Bounds result;
  for (std::size_t i = 0; i < model.links.size(); ++i) {
    for (const Collider& collider : model.links[i].geometry->colliders) {
      result.add(bounds(collider.shape, links[i] * collider.pose));
    }
  }
  return result;
}

Mind with_base_functions(Mind own, const ModuleModel& model) {
  if (model.mind && !own.replaces_base)
    own.further.insert(own.further.end(), model.mind->further.begin(), model.mind->further.end());
  return own;
}

bool fit(const Dock& a, const Dock& b) {
  return a.kind == b.kind && a.symmetry == b.symmetry && (a.gender == Gender::both || a.gender != b.gender);
}

double flush_friction(const Joint& joint, const Vec3& force, const Vec3& moment) {
  const Flush& flush = *joint.flush;
  if (joint.type != JointType::revolute) return flush.friction * std::max(flush.preload, length(force.x, force.y));
  const double along = std::max(flush.preload, std::fabs(force.z));
  return flush.friction * std::max(flush.radius * along, length(moment.x, moment.y));
}

Pose engaged_dock(int symmetry, int turn) {
  VOLVOX_ASSERT(symmetry >= 0);
  const Quat half_turn{0, 0, 0, 1};  // about z
  if (symmetry < 1) return {{}, half_turn};
  const int steps = ((turn % symmetry) + symmetry) % symmetry;
  if (steps == 0) return {{}, half_turn};
  return {{}, half_turn * Quat::axis_angle({1, 0, 0}, 2 * pi * steps / symmetry)};
}

}  // namespace volvox::model
