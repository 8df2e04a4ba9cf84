#include "volvox/physics/native/contact_solver.h"

#include <algorithm>
#include <cmath>

namespace volvox::physics::native {
namespace {

constexpr double correction = 0.5;       // the share of an overlap that a substep takes back
constexpr double allowed_overlap = 1e-4; // m; contacts that rest stay in touch
constexpr double fastest_push = 1.0;     // m/s
constexpr double slowest_bounce = 0.1;   // m/s; below it gravity's own speed in a step looks like one
constexpr double reach_speed = 0.3;      // m/s; contacts that a speed this much above their own reaches take part
// Interlocked bodies have no solution, and impulses would grow without bound: below this
// depth a contact gives way a little.
constexpr double deep = 3e-3, softness = 0.1;
// A sweep that changes less than this is the last. What it leaves adds up over bodies that
// stand on each other: a group of n islands is solved n^2 times as well.
constexpr double settled = 1e-3;         // m/s
// Tall stacks need many sweeps, and are small; large heaps are warm from the last substep and
// would pay for them: the work of a group is bounded, not its sweeps.
constexpr std::size_t most_work = 16000;  // contacts times sweeps
constexpr std::size_t most_sweeps = 200;

void run(ThreadPool* threads, std::size_t count, std::size_t grain, const std::function<void(std::size_t, std::size_t)>& body) {
  if (count == 0) return;
  if (threads) threads->parallel_for(count, grain, body); else body(0, count);
}

Spatial<double> at_centre(const Vec3& arm, const Vec3& impulse) { return {lane(volvox::cross(arm, impulse)), lane(impulse)}; }

}  // namespace

void ContactSolver::refresh(World& world, double step, ThreadPool* threads) {
  step_ = step;
  const auto work = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) refresh_point(world, points_[i], step);
  };
  run(threads, points_.size(), 512, std::ref(work));
  for (Body& body : world.bodies) body.push = {};
  for (const ContactPoint& c : points_) {
    if (!c.active) continue;
    Body &a = world.bodies[static_cast<std::size_t>(c.a)], &b = world.bodies[static_cast<std::size_t>(c.b)];
    a.push = a.push + at_centre(c.arm_a, c.impulse);
    b.push = b.push - at_centre(c.arm_b, c.impulse);
  }
}

void ContactSolver::refresh_point(const World& world, ContactPoint& c, double step) const {
  const Body &a = world.bodies[static_cast<std::size_t>(c.a)], &b = world.bodies[static_cast<std::size_t>(c.b)];
  const Vec3 on_a = plain(a.axes * lane(c.on_a)), on_b = plain(b.axes * lane(c.on_b));
  const Vec3 between = (a.position + on_a) - (b.position + on_b);
  Vec3 n = plain((c.normal_of == ContactPoint::NormalOf::a ? a.axes : b.axes) * lane(c.normal));
  if (c.normal_of == ContactPoint::NormalOf::centres && length(between) > 1e-9) n = normalized(between);
  const double core = dot(between, n);
  c.separation = core - c.radius;
  // One point for both sides, half-way between the two surfaces.
  const Vec3 point = on_a - n * (c.radius_a + c.separation / 2);
  c.arm_a = point;
  c.arm_b = a.position + point - b.position;
  c.approach = dot(n, a.velocity_at(c.arm_a) - b.velocity_at(c.arm_b));
  c.active = c.separation <= step * (std::max(0.0, -c.approach) + reach_speed) || c.impulse != Vec3{};
  if (!c.active) return;
  const Vec3 t = perpendicular(n);
  c.frame[0] = n, c.frame[1] = t, c.frame[2] = cross(n, t);
  // The last impulse, in the present directions and within the present cone.
  const double normal = std::max(0.0, dot(c.impulse, n)), most = c.friction * normal;
  Vec3 tangent = c.impulse - n * dot(c.impulse, n);
  const double size = length(tangent);
  if (size > most) tangent = tangent * (most / size);
  c.impulse = n * normal + tangent;
}

void ContactSolver::prepare(World& world, Islands& islands, double step, ThreadPool* threads) {
  collect_active(world);
  if (active_.empty()) return;
  group_islands(islands.size());
  whiten_touched(islands, threads);
  lay_out_rows(islands);
  const auto work = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) fill(world, islands, i, step);
  };
  run(threads, active_.size(), 128, std::ref(work));
}

void ContactSolver::collect_active(const World& world) {
  active_.clear();
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (!points_[i].active) continue;
    const Body &a = world.bodies[static_cast<std::size_t>(points_[i].a)], &b = world.bodies[static_cast<std::size_t>(points_[i].b)];
    active_.push_back({static_cast<int>(i), a.island, a.node, b.island, b.node});
  }
}

int ContactSolver::root_of(int island) {
  std::vector<int>& p = parent_;
  while (p[static_cast<std::size_t>(island)] != island) {
    p[static_cast<std::size_t>(island)] = p[static_cast<std::size_t>(p[static_cast<std::size_t>(island)])];
    island = p[static_cast<std::size_t>(island)];
  }
  return island;
}

