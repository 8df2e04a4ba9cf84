#include "volvox/physics/native/contact_solver.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <tuple>

#include "volvox/physics/native/bounce.h"
#include "volvox/physics/native/contact_rules.h"
#include "volvox/physics/native/detector.h"
#include "volvox/physics/native/plane_contacts.h"
#include "volvox/physics/native/tree.h"

namespace volvox::physics::native {
namespace {

Spatial<double> at_centre(const Vec3& arm, const Vec3& impulse) {
  return {lane(volvox::cross(arm, impulse)), lane(impulse)};
}

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// Of a body that nothing touches and no joint holds.
Vec3 outer_acceleration(const World& world, int index) {
  const Body& body = world.bodies[at(index)];
  return body.island < 0 ? Vec3{} : (body.weight + world.system.forces[at(index)].force) / body.mass;
}

// From the axle to the rim.
Vec3 rim_point(const Body& a, const Body& b, const ContactPoint& c) {
  const Vec3 axle = plain(a.axes * lane(a.axle)), outward = plain(b.axes * lane(c.outward));
  const Vec3 across = outward - axle * dot(axle, outward);
  return across * (c.rim / std::max(length(across), 1e-9));
}

}  // namespace

// Within a group contacts keep the order of detection, so that the result depends neither on the slots of islands nor
// on the number of threads.
void ContactSolver::regroup(const World& world, const Islands& islands, const PlaneContacts& planes) {
  touching_.reset(islands.size());
  group_of_.assign(islands.size(), -1);
  for (const ContactPoint& c : points_) {
    const int island_a = world.bodies[at(c.a)].island, island_b = world.bodies[at(c.b)].island;
    if (island_b < 0) continue;
    touching_.join(static_cast<std::uint32_t>(island_a), static_cast<std::uint32_t>(island_b));
  }
  groups_.clear();
  bodies_ = 0;
  for (std::size_t i = 0; i < islands.size(); ++i) {
    if (!islands[i] || planes.alone(static_cast<int>(i))) continue;
    const std::uint32_t root = touching_.root(static_cast<std::uint32_t>(i));
    if (group_of_[root] < 0) {
      group_of_[root] = static_cast<int>(groups_.size());
      groups_.push_back({});
    }
    group_of_[i] = group_of_[root];
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
    if (group_of_[i] >= 0) islands_[groups_[at(group_of_[i])].last_island++] = static_cast<int>(i);
  }
  for (std::size_t i = 0; i < points_.size(); ++i) {
    order_[groups_[at(group_of_[at(world.bodies[at(points_[i].a)].island)])].last_point++] = static_cast<int>(i);
  }
}

// Groups of one small tree that touches nothing that moves.
void ContactSolver::take_lone_trees(const World& world, const Islands& islands, const Detector& detector,
                                    std::vector<FlockMember>& members) {
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
    const auto open = [&](int joint) {
      return joint >= 0 && world.system.joint_descs[at(joint)].type == JointType::dock &&
             !world.system.latches[at(joint)].closed();
    };
    const auto hasty = [&](int body) { return detector.in_hasty_pair(body); };
    if (std::any_of(tree->bodies().begin(), tree->bodies().end(), hasty)) continue;
    if (!std::all_of(own.begin(), own.end(), stands) || std::any_of(tree->joints().begin(), tree->joints().end(), open))
      continue;
    lone_[at(islands_[group.first_island])] = 1;
    const int* first = lone_points_.data() + lone_points_.size();
    lone_points_.insert(lone_points_.end(), own.begin(), own.end());
    std::uint64_t where = 0;
    for (int point : own) where += std::uint64_t{1} << (5 * world.bodies[at(points_[at(point)].a)].node);
    members.push_back(
        {tree, islands_[group.first_island], {first, points}, where, false, tree->pattern(), tree->bodies()[0]});
  }
}

void ContactSolver::line_up() {
  line_.clear();
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].awake && !lone_[at(islands_[groups_[i].first_island])]) line_.push_back(i);
  }
  std::sort(line_.begin(), line_.end(), [&](std::size_t x, std::size_t y) {
    return std::tuple(groups_[y].bodies, x) < std::tuple(groups_[x].bodies, y);
  });
}

