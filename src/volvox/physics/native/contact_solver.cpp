#include "volvox/physics/native/contact_solver.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "volvox/physics/native/contact_rules.h"
#include "volvox/physics/native/detector.h"
#include "volvox/physics/native/share_out.h"
#include "volvox/physics/native/tree.h"

namespace volvox::physics::native {
namespace {

// How often a substep is solved where contacts overload motors.
constexpr int most_attempts = 3;
// Tall stacks need many sweeps, and are small; large heaps are warm from the last substep and
// would pay for them: the work of a group is bounded, not its sweeps. Beyond it, sweeps go on
// only where a contact is far from settled.
constexpr std::size_t most_work = 16000;  // contacts times sweeps
constexpr std::size_t fewest_sweeps = 4, most_rough_sweeps = 40;
// Groups up to this many contacts that have not settled after so many sweeps are also solved
// directly, for the contacts that then touch, stick and slide; again after three times as many.
constexpr std::size_t most_direct = 100, sweeps_before_direct = 12;

Spatial<double> at_centre(const Vec3& arm, const Vec3& impulse) { return {lane(volvox::cross(arm, impulse)), lane(impulse)}; }

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// From the axle to the rim.
Vec3 rim_point(const Body& a, const Body& b, const ContactPoint& c) {
  const Vec3 axle = plain(a.axes * lane(a.axle)), outward = plain(b.axes * lane(c.outward));
  const Vec3 across = outward - axle * dot(axle, outward);
  return across * (c.rim / std::max(length(across), 1e-9));
}

}  // namespace

int ContactSolver::root_of(int island) {
  while (parent_[at(island)] != island) {
    parent_[at(island)] = parent_[at(parent_[at(island)])];
    island = parent_[at(island)];
  }
  return island;
}

// Within a group contacts keep the order in which they were found, so that neither the slots
// of islands nor the number of threads can be seen in the result.
void ContactSolver::regroup(const World& world, const Islands& islands) {
  parent_.resize(islands.size());
  group_of_.assign(islands.size(), -1);
  for (std::size_t i = 0; i < islands.size(); ++i) parent_[i] = static_cast<int>(i);
  for (const ContactPoint& c : points_) {
    const int island_a = world.bodies[at(c.a)].island, island_b = world.bodies[at(c.b)].island;
    if (island_b < 0) continue;
    const int a = root_of(island_a), b = root_of(island_b);
    parent_[at(std::max(a, b))] = std::min(a, b);
  }
  groups_.clear();
  bodies_ = 0;
  for (std::size_t i = 0; i < islands.size(); ++i) {
    if (!islands[i]) continue;
    const int root = root_of(static_cast<int>(i));
    if (group_of_[at(root)] < 0) {
      group_of_[at(root)] = static_cast<int>(groups_.size());
      groups_.push_back({});
    }
    group_of_[i] = group_of_[at(root)];
    Group& group = groups_[at(group_of_[i])];
    ++group.last_island;
    group.bodies += islands[i]->bodies().size();
    bodies_ += islands[i]->bodies().size();
  }
  for (const ContactPoint& c : points_) ++groups_[at(group_of_[at(world.bodies[at(c.a)].island)])].last_point;
  std::size_t island = 0, point = 0;
  for (Group& group : groups_) {
    group.first_island = island, island += group.last_island, group.last_island = group.first_island;
    group.first_point = point, point += group.last_point, group.last_point = group.first_point;
  }
  islands_.resize(island);
  order_.resize(points_.size());
  for (std::size_t i = 0; i < islands.size(); ++i) {
    if (islands[i]) islands_[groups_[at(group_of_[i])].last_island++] = static_cast<int>(i);
  }
  for (std::size_t i = 0; i < points_.size(); ++i) {
    order_[groups_[at(group_of_[at(world.bodies[at(points_[i].a)].island)])].last_point++] = static_cast<int>(i);
  }
}

// Groups of one small tree that touches nothing that moves.
void ContactSolver::take_lone_trees(const World& world, const Islands& islands, const Detector& detector, std::vector<FlockMember>& members) {
  lone_.assign(islands.size(), 0);
  lone_points_.clear();
  if (lone_points_.capacity() < points_.size()) lone_points_.reserve(2 * points_.size());
  for (const Group& group : groups_) {
    const std::size_t points = group.last_point - group.first_point;
    if (!group.awake || group.last_island - group.first_island != 1 || points > most_lone_points) continue;
    const auto* tree = dynamic_cast<const Tree*>(islands[at(islands_[group.first_island])].get());
    if (!tree || tree->pattern() < 0) continue;
    const std::span<const int> own{order_.data() + group.first_point, points};
    const auto stands = [&](int point) {
      const ContactPoint& c = points_[at(point)];
      const Body& ground = world.bodies[at(c.b)];
      return ground.island < 0 && ground.linear == Vec3{} && ground.angular == Vec3{};
    };
    const auto open = [&](int joint) { return joint >= 0 && world.scene.joint_descs[at(joint)].type == JointType::dock && !world.scene.latches[at(joint)].closed(); };
    const auto hasty = [&](int body) { return detector.in_hasty_pair(body); };
    if (std::any_of(tree->bodies().begin(), tree->bodies().end(), hasty)) continue;
    if (!std::all_of(own.begin(), own.end(), stands) || std::any_of(tree->joints().begin(), tree->joints().end(), open)) continue;
    lone_[at(islands_[group.first_island])] = 1;
    const int* first = lone_points_.data() + lone_points_.size();
    lone_points_.insert(lone_points_.end(), own.begin(), own.end());
    std::uint64_t where = 0;
    for (int point : own) where += std::uint64_t{1} << (5 * world.bodies[at(points_[at(point)].a)].node);
    members.push_back({tree, {first, points}, where});
  }
}

template <class Visit>
void ContactSolver::for_islands(Islands& islands, const Group& group, ThreadPool* threads, const Visit& visit) const {
  share_out(threads, group.last_island - group.first_island, 1, [&](std::size_t i) { visit(*islands[at(islands_[group.first_island + i])]); });
}

void ContactSolver::advance_group(World& world, Islands& islands, std::size_t index, double step, ThreadPool* threads) const {
  static thread_local GroupRoom own_room;
  GroupRoom& room = own_room;  // this thread's, whoever works in it
  const Group& group = groups_[index];
  if (!group.awake || lone_[at(islands_[group.first_island])]) return;
  place(world, islands, group, threads);
  refresh(world, group, step, threads);
  share_weight(world, islands, group, threads);
  start_impulses(world, group, step);
  for_islands(islands, group, threads, [&](Island& island) { island.predict(world, step); });
  collect_active(world, group, room);
  for (int attempt = 1; !room.active.empty(); ++attempt) {
    whiten(islands, group, room, threads);
    lay_out_rows(islands, room);
    share_out(threads, room.active.size(), 64, [&](std::size_t i) { fill(world, islands, room, i, step); });
    sweep(islands, group, room);
    std::atomic<bool> overloaded = false;
    for_islands(islands, group, threads, [&](Island& island) {
      if (island.take_up(world)) overloaded = true;
    });
    if (!overloaded || attempt == most_attempts) break;
    for_islands(islands, group, threads, [&](Island& island) { island.predict_again(world); });
  }
  take_impulses(world, islands, group, room, threads);
  for_islands(islands, group, threads, [&](Island& island) { island.finish(world, step); });
}

void ContactSolver::place(World& world, Islands& islands, const Group& group, ThreadPool* threads) const {
  for_islands(islands, group, threads, [&](const Island& island) {
    for (int index : island.bodies()) {
      Body& body = world.bodies[at(index)];
      body.axes = rotation_matrix(lane(body.rotation));
      body.push = {};
      body.touches = 0, body.carried = false;
    }
  });
}

// Geometry at the present poses.
void ContactSolver::refresh(World& world, const Group& group, double step, ThreadPool* threads) const {
  share_out(threads, group.last_point - group.first_point, 64, [&](std::size_t i) { refresh_point(world, points_[at(order_[group.first_point + i])], step); });
  for (std::size_t i = group.first_point; i < group.last_point; ++i) {
    const ContactPoint& c = points_[at(order_[i])];
    if (!c.active) continue;
    Body& a = world.bodies[at(c.a)];
    ++a.touches;
    if (c.impulse != Vec3{}) a.carried = true;
  }
}

void ContactSolver::share_weight(World& world, Islands& islands, const Group& group, ThreadPool* threads) const {
  for_islands(islands, group, threads, [&](const Island& island) {
    double all = 0, touching = 0;
    for (int index : island.bodies()) {
      const Body& body = world.bodies[at(index)];
      all += body.mass;
      if (body.touches > 0) touching += body.mass;
    }
    for (int index : island.bodies()) world.bodies[at(index)].borne = touching > 0 ? all / touching : 1;
  });
}

// Every contact starts from its last impulse, or from a guess; Body::push becomes their sum.
void ContactSolver::start_impulses(World& world, const Group& group, double step) const {
  for (std::size_t i = group.first_point; i < group.last_point; ++i) {
    ContactPoint& c = points_[at(order_[i])];
    if (!c.active) continue;
    c.impulse = first_impulse(world, c, step);
    if (c.impulse == Vec3{}) continue;
    Body &a = world.bodies[at(c.a)], &b = world.bodies[at(c.b)];
    a.push = a.push + at_centre(c.arm_a, c.impulse);
    if (b.island >= 0) b.push = b.push - at_centre(c.arm_b, c.impulse);
  }
}

// Where a body comes to lie on the world, each of its contacts starts with its share of what
// would stop that body, and the part of its island that hangs on it, alone. For a long chain
// that lies down this is nearly the solution; started from nothing, the sweep would let the
// first contacts carry the whole chain, and the loads between them would break it.
Vec3 ContactSolver::first_impulse(const World& world, const ContactPoint& c, double step) const {
  const Body &a = world.bodies[at(c.a)], &b = world.bodies[at(c.b)];
  if (c.impulse != Vec3{} || a.carried || b.island >= 0) return c.impulse;
  const double wanted = -std::max(0.0, c.separation) / step;
  const double needed = a.mass * (wanted - c.approach) - dot(a.weight, c.frame[0]) * step;
  return c.frame[0] * (a.borne * std::max(0.0, needed) / a.touches);
}

void ContactSolver::refresh_point(const World& world, ContactPoint& c, double step) const {
  const Body &a = world.bodies[at(c.a)], &b = world.bodies[at(c.b)];
  Vec3 on_a = plain(a.axes * lane(c.on_a));
  if (c.rim > 0) on_a += rim_point(a, b, c);
  const Vec3 on_b = plain(b.axes * lane(c.on_b));
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

void ContactSolver::collect_active(const World& world, const Group& group, GroupRoom& room) const {
  room.active.clear();
  const std::size_t points = group.last_point - group.first_point;
  if (room.active.capacity() < points) room.active.reserve(2 * points), room.hot.reserve(2 * points);
  for (std::size_t i = group.first_point; i < group.last_point; ++i) {
    const ContactPoint& c = points_[at(order_[i])];
    if (!c.active) continue;
    const Body &a = world.bodies[at(c.a)], &b = world.bodies[at(c.b)];
    room.active.push_back({order_[i], a.island, a.node, b.island, b.node});
  }
}

void ContactSolver::whiten(Islands& islands, const Group& group, GroupRoom& room, ThreadPool* threads) const {
  if (group.last_island - group.first_island == 1) {
    room.touched.clear();
    for (const GroupRoom::Active& c : room.active) {
      if (room.touched.empty() || room.touched.back() != c.node_a) room.touched.push_back(c.node_a);
      if (c.island_b >= 0) room.touched.push_back(c.node_b);
    }
    islands[at(islands_[group.first_island])]->whiten(room.touched);
    return;
  }
  room.ends.clear();
  for (const GroupRoom::Active& c : room.active) {
    room.ends.push_back({c.island_a, c.node_a});
    if (c.island_b >= 0) room.ends.push_back({c.island_b, c.node_b});
  }
  std::sort(room.ends.begin(), room.ends.end());
  room.ends.erase(std::unique(room.ends.begin(), room.ends.end()), room.ends.end());
  room.touched.clear(), room.first_end.clear();
  for (std::size_t i = 0; i < room.ends.size(); ++i) {
    if (i == 0 || room.ends[i].first != room.ends[i - 1].first) room.first_end.push_back(i);
    room.touched.push_back(room.ends[i].second);
  }
  room.first_end.push_back(room.ends.size());
  share_out(threads, room.first_end.size() - 1, 1, [&](std::size_t i) {
    const std::size_t first = room.first_end[i], last = room.first_end[i + 1];
    islands[at(room.ends[first].first)]->whiten({room.touched.data() + first, last - first});
  });
}

void ContactSolver::lay_out_rows(Islands& islands, GroupRoom& room) const {
  room.hot.resize(room.active.size());
  std::size_t total = 0;
  for (std::size_t i = 0; i < room.active.size(); ++i) {
    GroupRoom::Active& c = room.active[i];
    RowContact& hot = room.hot[i];
    const RowSpan a = islands[at(c.island_a)]->span(c.node_a);
    hot.a = a.coordinates, hot.width_a = a.width, hot.blocks_a = a.blocks;
    hot.b = nullptr, hot.width_b = 0, hot.blocks_b = nullptr;
    c.part_a = c.part_b = a.part;
    c.one_part = islands[at(c.island_a)]->parts() == 1;
    if (c.island_b >= 0) {
      const RowSpan b = islands[at(c.island_b)]->span(c.node_b);
      c.part_b = b.part;
      c.one_part = c.one_part && islands[at(c.island_b)]->parts() == 1;
      // Both ends in one part: the rows add up to one.
      if (c.island_a != c.island_b || a.part != b.part) hot.b = b.coordinates, hot.width_b = b.width, hot.blocks_b = b.blocks;
    }
    total += 3 * static_cast<std::size_t>(hot.width_a + hot.width_b);
  }
  if (room.rows.size() < total) room.rows.resize(2 * total);
  double* next = room.rows.data();
  for (RowContact& hot : room.hot) {
    hot.rows_a = next;
    hot.rows_b = next + 3 * hot.width_a;
    next = hot.rows_b + 3 * hot.width_b;
  }
}

void ContactSolver::fill(const World& world, Islands& islands, GroupRoom& room, std::size_t index, double step) const {
  const GroupRoom::Active& where = room.active[index];
  ContactPoint& c = points_[at(where.point)];
  RowContact& hot = room.hot[index];
  Island& a = *islands[at(where.island_a)];
  a.write_rows(where.node_a, c.arm_a, c.frame, 1, false, hot.rows_a);
  Vec3 velocity = a.predicted_velocity(where.node_a, c.arm_a);
  std::fill(std::begin(hot.gram), std::end(hot.gram), 0.0);
  if (where.island_b >= 0) {
    Island& b = *islands[at(where.island_b)];
    const bool own_rows = hot.width_b > 0;
    b.write_rows(where.node_b, c.arm_b, c.frame, -1, !own_rows, own_rows ? hot.rows_b : hot.rows_a);
    velocity -= b.predicted_velocity(where.node_b, c.arm_b);
    if (&a == &b && hot.width_b > 0) a.add_cross_terms(where.part_a, hot.rows_a, where.part_b, hot.rows_b, hot.gram);
  } else {
    velocity -= world.bodies[at(c.b)].velocity_at(c.arm_b);
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
  const Body &body_a = world.bodies[at(c.a)], &body_b = world.bodies[at(c.b)];
  const double least = 1e-5 * (1 / body_a.mass + (where.island_b >= 0 ? 1 / body_b.mass : 0));
  hot.normal_gain = hot.gram[0] > least ? 1 / (hot.gram[0] * (1 + give)) : 0;
  const double mean = (hot.gram[3] + hot.gram[5]) / 2, half = (hot.gram[3] - hot.gram[5]) / 2;
  const double largest = mean + std::sqrt(half * half + hot.gram[4] * hot.gram[4]);
  hot.tangent_gain = largest > least ? 1 / largest : 0;
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

void ContactSolver::number_places(const Islands& islands, const Group& group, GroupRoom& room) const {
  room.first_place.resize(islands.size());
  room.above.clear();
  for (std::size_t i = group.first_island; i < group.last_island; ++i) {
    const Island& island = *islands[at(islands_[i])];
    const int first = room.first_place[at(islands_[i])] = static_cast<int>(room.above.size());
    for (int part = 0; part < island.parts(); ++part) room.above.push_back(part == 0 ? -1 : first + island.part_above(part));
  }
  const auto place = [&](int island, int part) { return room.first_place[at(island)] + (islands[at(island)]->parts() == 1 ? 0 : part); };
  for (GroupRoom::Active& c : room.active) {
    c.place_a = place(c.island_a, c.part_a);
    c.place_b = c.island_b >= 0 ? place(c.island_b, c.part_b) : c.place_a;
  }
}

// The sweeps go on where something has not settled, and beside it; every fourth, and the last,
// goes through all, for what travels farther.
void ContactSolver::sweep(Islands& islands, const Group& group, GroupRoom& room) const {
  const std::size_t contacts = room.active.size();
  const std::size_t sweeps = std::clamp<std::size_t>(most_work / contacts, fewest_sweeps, most_sweeps);
  const double count = static_cast<double>(group.last_island - group.first_island);
  const double fine = count == 1 ? settled : settled_together / (count * count);
  bool direct = count > 1 && contacts <= most_direct;
  for (const GroupRoom::Active& c : room.active) direct = direct && c.one_part;
  std::size_t next_direct = sweeps_before_direct;
  number_places(islands, group, room);
  room.stirred.assign(room.above.size(), 0);
  bool all = true;
  for (std::size_t i = 0; i < std::max(sweeps, most_rough_sweeps); ++i) {
    const double enough = i < sweeps ? fine : unsettled;
    double most = 0;
    room.stirring.assign(room.above.size(), 0);
    for (std::size_t k = 0; k < contacts; ++k) {
      const GroupRoom::Active& c = room.active[k];
      if (!all && !room.stirred[at(c.place_a)] && !room.stirred[at(c.place_b)]) continue;
      const double change = solve_one(islands, room, k);
      if (change >= enough) room.stirring[at(c.place_a)] = room.stirring[at(c.place_b)] = 1;
      most = std::max(most, change);
    }
    if (all && most < enough) break;
    if (direct && i == next_direct) (void)solve_directly(room), next_direct = 3 * next_direct;
    all = (i + 1) % 4 == 0 || most < enough;
    room.stirred = room.stirring;
    for (std::size_t place = 0; place < room.above.size(); ++place) {
      if (room.above[place] < 0) continue;
      const std::size_t above = at(room.above[place]);
      if (room.stirring[place]) room.stirred[above] = 1;
      if (room.stirring[above]) room.stirred[place] = 1;
    }
  }
}

double ContactSolver::solve_one(Islands& islands, GroupRoom& room, std::size_t index) const {
  const GroupRoom::Active& where = room.active[index];
  RowContact& hot = room.hot[index];
  if (where.one_part) return wide_solve(hot);
  Island& a = *islands[at(where.island_a)];
  a.move_to(where.part_a);
  if (hot.width_b == 0) return wide_solve(hot);
  Island& b = *islands[at(where.island_b)];
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

// Body::push becomes the change of the impulses since predict().
void ContactSolver::take_impulses(World& world, Islands& islands, const Group& group, GroupRoom& room, ThreadPool* threads) const {
  for_islands(islands, group, threads, [&](const Island& island) {
    for (int body : island.bodies()) world.bodies[at(body)].push = {};
  });
  for (std::size_t i = 0; i < room.active.size(); ++i) {
    ContactPoint& c = points_[at(room.active[i].point)];
    const RowContact& hot = room.hot[i];
    const Vec3 impulse = c.frame[0] * hot.impulse[0] + c.frame[1] * hot.impulse[1] + c.frame[2] * hot.impulse[2];
    const Vec3 change = impulse - c.impulse;
    c.impulse = impulse;
    Body &a = world.bodies[at(c.a)], &b = world.bodies[at(c.b)];
    a.push = a.push + at_centre(c.arm_a, change);
    if (b.island >= 0) b.push = b.push - at_centre(c.arm_b, change);
  }
}

}  // namespace volvox::physics::native
