// The dock and break phases: seed 000's algorithm 1, lines 5 to 12, and its section IV.F.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "volvox/world/world.h"

namespace volvox::world {

double DockLoad::utilisation(const model::DockStrength& strength) const {
  return std::max({axial / strength.axial, shear / strength.shear, bending / strength.bending,
                   torsion / strength.torsion});
}

void World::enable_dock(std::uint32_t dock, bool enabled) {
  docks_[dock].enabled = enabled;
  if (!enabled) docks_[dock].broken = false;
}

// Joins two docks; `b_in_a` is the pose of b's frame in a's when the dock is closed.
void World::join(std::uint32_t a, std::uint32_t b, const Pose& b_in_a, double latch_time) {
  physics::JointDesc desc;
  desc.type = physics::JointType::dock;
  desc.a = bodies_[dock_links_[a]];
  desc.b = bodies_[dock_links_[b]];
  desc.frame_a = dock_models_[a]->pose;
  desc.frame_b = dock_models_[b]->pose * b_in_a.inverse();
  desc.latch_time = latch_time;
  desc.pull_speed = std::min(dock_models_[a]->pull_speed, dock_models_[b]->pull_speed);
  const physics::JointId joint = engine_->add_joint(desc);
  for (const std::uint32_t dock : {a, b}) {
    docks_[dock].joint = joint;
    docks_[dock].phase = DockPhase::latching;
    docks_[dock].carrier = dock == a;
  }
  graph_.join(a, b);
  carriers_.insert(std::lower_bound(carriers_.begin(), carriers_.end(), a), a);
  windows_[a] = {};
  dock_turns_[a] = b_in_a.rotation;
}

void World::part_docks(std::uint32_t dock) {
  const std::uint32_t partner = graph_.partner(dock);
  const std::uint32_t carrier = docks_[dock].carrier ? dock : partner;
  engine_->remove_joint(docks_[dock].joint);
  for (const std::uint32_t d : {dock, partner}) {
    docks_[d].joint = {};
    docks_[d].phase = DockPhase::free;
    docks_[d].carrier = false;
  }
  graph_.part(dock);
  carriers_.erase(std::lower_bound(carriers_.begin(), carriers_.end(), carrier));
  windows_[carrier] = {};
}

void World::update_docks(std::vector<DockEvent>& events) {
  release_disabled(events);
  finish_latching(events);
  capture(events);
}

void World::release_disabled(std::vector<DockEvent>& events) {
  std::vector<std::uint32_t> leaving;
  for (const std::uint32_t a : carriers_)
    if (!docks_[a].enabled || !docks_[graph_.partner(a)].enabled) leaving.push_back(a);
  for (const std::uint32_t a : leaving) {
    events.push_back({DockEvent::Kind::released, a, graph_.partner(a)});
    part_docks(a);
    ++docks_released_;
  }
}

void World::finish_latching(std::vector<DockEvent>& events) {
  for (const std::uint32_t a : carriers_) {
    if (docks_[a].phase != DockPhase::latching || !engine_->latched()[docks_[a].joint.index]) continue;
    const std::uint32_t b = graph_.partner(a);
    docks_[a].phase = docks_[b].phase = DockPhase::engaged;
    events.push_back({DockEvent::Kind::engaged, a, b});
  }
}

namespace {

bool fits(const model::Dock& a, const model::Dock& b) {
  using model::Gender;
  const bool same_sex = a.gender == b.gender && a.gender != Gender::both;
  return !same_sex && a.kind == b.kind;
}

// If frame b lies within the capture tolerances of a: its pose in a once the dock is closed.
std::optional<Pose> closed_pose(const model::Dock& a, const Pose& pose_a, const model::Dock& b, const Pose& pose_b) {
  const double reach = std::min(a.capture_distance, b.capture_distance);
  if (length_squared(pose_b.position - pose_a.position) > reach * reach) return std::nullopt;
  const double widest = std::min(a.capture_angle, b.capture_angle);
  // With the x axes opposed, what is left between the frames is a turn about x.
  const Quat apart = model::engaged_dock(1, 0).rotation.conjugate() * (pose_a.rotation.conjugate() * pose_b.rotation);
  const double turn = 2 * volvox::atan2(apart.x, apart.w);
  const int symmetry = std::gcd(a.symmetry, b.symmetry);
  const double step = symmetry > 0 ? 2 * pi / symmetry : 0;
  const double closed_turn = symmetry > 0 ? step * std::round(turn / step) : turn;
  Pose closed = model::engaged_dock(1, 0);
  closed.rotation = closed.rotation * Quat::axis_angle({1, 0, 0}, closed_turn);
  const Quat residual = (pose_a.rotation * closed.rotation).conjugate() * pose_b.rotation;
  if (angle(residual) > widest) return std::nullopt;
  return closed;
}

// Free docks in a grid of cells as wide as the farthest capture. Sorting by cell keeps what
// is found independent of everything but the positions.
std::uint64_t cell_key(std::int64_t x, std::int64_t y, std::int64_t z) {
  const auto bits = [](std::int64_t v) { return static_cast<std::uint64_t>(v + (1 << 20)) & 0x1fffff; };
  return bits(x) << 42 | bits(y) << 21 | bits(z);
}

struct Meeting {
  double distance;
  std::uint32_t a, b;
  Pose closed;
};

}  // namespace

void World::capture(std::vector<DockEvent>& events) {
  if (largest_capture_ <= 0) return;
  const std::span<const Pose> poses = engine_->poses();
  const double scale = 1 / largest_capture_;
  std::vector<Candidate>& cells = capture_cells_;
  std::vector<Vec3>& positions = capture_positions_;
  cells.clear();
  positions.resize(docks_.size());
  const auto cell_of = [&](double x) { return static_cast<std::int64_t>(std::floor(clamp(x * scale, -1e6, 1e6))); };
  for (std::uint32_t d = 0; d < docks_.size(); ++d) {
    const DockStatus& dock = docks_[d];
    if (dock.phase != DockPhase::free || !dock.enabled || dock.broken) continue;
    const Vec3 p = poses[bodies_[dock_links_[d]].index] * dock_models_[d]->pose.position;
    positions[d] = p;
    cells.push_back({cell_key(cell_of(p.x), cell_of(p.y), cell_of(p.z)), d});
  }
  if (cells.size() < 2) return;
  std::sort(cells.begin(), cells.end(), [](const Candidate& l, const Candidate& r) {
    return l.cell != r.cell ? l.cell < r.cell : l.dock < r.dock;
  });

  std::vector<Meeting> meetings;
  const auto meet = [&](std::uint32_t d, std::uint32_t e) {
    const std::uint32_t a = std::min(d, e), b = std::max(d, e);
    if (graph_.owner(a) == graph_.owner(b) || !fits(*dock_models_[a], *dock_models_[b])) return;
    if (const auto closed = closed_pose(*dock_models_[a], dock_pose(a), *dock_models_[b], dock_pose(b)))
      meetings.push_back({length(positions[a] - positions[b]), a, b, *closed});
  };
  // Each cell with itself and with half of its neighbours, so that each pair is met once.
  // Keys of a row of three cells along z are consecutive: one search finds the row.
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Vec3 p = positions[cells[i].dock];
    for (std::size_t j = i + 1; j < cells.size() && cells[j].cell <= cells[i].cell + 1; ++j)
      meet(cells[i].dock, cells[j].dock);
    const std::int64_t x = cell_of(p.x), y = cell_of(p.y), z = cell_of(p.z);
    constexpr std::int64_t rows[4][2] = {{0, 1}, {1, -1}, {1, 0}, {1, 1}};
    for (const auto& row : rows) {
      const std::uint64_t first = cell_key(x + row[0], y + row[1], z - 1), last = first + 2;
      auto it = std::lower_bound(cells.begin() + static_cast<std::ptrdiff_t>(i), cells.end(), first,
                                 [](const Candidate& c, std::uint64_t key) { return c.cell < key; });
      for (; it != cells.end() && it->cell <= last; ++it) meet(cells[i].dock, it->dock);
    }
  }

