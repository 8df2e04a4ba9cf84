#include "mirrors.h"

#include <algorithm>
#include <limits>

namespace volvox::python {

Mirrors::Mirrors(const sim::Simulation& simulation) {
  const world::World& world = simulation.world();
  for (world::PlacementIndex p = 0; p < world.placements(); ++p) joint_count_ += world.module_model(p).joints.size();
}

const std::vector<Pose>& Mirrors::poses(const sim::Simulation& simulation) {
  if (!std::exchange(wants_poses_, true)) poses_.resize(simulation.world().links()), fill_poses(simulation.world());
  return poses_;
}

const std::vector<Twist>& Mirrors::velocities(const sim::Simulation& simulation) {
  if (!std::exchange(wants_velocities_, true))
    velocities_.resize(simulation.world().links()), fill_velocities(simulation.world());
  return velocities_;
}

const std::vector<physics::JointState>& Mirrors::joints(const sim::Simulation& simulation) {
  if (!std::exchange(wants_joints_, true)) joints_.resize(joint_count_), fill_joints(simulation.world());
  return joints_;
}

const Mirrors::Docks& Mirrors::docks(const sim::Simulation& simulation) {
  if (!std::exchange(wants_docks_, true)) {
    const std::size_t count = simulation.world().docks();
    docks_.loads.resize(count), docks_.phases.resize(count), docks_.enabled.resize(count);
    docks_.broken.resize(count), docks_.partners.resize(count);
    fill_docks(simulation.world());
  }
  return docks_;
}

const Mirrors::Percept* Mirrors::percept(const sim::Simulation& simulation, const std::string& name) {
  for (const auto& known : percepts_)
    if (known->name == name) return known.get();
  auto percept = std::make_unique<Percept>();
  percept->name = name;
  const mind::Minds& minds = simulation.minds();
  bool found = false;
  for (std::size_t i = 0; i < minds.size(); ++i) {
    const std::vector<std::string>& names = minds.agent(i).percepts();
    const auto at = std::find(names.begin(), names.end(), name);
    percept->index.push_back(at == names.end() ? -1 : static_cast<int>(at - names.begin()));
    if (at == names.end()) continue;
    found = true;
    std::size_t width = 0;
    Value value = minds.agent(i).percept_value(at - names.begin());
    value.each_number([&](double&) { ++width; });
    percept->width = std::max(percept->width, width);
  }
  if (!found) return nullptr;
  percept->numbers.resize(minds.size() * percept->width);
  fill(*percept, minds);
  percepts_.push_back(std::move(percept));
  return percepts_.back().get();
}

void Mirrors::refresh(const sim::Simulation& simulation) {
  const world::World& world = simulation.world();
  if (wants_poses_) fill_poses(world);
  if (wants_velocities_) fill_velocities(world);
  if (wants_joints_) fill_joints(world);
  if (wants_docks_) fill_docks(world);
  for (const auto& percept : percepts_) fill(*percept, simulation.minds());
}

void Mirrors::fill_poses(const world::World& world) {
  for (std::size_t i = 0; i < poses_.size(); ++i) poses_[i] = world.link_pose(i);
}

void Mirrors::fill_velocities(const world::World& world) {
  for (std::size_t i = 0; i < velocities_.size(); ++i) velocities_[i] = world.link_velocity(i);
}

void Mirrors::fill_joints(const world::World& world) {
  for (std::size_t i = 0; i < joints_.size(); ++i) joints_[i] = world.joint_state(i);
}

void Mirrors::fill_docks(const world::World& world) {
  for (std::size_t i = 0; i < docks_.loads.size(); ++i) {
    const world::DockStatus& status = world.dock_status(i);
    const world::DockIndex partner = world.graph().partner(i);
    docks_.loads[i] = status.phase == world::DockPhase::free ? world::DockLoad{} : world.dock_load(i);
    docks_.phases[i] = static_cast<std::uint8_t>(status.phase);
    docks_.enabled[i] = status.enabled;
    docks_.broken[i] = status.broken;
    docks_.partners[i] = partner == world::nobody ? -1 : static_cast<std::int32_t>(std::uint32_t{partner});
  }
}

void Mirrors::fill(Percept& percept, const mind::Minds& minds) {
  for (std::size_t i = 0; i < minds.size(); ++i) {
    double* row = percept.numbers.data() + i * percept.width;
    double* const end = row + percept.width;
    if (percept.index[i] >= 0) {
      const Value& value = minds.agent(i).percept_value(percept.index[i]);
      if (const double* number = value.get<double>()) *row++ = *number;  // joints: most percepts are this
      else {
        Value copy = value;
        copy.each_number([&](double& each) {
          if (row < end) *row++ = each;
        });
      }
    }
    std::fill(row, end, std::numeric_limits<double>::quiet_NaN());
  }
}

}  // namespace volvox::python
