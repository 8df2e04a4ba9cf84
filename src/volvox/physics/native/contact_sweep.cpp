// The sweep over the contacts of a group.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>

#include "volvox/physics/native/contact_rules.h"
#include "volvox/physics/native/contact_solver.h"

namespace volvox::physics::native {
namespace {

// Groups of few contacts (most_direct) that have not settled after so many sweeps are also solved
// directly, for the contacts that then touch, stick and slide; again after three times as many.
constexpr std::size_t sweeps_before_direct = 12;
// A group of two strips or more is cut into them; each has about so many contacts, or more where
// there would be too many strips.
constexpr std::size_t contacts_of_a_strip = 200, contacts_of_a_strip_in_lanes = 800, most_strips = 16;
// Fewer than this are swept before another thread has begun.
constexpr std::size_t worth_sharing = 256;

// Measuring more coordinates than this takes longer than to look at a contact.
constexpr std::size_t most_measured = 128;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

void measure(const GroupRoom& room, GroupRoom::Journey& journey) {
  if (journey.measured) return;
  journey.measured = true;
  journey.away = wide_distance(journey.coordinates.data(), room.anchors.data() + journey.anchor,
                               static_cast<int>(journey.coordinates.size()));
}

void travel(GroupRoom::Journey& journey, double length) {
  if (journey.coordinates.empty()) {
    journey.gone += length;
  } else {
    journey.away += length, journey.measured = false;
  }
}

double coordinate(const Vec3& v, int axis) {
  const double c = axis == 0 ? v.x : axis == 1 ? v.y : v.z;
  return std::isfinite(c) ? c : 0;  // the end of the tick names who has run away
}

}  // namespace

// The islands of a large group are cut into strips across its longest side. Contacts within a
// strip concern nobody in another, nor do those between two strips beside each other concern
// anybody in the next two: each of these sections can be swept while others are. So the order of
// the sweep is: within the strips; between the 1st and 2nd, 3rd and 4th, ...; between the 2nd and
// 3rd, ...; and what reaches farther. It does not depend on who is there to sweep.
void ContactSolver::divide(const World& world, const Islands& islands, const Group& group, GroupRoom& room) const {
  const std::size_t contacts = room.active.size(), count = group.last_island - group.first_island;
  const std::size_t of_a_strip = room.in_lanes ? contacts_of_a_strip_in_lanes : contacts_of_a_strip;
  const int strips = static_cast<int>(std::min({contacts / of_a_strip, count, most_strips}));
  room.phases.clear(), room.sections.clear();
  room.across.assign(islands_.begin() + static_cast<std::ptrdiff_t>(group.first_island),
                     islands_.begin() + static_cast<std::ptrdiff_t>(group.last_island));
  if (strips < 2 && !room.in_lanes) {
    room.sections.push_back({0, contacts, contacts});
    room.phases = {0, 1};
    sort_by_parts(islands, room);
    return;
  }
  if (strips >= 2) cut_into_strips(world, islands, room, strips);
  const auto section_of = [&](const GroupRoom::Active& c) {
    if (strips < 2) return 0;
    const int a = room.strip[at(c.island_a)], b = c.island_b < 0 ? a : room.strip[at(c.island_b)],
              lower = std::min(a, b);
    if (a == b) return a;
    if (std::abs(a - b) > 1) return 2 * strips - 1;
    return strips + (lower % 2 == 0 ? lower / 2 : strips / 2 + lower / 2);
  };
  room.sections.resize(static_cast<std::size_t>(strips < 2 ? 1 : 2 * strips));
  for (const GroupRoom::Active& c : room.active) {
    GroupRoom::Section& section = room.sections[at(section_of(c))];
    ++(c.in_lanes ? section.end : section.last);
  }
  std::size_t next = 0;
  for (GroupRoom::Section& section : room.sections) {
    const std::size_t alone = section.last, side_by_side = section.end;
    section.first = section.last = next, next += alone;
    section.end = next, next += side_by_side;
  }
  if (room.sorted.capacity() < contacts) room.sorted.reserve(2 * contacts);
  room.sorted.resize(contacts);
  for (const GroupRoom::Active& c : room.active) {
    GroupRoom::Section& section = room.sections[at(section_of(c))];
    room.sorted[(c.in_lanes ? section.end : section.last)++] = c;
  }
  room.active.swap(room.sorted);
  sort_by_parts(islands, room);
  room.phases = {0, 1};
  if (strips < 2) return;
  const std::size_t n = static_cast<std::size_t>(strips);
  room.phases = {0, n, n + n / 2, 2 * n - 1, 2 * n};
}

// On trees of several parts contacts are solved body by body, so that the work moves from part to part only once.
void ContactSolver::sort_by_parts(const Islands& islands, GroupRoom& room) const {
  for (const GroupRoom::Section& section : room.sections) {
    const auto first = room.active.begin() + static_cast<std::ptrdiff_t>(section.first),
               last = room.active.begin() + static_cast<std::ptrdiff_t>(section.last);
    const auto in_parts = [&](const GroupRoom::Active& c) { return islands[at(c.island_a)]->parts() > 1; };
    if (!std::any_of(first, last, in_parts)) continue;
    std::sort(first, last, [&](const GroupRoom::Active& x, const GroupRoom::Active& y) {
      const int body_x = points_[at(x.point)].a, body_y = points_[at(y.point)].a;
      return body_x != body_y ? body_x < body_y : x.point < y.point;
    });
  }
}

// With as many contacts each.
void ContactSolver::cut_into_strips(const World& world, const Islands& islands, GroupRoom& room, int strips) const {
  const auto place = [&](int island) -> const Vec3& {
    return world.bodies[at(islands[at(island)]->bodies().front())].position;
  };
  std::array<double, 3> low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};
  room.weight.resize(islands.size()), room.strip.resize(islands.size());
  for (int island : room.across) {
    room.weight[at(island)] = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], coordinate(place(island), static_cast<int>(k)));
      high[k] = std::max(high[k], coordinate(place(island), static_cast<int>(k)));
    }
  }
  int axis = 0;
  for (int k = 1; k < 3; ++k) {
    if (high[at(k)] - low[at(k)] > high[at(axis)] - low[at(axis)]) axis = k;
  }
  for (const GroupRoom::Active& c : room.active) ++room.weight[at(c.island_a)];
  // Slots of islands must not be seen in the result, but bodies may.
  std::sort(room.across.begin(), room.across.end(), [&](int x, int y) {
    const double at_x = coordinate(place(x), axis), at_y = coordinate(place(y), axis);
    return at_x != at_y ? at_x < at_y : islands[at(x)]->bodies().front() < islands[at(y)]->bodies().front();
  });
  std::size_t before = 0;
  for (int island : room.across) {
    room.strip[at(island)] =
        std::min(strips - 1, static_cast<int>(before * static_cast<std::size_t>(strips) / room.active.size()));
    before += room.weight[at(island)];
  }
}