  // The nearest pairs first; a dock that was taken leaves the others waiting.
  std::sort(meetings.begin(), meetings.end(), [](const Meeting& l, const Meeting& r) {
    if (l.distance != r.distance) return l.distance < r.distance;
    return l.a != r.a ? l.a < r.a : l.b < r.b;
  });
  for (const Meeting& meeting : meetings) {
    if (docks_[meeting.a].phase != DockPhase::free || docks_[meeting.b].phase != DockPhase::free) continue;
    const double latch_time = std::max(dock_models_[meeting.a]->latch_time, dock_models_[meeting.b]->latch_time);
    join(meeting.a, meeting.b, meeting.closed, latch_time);
    events.push_back({DockEvent::Kind::captured, meeting.a, meeting.b});
    ++docks_formed_;
  }
}

void World::record_load(std::uint32_t carrier, double dt) {
  LoadWindow& window = windows_[carrier];
  if (window.impulses.empty()) {
    const double ticks = std::round(dock_models_[carrier]->load_time / dt);
    window.impulses.assign(static_cast<std::size_t>(clamp(ticks, 1, 10'000)), {});
    window.span = dt * static_cast<double>(window.impulses.size());
  }
  window.impulses[window.next] = engine_->loads()[docks_[carrier].joint.index] * dt;
  window.next = (window.next + 1) % static_cast<std::uint32_t>(window.impulses.size());
}

DockLoad World::dock_load(std::uint32_t dock) const {
  DockLoad load;
  if (docks_[dock].phase == DockPhase::free) return load;
  const LoadWindow& window = windows_[docks_[dock].carrier ? dock : graph_.partner(dock)];
  if (window.span <= 0) return load;
  Wrench sum;
  for (const Wrench& impulse : window.impulses) sum += impulse;
  const Wrench mean = sum * (1 / window.span);
  // The partner stands on the carrier's +x side: a force on it towards -x holds it back.
  load.axial = -mean.force.x;
  load.shear = std::hypot(mean.force.y, mean.force.z);
  load.bending = std::hypot(mean.torque.y, mean.torque.z);
  load.torsion = std::fabs(mean.torque.x);
  return load;
}

void World::break_docks(Time begin, Time end, std::vector<DockEvent>& events) {
  const double dt = (end - begin).seconds();
  std::vector<std::uint32_t> breaking;
  for (const std::uint32_t a : carriers_) {
    record_load(a, dt);
    if (docks_[a].phase != DockPhase::engaged) continue;
    const DockLoad load = dock_load(a);
    const std::uint32_t b = graph_.partner(a);
    if (std::max(load.utilisation(dock_models_[a]->strength), load.utilisation(dock_models_[b]->strength)) >= 1)
      breaking.push_back(a);
  }
  for (const std::uint32_t a : breaking) {
    const std::uint32_t b = graph_.partner(a);
    events.push_back({DockEvent::Kind::broken, a, b});
    part_docks(a);
    docks_[a].broken = docks_[b].broken = true;
    ++docks_broken_;
  }
}

World::DockError World::largest_dock_error() const {
  DockError worst;
  for (const std::uint32_t a : carriers_) {
    if (docks_[a].phase != DockPhase::engaged) continue;
    const std::uint32_t b = graph_.partner(a);
    const Pose apart = dock_pose(a).inverse() * dock_pose(b);
    worst.distance = std::max(worst.distance, length(apart.position));
    worst.angle = std::max(worst.angle, angle(dock_turns_[a].conjugate() * apart.rotation));
  }
  return worst;
}

}  // namespace volvox::world