// Groups of islands that touch each other. Within a group contacts keep the order in which
// they were found; groups do not know of each other and may be solved at the same time.
void ContactSolver::group_islands(std::size_t islands) {
  parent_.resize(islands);
  for (std::size_t i = 0; i < islands; ++i) parent_[i] = static_cast<int>(i);
  for (const Active& c : active_) {
    if (c.island_b < 0) continue;
    const int a = root_of(c.island_a), b = root_of(c.island_b);
    parent_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }
  for (Active& c : active_) c.group = root_of(c.island_a);
  members_.assign(islands, 0);
  for (std::size_t i = 0; i < islands; ++i) ++members_[static_cast<std::size_t>(root_of(static_cast<int>(i)))];
  std::sort(active_.begin(), active_.end(), [](const Active& x, const Active& y) { return x.group != y.group ? x.group < y.group : x.point < y.point; });
  group_first_.clear();
  group_islands_.clear();
  for (std::size_t i = 0; i < active_.size(); ++i) {
    if (i > 0 && active_[i].group == active_[i - 1].group) continue;
    group_first_.push_back(i);
    group_islands_.push_back(members_[static_cast<std::size_t>(active_[i].group)]);
  }
  group_first_.push_back(active_.size());
}

void ContactSolver::whiten_touched(Islands& islands, ThreadPool* threads) {
  if (touched_.size() < islands.size()) touched_.resize(islands.size());
  for (int island : touched_islands_) touched_[static_cast<std::size_t>(island)].clear();
  touched_islands_.clear();
  const auto touch = [&](int island, int node) {
    if (island < 0) return;
    std::vector<int>& nodes = touched_[static_cast<std::size_t>(island)];
    if (nodes.empty()) touched_islands_.push_back(island);
    if (nodes.empty() || nodes.back() != node) nodes.push_back(node);
  };
  for (const Active& c : active_) touch(c.island_a, c.node_a), touch(c.island_b, c.node_b);
  const auto work = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t island = static_cast<std::size_t>(touched_islands_[i]);
      islands[island]->whiten(touched_[island]);
    }
  };
  run(threads, touched_islands_.size(), 8, std::ref(work));
}

void ContactSolver::lay_out_rows(Islands& islands) {
  hot_.resize(active_.size());
  std::size_t total = 0;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    Active& c = active_[i];
    RowContact& hot = hot_[i];
    const RowSpan a = islands[static_cast<std::size_t>(c.island_a)]->span(c.node_a);
    hot.a = a.coordinates, hot.width_a = a.width;
    hot.b = nullptr, hot.width_b = 0;
    c.part_a = a.part;
    c.one_part = islands[static_cast<std::size_t>(c.island_a)]->parts() == 1;
    if (c.island_b >= 0) {
      const RowSpan b = islands[static_cast<std::size_t>(c.island_b)]->span(c.node_b);
      c.part_b = b.part;
      c.one_part = c.one_part && islands[static_cast<std::size_t>(c.island_b)]->parts() == 1;
      // Both ends in one part: the rows add up to one.
      if (b.coordinates != a.coordinates) hot.b = b.coordinates, hot.width_b = b.width;
    }
    total += 3 * static_cast<std::size_t>(hot.width_a + hot.width_b);
  }
  if (rows_.size() < total) rows_.resize(total + total / 2);
  double* next = rows_.data();
  for (RowContact& hot : hot_) {
    hot.rows_a = next;
    hot.rows_b = next + 3 * hot.width_a;
    next = hot.rows_b + 3 * hot.width_b;
  }
}

void ContactSolver::fill(const World& world, Islands& islands, std::size_t index, double step) {
  const Active& where = active_[index];
  ContactPoint& c = points_[static_cast<std::size_t>(where.point)];
  RowContact& hot = hot_[index];
  Island& a = *islands[static_cast<std::size_t>(where.island_a)];
  std::fill(hot.rows_a, hot.rows_b + 3 * hot.width_b, 0.0);
  a.add_rows(where.node_a, c.arm_a, c.frame, 1, hot.rows_a);
  Vec3 velocity = a.predicted_velocity(where.node_a, c.arm_a);
  std::fill(std::begin(hot.gram), std::end(hot.gram), 0.0);
  if (where.island_b >= 0) {
    Island& b = *islands[static_cast<std::size_t>(where.island_b)];
    b.add_rows(where.node_b, c.arm_b, c.frame, -1, hot.width_b > 0 ? hot.rows_b : hot.rows_a);
    velocity -= b.predicted_velocity(where.node_b, c.arm_b);
    if (&a == &b && hot.width_b > 0) a.add_cross_terms(where.part_a, hot.rows_a, where.part_b, hot.rows_b, hot.gram);
  } else {
    velocity -= world.bodies[static_cast<std::size_t>(c.b)].velocity_at(c.arm_b);
  }
  wide_gram(hot.rows_a, hot.width_a, hot.gram);
  if (hot.width_b > 0) wide_gram(hot.rows_b, hot.width_b, hot.gram);
  for (int i = 0; i < 3; ++i) {
    hot.free[i] = dot(velocity, c.frame[i]);
    hot.impulse[i] = dot(c.impulse, c.frame[i]);
  }
  set_target(c, hot.free[0], step);
  hot.target = c.target;
  hot.friction = c.friction;
  const double give = c.separation < -deep ? softness : 0;
  hot.keep = 1 / (1 + give);
  hot.normal_gain = hot.gram[0] > 1e-12 ? 1 / (hot.gram[0] * (1 + give)) : 0;
  const double mean = (hot.gram[3] + hot.gram[5]) / 2, half = (hot.gram[3] - hot.gram[5]) / 2;
  const double largest = mean + std::sqrt(half * half + hot.gram[4] * hot.gram[4]);
  hot.tangent_gain = largest > 1e-12 ? 1 / largest : 0;
}