template <class Visit>
void ContactSolver::for_islands(Islands& islands, const Group& group, ThreadPool* threads, const Visit& visit) const {
  if (group.last_island - group.first_island == 1) return visit(*islands[at(islands_[group.first_island])], threads);
  parallel_for(threads, group.last_island - group.first_island, 1,
               [&](std::size_t i) { visit(*islands[at(islands_[group.first_island + i])], nullptr); });
}

void ContactSolver::advance_group(World& world, Islands& islands, std::size_t index, double step,
                                  ThreadPool* threads) const {
  static thread_local GroupRoom own_room;
  GroupRoom& room = own_room;  // belongs to this thread
  const Group& group = groups_[index];
  Work::add(work_.group_substeps, 1);
  place(world, islands, group, threads);
  refresh(world, group, step, threads);
  share_weight(world, islands, group, threads);
  start_impulses(world, group, step);
  for_islands(islands, group, threads, [&](Island& island, ThreadPool* own) { island.predict(world, step, own); });
  collect_active(world, group, room);
  if (!room.active.empty()) solve(world, islands, group, room, step, threads);
  take_impulses(world, islands, group, room, step, threads);
  for_islands(islands, group, threads, [&](Island& island, ThreadPool* own) { island.finish(world, step, own); });
}

// Where contacts refute the expected state of a drive (see Verdict), those islands are predicted again and all contacts
// start again from their first impulses. (Sweeps that went on from impulses found with a motor that was too strong left
// jammed robots with errors that they did not remove.)
void ContactSolver::solve(World& world, Islands& islands, const Group& group, GroupRoom& room, double step,
                          ThreadPool* threads) const {
  if (room.anew.size() < islands.size()) room.anew.resize(islands.size());
  for (std::size_t i = group.first_island; i < group.last_island; ++i) room.anew[at(islands_[i])] = 1;
  choose_lanes(islands, room);
  divide(world, islands, group, room);
  lay_out_rows(islands, room);
  number_places(islands, room);
  if (room.in_lanes) lay_out_coordinates(islands, room);
  for (int attempt = 1;; ++attempt) {
    Work::add(work_.attempts, 1);
    start(islands, group, room);
    whiten(islands, group, room, threads);
    parallel_for(threads, room.active.size(), 64, [&](std::size_t i) { fill(world, islands, room, i, step); });
    if (room.in_lanes) sweep_in_lanes(world, islands, group, room, step, threads);
    else sweep(islands, group, room, threads);
    const Verdict verdict = take_up(world, islands, group, room, threads);
    if (verdict == Verdict::holds ||
        attempt >= (verdict == Verdict::misplaced ? most_attempts_at_limits : most_attempts))
      return;
    for_islands(islands, group, threads, [&](Island& island, ThreadPool* own) {
      if (room.anew[at(world.bodies[at(island.bodies().front())].island)]) island.predict_again(world, own);
    });
  }
}

Verdict ContactSolver::take_up(World& world, Islands& islands, const Group& group, GroupRoom& room,
                               ThreadPool* threads) const {
  std::atomic<Verdict> worst = Verdict::holds;
  for_islands(islands, group, threads, [&](Island& island, ThreadPool* own) {
    const Verdict verdict = island.take_up(world, own);
    room.anew[at(world.bodies[at(island.bodies().front())].island)] = verdict != Verdict::holds;
    raise_to(worst, verdict);
  });
  return worst;
}

void ContactSolver::place(World& world, Islands& islands, const Group& group, ThreadPool* threads) const {
  for_islands(islands, group, threads, [&](const Island& island, ThreadPool* own) {
    parallel_for(own, island.bodies().size(), 256, [&](std::size_t i) {
      Body& body = world.bodies[at(island.bodies()[i])];
      body.axes = rotation_matrix(lane(body.rotation));
      body.push = {};
      body.touches = 0, body.carried = body.held = false;
    });
  });
}

// How much faster than now two bodies may approach in this substep, m/s: a body that is hit passes its speed on.
double ContactSolver::reach_of(const Group& group, double step) const {
  if (group.last_island - group.first_island == 1) return least_reach;
  double fastest = least_reach;
  for (std::size_t i = group.first_point; i < group.last_point; ++i) {
    const ContactPoint& c = points_[at(order_[i])];
    if (c.separation + c.approach * step <= 0) fastest = std::max(fastest, -c.approach);
  }
  return std::min(fastest, reach_speed);
}