// Strip by strip, so that threads do not write side by side.
void ContactSolver::number_places(const Islands& islands, GroupRoom& room) const {
  room.first_place.resize(islands.size());
  room.above.clear();
  for (int index : room.across) {
    const Island& island = *islands[at(index)];
    const int first = room.first_place[at(index)] = static_cast<int>(room.above.size());
    for (int part = 0; part < island.parts(); ++part)
      room.above.push_back(part == 0 ? -1 : first + island.part_above(part));
  }
  const auto place = [&](int island, int part) {
    return room.first_place[at(island)] + (islands[at(island)]->parts() == 1 ? 0 : part);
  };
  for (GroupRoom::Active& c : room.active) {
    c.place_a = place(c.island_a, c.part_a);
    c.place_b = c.island_b >= 0 ? place(c.island_b, c.part_b) : c.place_a;
  }
}

void ContactSolver::wake_idle(const Islands& islands, const Group& group, GroupRoom& room) const {
  room.journeys.resize(islands.size());
  std::size_t anchors = 0;
  for (std::size_t i = group.first_island; i < group.last_island; ++i) {
    const Island& island = *islands[at(islands_[i])];
    GroupRoom::Journey& journey = room.journeys[at(islands_[i])];
    journey = {};
    if (island.parts() > 1 || (!room.in_lanes && island.coordinates().size() > most_measured)) continue;
    journey.coordinates = island.coordinates(), journey.anchor = anchors;
    if (room.in_lanes)
      journey.coordinates = {room.coordinates.data() + room.first_coordinate[at(islands_[i])],
                             journey.coordinates.size()};
    anchors += journey.coordinates.size();
  }
  if (room.anchors.size() < anchors) room.anchors.resize(2 * anchors);
  std::fill_n(room.anchors.begin(), anchors, 0.0);  // where they are
  if (room.idle.capacity() < room.active.size()) room.idle.reserve(2 * room.active.size());
  room.idle.resize(room.active.size());
  for (std::size_t i = 0; i < room.active.size(); ++i) {
    if (!room.active[i].in_lanes) room.idle[i] = {-1, (1 + 1e-6) * std::sqrt(room.hot[i].gram[0]), 0};
  }
}

void ContactSolver::drop_anchors(const Group& group, GroupRoom& room) const {
  for (std::size_t i = group.first_island; i < group.last_island; ++i) {
    GroupRoom::Journey& journey = room.journeys[at(islands_[i])];
    if (journey.coordinates.empty()) continue;
    measure(room, journey);
    journey.gone += journey.away, journey.away = 0;
    std::copy(journey.coordinates.begin(), journey.coordinates.end(),
              room.anchors.begin() + static_cast<std::ptrdiff_t>(journey.anchor));
  }
}