void ContactSolver::set_target(ContactPoint& c, double predicted, double step) const {
  c.target = c.separation > 0 ? -c.separation / step
                              : clamp(correction * (-c.separation - allowed_overlap) / step, 0, fastest_push);
  if (c.restitution <= 0 || c.approach > -slowest_bounce) return;
  // A contact that is reached within the step bounces with the speed and the energy that it
  // has there: the bounce is drawn forward to the start of the step, (1 + e) gap above where
  // it belongs.
  const double gap = std::max(0.0, c.separation);
  const double free = c.impulse == Vec3{} ? predicted : c.approach;
  if (gap + free * step > 0) return;
  const double acceleration = (free - c.approach) / step, e = c.restitution;
  const double impact = c.approach * c.approach - 2 * acceleration * gap;
  c.target = std::max(c.target, std::sqrt(std::max(0.0, e * e * impact + 2 * acceleration * (1 + e) * gap)));
}

void ContactSolver::solve(World& world, Islands& islands, ThreadPool* threads) {
  if (active_.empty()) {
    for (Body& body : world.bodies) body.push = {};
    return;
  }
  const auto work = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) sweep_group(islands, i);
  };
  run(threads, group_first_.size() - 1, 4, std::ref(work));
  for (Body& body : world.bodies) body.push = {};
  for (std::size_t i = 0; i < active_.size(); ++i) {
    ContactPoint& c = points_[static_cast<std::size_t>(active_[i].point)];
    const Vec3 impulse = c.frame[0] * hot_[i].impulse[0] + c.frame[1] * hot_[i].impulse[1] + c.frame[2] * hot_[i].impulse[2];
    const Vec3 change = impulse - c.impulse;
    c.impulse = impulse;
    Body &a = world.bodies[static_cast<std::size_t>(c.a)], &b = world.bodies[static_cast<std::size_t>(c.b)];
    a.push = a.push + at_centre(c.arm_a, change);
    b.push = b.push - at_centre(c.arm_b, change);
  }
}

void ContactSolver::sweep_group(Islands& islands, std::size_t group) {
  const std::size_t first = group_first_[group], last = group_first_[group + 1];
  const std::size_t sweeps = std::clamp<std::size_t>(most_work / (last - first), ContactSolver::fewest_sweeps, most_sweeps);
  const double count = group_islands_[group], enough = settled / (count * count);
  for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
    double most = 0;
    for (std::size_t i = first; i < last; ++i) most = std::max(most, solve_one(islands, i));
    if (most < enough) break;
  }
}

double ContactSolver::solve_one(Islands& islands, std::size_t index) {
  const Active& where = active_[index];
  RowContact& hot = hot_[index];
  if (where.one_part) return wide_solve(hot);
  Island& a = *islands[static_cast<std::size_t>(where.island_a)];
  a.move_to(where.part_a);
  if (hot.width_b == 0) return wide_solve(hot);
  Island& b = *islands[static_cast<std::size_t>(where.island_b)];
  if (&a != &b) {
    b.move_to(where.part_b);
    return wide_solve(hot);
  }
  // Two parts of one tree: only one is current at a time.
  RowContact alone = hot;
  alone.width_a = alone.width_b = 0;
  for (int i = 0; i < 3; ++i) alone.free[i] += wide_dot(hot.rows_a + i * hot.width_a, hot.a, hot.width_a);
  a.move_to(where.part_b);
  for (int i = 0; i < 3; ++i) alone.free[i] += wide_dot(hot.rows_b + i * hot.width_b, hot.b, hot.width_b);
  const double change = wide_solve(alone);
  for (int i = 0; i < 3; ++i) wide_add(hot.b, hot.rows_b + i * hot.width_b, alone.impulse[i] - hot.impulse[i], hot.width_b);
  a.move_to(where.part_a);
  for (int i = 0; i < 3; ++i) {
    wide_add(hot.a, hot.rows_a + i * hot.width_a, alone.impulse[i] - hot.impulse[i], hot.width_a);
    hot.impulse[i] = alone.impulse[i];
  }
  return change;
}

}  // namespace volvox::physics::native