// Updates the geometry of contacts to the present poses.
void ContactSolver::refresh(World& world, const Group& group, double step, ThreadPool* threads) const {
  parallel_for(threads, group.last_point - group.first_point, 64,
               [&](std::size_t i) { refresh_point(world, points_[at(order_[group.first_point + i])], step); });
  const double reach = reach_of(group, step);
  for (std::size_t i = group.first_point; i < group.last_point; ++i) {
    ContactPoint& c = points_[at(order_[i])];
    if (!c.active) continue;
    if (c.impulse == Vec3{} && c.separation > step * (std::max(0.0, -c.approach) + reach)) {
      c.active = false, c.rebound = 0;
      continue;
    }
    Body& a = world.bodies[at(c.a)];
    ++a.touches;
    if (c.impulse != Vec3{}) a.carried = true;
  }
}

void ContactSolver::share_weight(World& world, Islands& islands, const Group& group, ThreadPool* threads) const {
  for_islands(islands, group, threads, [&](const Island& island, ThreadPool*) {
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

// The first guess for a body that lands on the world: its contacts share the impulse that would stop this body, with
// its part of the island's mass, alone. For a long chain that lies down this is close to the solution. From zero, the
// sweep would let the first contacts carry the whole chain, and the loads between them would break it.
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
  // One point for both sides, half-way between the two surfaces, at the corner that touches and not at the place of the
  // face where it was found. (A body that rolls on a face moves away from that place, and pressure there would drive
  // it.)
  const Vec3 point = c.normal_of == ContactPoint::NormalOf::a
                         ? on_a - between + n * (c.radius - c.radius_a + c.separation / 2)
                         : on_a - n * (c.radius_a + c.separation / 2);
  c.arm_a = point;
  c.arm_b = a.position + point - b.position;
  c.approach = dot(n, a.velocity_at(c.arm_a) - b.velocity_at(c.arm_b));
  if (c.rebound < 0) c.impulse = {}, c.rebound = 0;
  c.active = c.separation <= step * (std::max(0.0, -c.approach) + reach_speed) || c.impulse != Vec3{};
  if (!c.active) c.rebound = 0;
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
  room.in_lanes = false;
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
    islands[at(islands_[group.first_island])]->whiten(room.touched, threads);
    return;
  }
  // The nodes of each island, one island after the other.
  const std::size_t count = group.last_island - group.first_island;
  room.weight.resize(islands.size());
  for (std::size_t i = 0; i < count; ++i) room.weight[at(islands_[group.first_island + i])] = 0;
  const auto for_ends = [&](const auto& visit) {
    for (const GroupRoom::Active& c : room.active) {
      if (room.anew[at(c.island_a)]) visit(room.weight[at(c.island_a)], c.node_a);
      if (c.island_b >= 0 && room.anew[at(c.island_b)]) visit(room.weight[at(c.island_b)], c.node_b);
    }
  };
  for_ends([](std::size_t& ends, int) { ++ends; });
  room.first_end.resize(count + 1);
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t& ends = room.weight[at(islands_[group.first_island + i])];
    room.first_end[i] = next, next += ends, ends = room.first_end[i];
  }
  room.first_end[count] = next;
  if (room.touched.capacity() < next) room.touched.reserve(2 * next);
  room.touched.resize(next);
  for_ends([&](std::size_t& place, int node) { room.touched[place++] = node; });
  parallel_for(threads, count, 1, [&](std::size_t i) {
    const auto first = room.touched.begin() + static_cast<std::ptrdiff_t>(room.first_end[i]),
               last = room.touched.begin() + static_cast<std::ptrdiff_t>(room.first_end[i + 1]);
    if (first == last) return;
    std::sort(first, last);
    islands[at(islands_[group.first_island + i])]->whiten({first, std::unique(first, last)}, nullptr);
  });
}