// The sweeps go on where something has not settled, and beside it; every fourth, and the last,
// goes through all, for what travels farther.
void ContactSolver::sweep(Islands& islands, const Group& group, GroupRoom& room, ThreadPool* threads) const {
  const std::size_t contacts = room.active.size();
  const std::size_t sweeps = std::clamp<std::size_t>(most_work / contacts, fewest_sweeps, most_sweeps);
  const double count = static_cast<double>(group.last_island - group.first_island);
  const double fine = count == 1 ? settled : settled_together / (count * count);
  bool direct = count > 1 && contacts <= most_direct;
  for (const GroupRoom::Active& c : room.active) direct = direct && c.one_part;
  std::size_t next_direct = sweeps_before_direct;
  room.stirred.assign(room.above.size(), 0);
  wake_idle(islands, group, room);
  bool all = true;
  for (std::size_t i = 0; i < std::max(sweeps, most_rough_sweeps); ++i) {
    const double enough = i < sweeps ? fine : unsettled;
    room.stirring.assign(room.above.size(), 0);
    for (std::size_t phase = 0; phase + 1 < room.phases.size(); ++phase) {
      const std::span<GroupRoom::Section> sections(room.sections.data() + room.phases[phase],
                                                   room.phases[phase + 1] - room.phases[phase]);
      std::size_t work = 0;
      for (const GroupRoom::Section& section : sections) work += all ? section.last - section.first : section.swept;
      parallel_for(work < worth_sharing ? nullptr : threads, sections.size(), 1,
                   [&](std::size_t k) { sweep(islands, room, sections[k], all, enough); });
    }
    double most = 0;
    std::size_t swept = 0;
    for (const GroupRoom::Section& section : room.sections) most = std::max(most, section.most), swept += section.swept;
    Work::add(work_.sweeps, 1), Work::add(work_.contact_solves, swept);
    if (all && most < enough) break;
    if (direct && i == next_direct) {
      (void)solve_directly(room), next_direct = 3 * next_direct;
      for (GroupRoom::Idle& idle : room.idle) idle.spare = -1;
    }
    all = (i + 1) % 4 == 0 || most < enough;
    drop_anchors(group, room);
    room.stirred = room.stirring;
    for (std::size_t place = 0; place < room.above.size(); ++place) {
      if (room.above[place] < 0) continue;
      const std::size_t above = at(room.above[place]);
      if (room.stirring[place]) room.stirred[above] = 1;
      if (room.stirring[above]) room.stirred[place] = 1;
    }
  }
}

void ContactSolver::sweep(Islands& islands, GroupRoom& room, GroupRoom::Section& section, bool all,
                          double enough) const {
  double most = 0;
  std::size_t swept = 0;
  const GroupRoom::Journey stays;
  for (std::size_t i = section.first; i < section.last; ++i) {
    const GroupRoom::Active& c = room.active[i];
    if (!all && !room.stirred[at(c.place_a)] && !room.stirred[at(c.place_b)]) continue;
    GroupRoom::Idle& idle = room.idle[i];
    const bool two = c.island_b >= 0 && c.island_b != c.island_a;
    GroupRoom::Journey& a = room.journeys[at(c.island_a)];
    const GroupRoom::Journey& b = two ? room.journeys[at(c.island_b)] : stays;
    const auto still_idle = [&] {
      return idle.response * (a.gone + a.away + b.gone + b.away - idle.since) + rounding < idle.spare;
    };
    if (still_idle()) continue;
    if (idle.spare >= 0 && (!a.measured || !b.measured)) {
      measure(room, a);
      if (two) measure(room, room.journeys[at(c.island_b)]);
      if (still_idle()) continue;
    }
    ++swept;
    const Solved solved = solve_one(islands, room, i);
    idle.spare = solved.spare, idle.since = a.gone - a.away + b.gone - b.away;
    if (solved.change > 0) {
      travel(a, solved.travel);
      if (two) travel(room.journeys[at(c.island_b)], solved.travel);
    }
    if (solved.change >= enough) room.stirring[at(c.place_a)] = room.stirring[at(c.place_b)] = 1;
    most = std::max(most, solved.change);
  }
  section.most = most, section.swept = swept;
}

Solved ContactSolver::solve_one(Islands& islands, GroupRoom& room, std::size_t index) const {
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
  const Solved solved = wide_solve(alone);
  for (int i = 0; i < 3; ++i)
    wide_add(hot.b, hot.rows_b + i * hot.width_b, alone.impulse[i] - hot.impulse[i], hot.width_b);
  a.move_to(where.part_a);
  for (int i = 0; i < 3; ++i) {
    wide_add(hot.a, hot.rows_a + i * hot.width_a, alone.impulse[i] - hot.impulse[i], hot.width_a);
    hot.impulse[i] = alone.impulse[i];
  }
  return solved;
}

}  // namespace volvox::physics::native
