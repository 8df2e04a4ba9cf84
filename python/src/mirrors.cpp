#include "mirrors.h"

#include <algorithm>
#include <limits>

#include "volvox/world/matter.h"

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

const Mirrors::Particles& Mirrors::particles(const sim::Simulation& simulation) {
  if (!std::exchange(wants_particles_, true)) {
    const world::Matter* matter = simulation.world().matter();
    const std::size_t count = matter == nullptr ? 0 : std::size_t{matter->fluids()} + matter->solids();
    particles_.positions.resize(count), particles_.velocities.resize(count), particles_.kinds.resize(count);
    fill_particles(simulation.world());
  }
  return particles_;
}

std::vector<std::string> Mirrors::particle_kinds(const sim::Simulation& simulation) {
  std::vector<std::string> names;
  const world::Matter* matter = simulation.world().matter();
  if (matter == nullptr) return names;
  names.push_back("fluid");
  for (std::size_t i = 0; i < matter->description().debris.size(); ++i) names.push_back("debris " + std::to_string(i));
  for (std::size_t i = 0; i < matter->description().cloths.size(); ++i) names.push_back("cloth " + std::to_string(i));
  return names;
}

namespace {

// Calls put(number) for every number of a percept, as World.percepts shows it.
template <class Put>
void each_shown(const Value& value, Put&& put) {
  if (const double* number = value.get<double>()) return put(*number);  // joints: most percepts are this
  if (const bool* flag = value.get<bool>()) return put(*flag ? 1 : 0);
  if (const auto* dock = value.get<mind::DockState>()) {
    for (const bool flag : {dock->enabled, dock->engaged, dock->latching, dock->broken}) put(flag ? 1 : 0);
    return;
  }
  Value copy = value;
  copy.each_number([&](double& each) { put(each); });
}

}  // namespace

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
    each_shown(minds.agent(i).percept_value(at - names.begin()), [&](double) { ++width; });
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
  if (wants_particles_) fill_particles(world);
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

void Mirrors::fill_particles(const world::World& world) {
  const world::Matter* matter = world.matter();
  if (matter == nullptr) return;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::fill(particles_.positions.begin(), particles_.positions.end(), Vec3{nan, nan, nan});
  std::fill(particles_.velocities.begin(), particles_.velocities.end(), Vec3{nan, nan, nan});
  std::fill(particles_.kinds.begin(), particles_.kinds.end(), -1);
  const particles::ParticleWorld& inside = matter->particles();
  const auto put = [&](std::size_t number, const particles::Point& p, const particles::Point& v, std::uint32_t kind) {
    if (number >= particles_.kinds.size()) return;
    particles_.positions[number] = {p.x, p.y, p.z}, particles_.velocities[number] = {v.x, v.y, v.z};
    particles_.kinds[number] = static_cast<std::int32_t>(kind);
  };
  const auto fluid = inside.fluid_ids(), solid = inside.solid_ids();
  for (std::size_t i = 0; i < inside.fluid_positions().size(); ++i)
    put(fluid[i], inside.fluid_positions()[i], inside.fluid_velocities()[i], 0);
  for (std::size_t i = 0; i < inside.solid_positions().size(); ++i)
    put(std::size_t{matter->fluids()} + solid[i], inside.solid_positions()[i], inside.solid_velocities()[i],
        1 + matter->kind_of_solid(solid[i]));
}

void Mirrors::fill(Percept& percept, const mind::Minds& minds) {
  for (std::size_t i = 0; i < minds.size(); ++i) {
    double* row = percept.numbers.data() + i * percept.width;
    double* const end = row + percept.width;
    if (percept.index[i] >= 0) {
      each_shown(minds.agent(i).percept_value(percept.index[i]), [&](double each) {
        if (row < end) *row++ = each;
      });
    }
    std::fill(row, end, std::numeric_limits<double>::quiet_NaN());
  }
}

}  // namespace volvox::python