void ContactSolver::lay_out_rows(Islands& islands, GroupRoom& room) const {
  room.hot.resize(room.active.size());
  std::size_t total = 0;
  for (std::size_t i = 0; i < room.active.size(); ++i) {
    GroupRoom::Active& c = room.active[i];
    RowContact& hot = room.hot[i];
    RowSpan a = islands[at(c.island_a)]->span(c.node_a);
    hot.b = nullptr, hot.width_b = 0, hot.blocks_b = nullptr;
    c.part_a = c.part_b = a.part;
    c.one_part = islands[at(c.island_a)]->parts() == 1;
    if (c.island_b >= 0) {
      const RowSpan b = islands[at(c.island_b)]->span(c.node_b);
      c.part_b = b.part;
      c.one_part = c.one_part && islands[at(c.island_b)]->parts() == 1;
      // Both ends in one part: the rows add up to one.
      if (c.island_a != c.island_b || a.part != b.part)
        hot.b = b.coordinates, hot.width_b = b.width, hot.blocks_b = b.blocks;
      else a = islands[at(c.island_a)]->whole_span(c.node_a);
    }
    hot.a = a.coordinates, hot.width_a = a.width, hot.blocks_a = a.blocks;
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

void ContactSolver::start(Islands& islands, const Group& group, GroupRoom& room) const {
  for (std::size_t i = group.first_island; i < group.last_island; ++i) islands[at(islands_[i])]->clear_coordinates();
  if (room.in_lanes) std::fill(room.coordinates.begin(), room.coordinates.end(), 0.0);
  for (std::size_t i = 0; i < room.active.size(); ++i) {
    const ContactPoint& c = points_[at(room.active[i].point)];
    for (int k = 0; k < 3; ++k) room.hot[i].impulse[k] = dot(c.impulse, c.frame[k]);
  }
}

void ContactSolver::fill(const World& world, Islands& islands, GroupRoom& room, std::size_t index, double step) const {
  const GroupRoom::Active& where = room.active[index];
  if (!room.anew[at(where.island_a)] && (where.island_b < 0 || !room.anew[at(where.island_b)])) return;
  prepare(world, islands, room, index, step);
  // A contact that does not push may never need its rows.
  const bool pushes = points_[at(where.point)].impulse != Vec3{} || room.hot[index].free[0] < room.hot[index].target;
  if (!where.in_lanes || pushes) fill_rows(world, islands, room, index, step);
}

// What is known of a contact without its rows. Its target assumes that it has not pushed yet.
void ContactSolver::prepare(const World& world, Islands& islands, GroupRoom& room, std::size_t index,
                            double step) const {
  const GroupRoom::Active& where = room.active[index];
  ContactPoint& c = points_[at(where.point)];
  RowContact& hot = room.hot[index];
  Vec3 velocity = islands[at(where.island_a)]->predicted_velocity(where.node_a, c.arm_a);
  velocity -= where.island_b >= 0 ? islands[at(where.island_b)]->predicted_velocity(where.node_b, c.arm_b)
                                  : world.bodies[at(c.b)].velocity_at(c.arm_b);
  for (int i = 0; i < 3; ++i) hot.free[i] = dot(velocity, c.frame[i]);
  const double pull = dot(c.frame[0], outer_acceleration(world, c.a) - outer_acceleration(world, c.b));
  const Bounce<double> bounce =
      plan_bounce<double>({c.restitution, c.separation, c.approach, c.rebound, c.impulse != Vec3{}, pull, step});
  c.bounces = bounce.now, c.next_rebound = bounce.later, c.powerless = false;
  set_target(c, 0, step);
  hot.least_target = bounce.now ? bounce.speed : unheard_of, hot.passes = bounce.pass;
  hot.target = hot.passes ? unheard_of : std::max(c.target, hot.least_target);
}

void ContactSolver::fill_rows(const World& world, Islands& islands, GroupRoom& room, std::size_t index,
                              double step) const {
  const GroupRoom::Active& where = room.active[index];
  ContactPoint& c = points_[at(where.point)];
  RowContact& hot = room.hot[index];
  Island& a = *islands[at(where.island_a)];
  const bool both = where.island_a == where.island_b && hot.width_b == 0;  // sides in one row
  a.write_rows(where.node_a, c.arm_a, c.frame, 1, false, both, hot.rows_a);
  std::fill(std::begin(hot.gram), std::end(hot.gram), 0.0);
  if (where.island_b >= 0) {
    Island& b = *islands[at(where.island_b)];
    b.write_rows(where.node_b, c.arm_b, c.frame, -1, both, both, both ? hot.rows_a : hot.rows_b);
    if (&a == &b && hot.width_b > 0) a.add_cross_terms(where.part_a, hot.rows_a, where.part_b, hot.rows_b, hot.gram);
  }
  wide_gram(hot.rows_a, hot.width_a, hot.gram);
  if (hot.width_b > 0) wide_gram(hot.rows_b, hot.width_b, hot.gram);
  hot.friction = c.friction;
  const Body &body_a = world.bodies[at(c.a)], &body_b = world.bodies[at(c.b)];
  const double alone = 1 / body_a.mass + (where.island_b >= 0 ? 1 / body_b.mass : 0), least = 1e-5 * alone;
  double give = c.separation < -deep && !c.bounces ? softness * std::min(hot.gram[0], alone) : 0;
  const bool pinched =
      hot.gram[0] > least && a.anchored() && (where.island_b < 0 || islands[at(where.island_b)]->anchored());
  if (where.island_a == where.island_b || pinched) give = std::max(give, softness_within * alone);
  set_target(c, give, step);
  hot.target = hot.passes ? unheard_of : std::max(c.target, hot.least_target);
  hot.keep = give > 0 ? hot.gram[0] / (hot.gram[0] + give) : 1;  // without give, even the response may be zero
  hot.normal_gain = hot.gram[0] > least ? 1 / (hot.gram[0] + give) : 0;
  c.powerless = hot.gram[0] <= least;
  const double mean = (hot.gram[3] + hot.gram[5]) / 2, half = (hot.gram[3] - hot.gram[5]) / 2;
  const double largest = mean + std::sqrt(half * half + hot.gram[4] * hot.gram[4]);
  hot.tangent_gain = largest > least ? 1 / largest : 0;
}

// The load of a soft contact reduces its target by give * impulse; the bound on the speed of separation applies to the
// rest.
void ContactSolver::set_target(ContactPoint& c, double give, double step) const {
  const double fastest = fastest_push + give * dot(c.impulse, c.frame[0]);
  c.target = c.separation > 0 ? -c.separation / step
                              : clamp(correction * (-c.separation - allowed_overlap) / step, 0, fastest);
}

// Whether a contact holds its bodies at the end of the sweeps. One without an impulse does, too, if its gap is smaller
// than the fall of a substep: outer_fall() may bring the bodies that much nearer than the sweeps assume.
bool ContactSolver::holds(const World& world, Islands& islands, GroupRoom& room, std::size_t index, double step) const {
  const GroupRoom::Active& where = room.active[index];
  const ContactPoint& c = points_[at(where.point)];
  const RowContact& hot = room.hot[index];
  if (hot.impulse[0] > 0) return !c.bounces;
  if (c.restitution > 0) return false;
  const double fall =
      (length(outer_acceleration(world, c.a)) + length(outer_acceleration(world, c.b))) * step * step / 2;
  if (where.in_lanes) {
    if (c.separation + (hot.target + room.least_spare[index]) * step >= fall) return false;
    return c.separation + (hot.target + spare_in_lanes(islands, room, index)) * step < fall;
  }
  return c.separation + (where.one_part ? velocity_of(hot, 0) : c.approach) * step < fall;
}

// Body::push becomes the change of the impulses since predict().
void ContactSolver::take_impulses(World& world, Islands& islands, const Group& group, GroupRoom& room, double step,
                                  ThreadPool* threads) const {
  for_islands(islands, group, threads, [&](const Island& island, ThreadPool* own) {
    parallel_for(own, island.bodies().size(), 256,
                 [&](std::size_t i) { world.bodies[at(island.bodies()[i])].push = {}; });
  });
  for (std::size_t i = 0; i < room.active.size(); ++i) {
    ContactPoint& c = points_[at(room.active[i].point)];
    const RowContact& hot = room.hot[i];
    const Vec3 impulse = c.frame[0] * hot.impulse[0] + c.frame[1] * hot.impulse[1] + c.frame[2] * hot.impulse[2];
    const Vec3 change = impulse - c.impulse;
    c.impulse = impulse;
    c.rebound = c.next_rebound;
    Body &a = world.bodies[at(c.a)], &b = world.bodies[at(c.b)];
    if (holds(world, islands, room, i, step)) {
      a.held = true;
      if (b.island >= 0) b.held = true;
    }
    a.push = a.push + at_centre(c.arm_a, change);
    if (b.island >= 0) b.push = b.push - at_centre(c.arm_b, change);
  }
}

}  // namespace volvox::physics::native
