// Contacts of a large group, eight side by side.
//
// No two contacts of a batch have an island in common, so solving a batch is Gauss-Seidel in another order. The order
// follows from the state alone. A batch has only contacts that push, or that have been found to approach too fast. The
// others, most of a pile, are watched: between two sweeps the change of every island is measured, and a contact is
// checked when the changes of its islands may have brought it to its target. Contacts that do not fit (on trees of
// several parts, and within a loop) are solved one by one before the batches.
#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "volvox/base/check.h"
#include "volvox/physics/native/contact_rules.h"
#include "volvox/physics/native/contact_solver.h"

namespace volvox::physics::native {
namespace {

// Groups of fewer contacts do not fill the lanes. Groups of which more than an eighth does not fit gain nothing,
// either.
constexpr std::size_t fewest_in_lanes = 400;
// The columns of a side, by class of size. Contacts with the same classes share a batch, which is as wide as the
// widest.
constexpr int columns_up_to[GroupRoom::LaneSet::sizes] = {0, 12, ContactBatch::most_blocks* row_block};
// Watched contacts are checked after each of this many first sweeps, and then after every second one.
constexpr std::size_t looks_in_each_sweep = 8;
// Fewer contacts are solved before another thread would have begun.
constexpr std::size_t worth_sharing = 256;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

int size_of(int columns) {
  int size = 0;
  while (columns > columns_up_to[size]) ++size;
  return size;
}

// One side of a contact.
struct Side {
  double* coordinates = nullptr;
  const double* rows = nullptr;
  const int* blocks = nullptr;  // null: the first ones
  int width = 0;                // of the rows in memory
  int columns = 0;              // of them that are used
  int place = -1;

  // `all`: columns of the island.
  static Side of(double* coordinates, const double* rows, const int* blocks, int width, int all, int place) {
    Side side{coordinates, rows, blocks, width, 0, place};
    if (width == 0) return side;
    const int last = width / row_block - 1, first = row_block * side.block(last);
    side.columns = row_block * last + std::min(row_block, all - first);
    return side;
  }
  int block(int i) const { return blocks ? blocks[i] : i; }
};

// An upper bound of the change of a body's speed along a normal (`turn`: arm x normal) for a unit change of its
// island's whitened coordinates: that of a body without joints.
double response_alone(const Body& body, const Vec3& turn) {
  const double least = std::min({body.moments.x, body.moments.y, body.moments.z});
  return (1 + 1e-6) * std::sqrt(1 / body.mass + length_squared(turn) / least);
}

[[maybe_unused]] bool shorter(const double* row, int width, double length) {
  return width == 0 || wide_dot(row, row, width) <= length * length;
}

// The lengths of the rows of a contact's normal, rounded up: a unit change of the coordinates of a side changes the
// normal speed by at most this.
struct RowLengths {
  double a = 0, b = 0;
  static double of(double square) { return (1 + 1e-6) * std::sqrt(square); }
};

// Writes the normal's row of a contact, in the place that all three rows get if they are needed.
RowLengths write_normal_row(const Islands& islands, const GroupRoom::WatchedSides& sides, RowContact& c) {
  const bool both = sides.island_a == sides.island_b && c.width_b == 0;  // sides in one row
  const NodeRows a = islands[at(sides.island_a)]->node_rows(sides.node_a, both);
  const double square_a =
      wide_row(a.rows, a.stride, a.blocks, c.width_a, sides.turn_a, sides.normal, 1, false, c.rows_a);
  if (sides.island_b < 0) return {RowLengths::of(square_a), 0};
  const NodeRows b = islands[at(sides.island_b)]->node_rows(sides.node_b, both);
  const double square_b = wide_row(b.rows, b.stride, b.blocks, both ? c.width_a : c.width_b, sides.turn_b, sides.normal,
                                   -1, both, both ? c.rows_a : c.rows_b);
  if (both) return {RowLengths::of(square_b), 0};
  return {RowLengths::of(square_a), RowLengths::of(square_b)};
}

class LaneFiller {
 public:
  LaneFiller(const Islands& islands, GroupRoom& room, std::size_t section)
      : islands_(islands), room_(room), set_(room.lane_sets[section]) {}

  // The first batch with a free lane that has neither of its islands.
  void add(std::size_t contact) {
    const GroupRoom::Active& where = room_.active[contact];
    const RowContact& hot = room_.hot[contact];
    Side a = Side::of(hot.a, hot.rows_a, hot.blocks_a, hot.width_a, islands_[at(where.island_a)]->used_columns(),
                      where.place_a);
    Side b = Side::of(hot.b, hot.rows_b, hot.blocks_b, hot.width_b,
                      hot.width_b > 0 ? islands_[at(where.island_b)]->used_columns() : 0, where.place_b);
    if (a.columns < b.columns) std::swap(a, b);
    const int kind = size_of(a.columns) * GroupRoom::LaneSet::sizes + size_of(b.columns);
    const std::uint64_t taken = set_.taken[at(a.place)] | (b.columns > 0 ? set_.taken[at(b.place)] : 0);
    const std::uint64_t free = set_.with_room & set_.of_kind[at(kind)] & ~taken;
    const int slot = free ? std::countr_zero(free) : open(kind);
    GroupRoom::LaneSet::Open& open = set_.open[at(slot)];
    const int lane = open.used++;
    const std::size_t member = open.batch * ContactBatch::lanes + at(lane);
    set_.members[member] = contact;
    set_.places[member] = {a.place, b.columns > 0 ? b.place : -1};
    write(set_.batches[open.batch], lane, hot, a, b);
    set_.taken[at(a.place)] |= std::uint64_t{1} << slot;
    if (b.columns > 0) set_.taken[at(b.place)] |= std::uint64_t{1} << slot;
    if (open.used == ContactBatch::lanes) close(slot);
  }

 private:
  int open(int kind) {
    if (set_.with_room == ~std::uint64_t{0}) {
      int fullest = 0;
      for (int i = 1; i < 64; ++i) {
        if (set_.open[at(i)].used > set_.open[at(fullest)].used) fullest = i;
      }
      close(fullest);
    }
    const int slot = std::countr_one(set_.with_room);
    set_.open[at(slot)] = {set_.batches.size(), 0, kind};
    set_.with_room |= std::uint64_t{1} << slot;
    set_.of_kind[at(kind)] |= std::uint64_t{1} << slot;
    ContactBatch& batch = set_.batches.emplace_back();
    batch.columns_a = room_.columns_of_size[at(kind / GroupRoom::LaneSet::sizes)];
    batch.columns_b = room_.columns_of_size[at(kind % GroupRoom::LaneSet::sizes)];
    batch.first_block = set_.blocks.size(), batch.first_row = set_.rows.size();
    const std::size_t blocks =
        at(ContactBatch::blocks(batch.columns_a) + ContactBatch::blocks(batch.columns_b)) * ContactBatch::lanes;
    set_.blocks.resize(set_.blocks.size() + blocks, room_.nothing.data());
    set_.rows.resize(set_.rows.size() + at(3 * (batch.columns_a + batch.columns_b) * ContactBatch::lanes), 0.0);
    set_.members.resize(set_.batches.size() * ContactBatch::lanes, GroupRoom::LaneSet::none);
    set_.places.resize(set_.members.size());
    return slot;
  }

  void close(int slot) {
    const std::uint64_t others = ~(std::uint64_t{1} << slot);
    const GroupRoom::LaneSet::Open& open = set_.open[at(slot)];
    for (int lane = 0; lane < open.used; ++lane) {
      for (const int place : set_.places[open.batch * ContactBatch::lanes + at(lane)])
        if (place >= 0) set_.taken[at(place)] &= others;
    }
    set_.with_room &= others, set_.of_kind[at(open.kind)] &= others;
  }

  void write(ContactBatch& batch, int lane, const RowContact& hot, const Side& a, const Side& b) {
    // Zeros get no sign, and contacts that do not push no friction. Otherwise results would depend on the width of the
    // registers, because it decides which batches are skipped.
    const bool pushes = hot.impulse[0] > 0;
    for (int i = 0; i < 3; ++i)
      batch.impulse[i][lane] = pushes ? hot.impulse[i] + 0.0 : 0.0, batch.free[i][lane] = hot.free[i];
    for (int i = 0; i < 6; ++i) batch.gram[i][lane] = hot.gram[i];
    batch.target[lane] = hot.target, batch.friction[lane] = hot.friction;
    batch.normal_gain[lane] = hot.normal_gain, batch.keep[lane] = hot.keep;
    batch.tangent_gain[lane] = hot.tangent_gain;
    double** blocks = set_.blocks.data() + batch.first_block + lane;
    for (int i = 0; i < ContactBatch::blocks(a.columns); ++i)
      blocks[i * ContactBatch::lanes] = a.coordinates + row_block * a.block(i);
    blocks += ContactBatch::blocks(batch.columns_a) * ContactBatch::lanes;
    for (int i = 0; i < ContactBatch::blocks(b.columns); ++i)
      blocks[i * ContactBatch::lanes] = b.coordinates + row_block * b.block(i);
    double* rows = set_.rows.data() + batch.first_row + lane;
    for (int direction = 0; direction < 3; ++direction) {
      for (int k = 0; k < a.columns; ++k) rows[k * ContactBatch::lanes] = a.rows[direction * a.width + k];
      rows += batch.columns_a * ContactBatch::lanes;
      for (int k = 0; k < b.columns; ++k) rows[k * ContactBatch::lanes] = b.rows[direction * b.width + k];
      rows += batch.columns_b * ContactBatch::lanes;
    }
  }

  const Islands& islands_;
  GroupRoom& room_;
  GroupRoom::LaneSet& set_;
};

}  // namespace

// Both rows of a contact within a loop may move the same coordinates.
void ContactSolver::choose_lanes(Islands& islands, GroupRoom& room) const {
  room.in_lanes = false;
  if (room.active.size() < fewest_in_lanes) return;
  const auto fits = [&](int island, int node) {
    return islands[at(island)]->parts() == 1 &&
           islands[at(island)]->span(node).width <= ContactBatch::most_blocks * row_block;
  };
  std::size_t count = 0;
  for (GroupRoom::Active& c : room.active) {
    c.in_lanes = fits(c.island_a, c.node_a) && (c.island_b < 0 || fits(c.island_b, c.node_b));
    if (c.in_lanes && c.island_a == c.island_b)
      c.in_lanes = islands[at(c.island_a)]->coordinates().size() <= at(ContactBatch::most_blocks * row_block) &&
                   islands[at(c.island_a)]->span(c.node_a).part == islands[at(c.island_a)]->span(c.node_b).part;
    count += c.in_lanes;
  }
  room.in_lanes = count >= fewest_in_lanes && 8 * count >= 7 * room.active.size();
  if (room.in_lanes) return;
  for (GroupRoom::Active& c : room.active) c.in_lanes = false;
}

// Islands of one part have their coordinates here, one behind the other.
void ContactSolver::lay_out_coordinates(Islands& islands, GroupRoom& room) const {
  room.first_coordinate.resize(islands.size());
  std::size_t next = 0;
  for (const int index : room.across) {
    if (islands[at(index)]->parts() > 1) continue;
    room.first_coordinate[at(index)] = next;
    next += islands[at(index)]->coordinates().size();
  }
  room.coordinates.assign(next, 0.0);
  room.nothing.assign(row_block, 0.0);
  room.least_spare.resize(room.active.size());
  room.columns_of_size = {};
  const auto move = [&](int island, double*& coordinates) {
    if (islands[at(island)]->parts() == 1)
      coordinates = room.coordinates.data() + room.first_coordinate[at(island)] +
                    (coordinates - islands[at(island)]->coordinates().data());
  };
  for (std::size_t i = 0; i < room.active.size(); ++i) {
    const GroupRoom::Active& c = room.active[i];
    RowContact& hot = room.hot[i];
    move(c.island_a, hot.a);
    if (hot.width_b > 0) move(c.island_b, hot.b);
    if (!c.in_lanes) continue;
    for (const auto& [island, blocks, width] :
         {std::tuple(c.island_a, hot.blocks_a, hot.width_a), std::tuple(c.island_b, hot.blocks_b, hot.width_b)}) {
      if (width == 0) continue;
      const int columns = Side::of(nullptr, nullptr, blocks, width, islands[at(island)]->used_columns(), 0).columns;
      int& most = room.columns_of_size[at(size_of(columns))];
      most = std::max(most, columns);
    }
  }
  if (room.lane_sets.size() < room.sections.size()) room.lane_sets.resize(room.sections.size());
}

GroupRoom::WatchedSides ContactSolver::watched_sides(const GroupRoom& room, std::size_t index) const {
  const GroupRoom::Active& where = room.active[index];
  const ContactPoint& c = points_[at(where.point)];
  const RowContact& hot = room.hot[index];
  return {c.frame[0],
          cross(c.arm_a, c.frame[0]),
          cross(c.arm_b, c.frame[0]),
          hot.free[0] - hot.target,
          where.island_a,
          where.node_a,
          where.island_b,
          where.node_b};
}

// Computes again how far a contact in lanes is above its target, m/s.
double ContactSolver::spare_in_lanes(const Islands& islands, GroupRoom& room, std::size_t index) const {
  RowContact& hot = room.hot[index];
  (void)write_normal_row(islands, watched_sides(room, index), hot);
  return wide_normal_velocity(hot) - hot.target;
}

void ContactSolver::begin_lanes(const World& world, const Islands& islands, GroupRoom& room,
                                std::size_t section) const {
  GroupRoom::LaneSet& set = room.lane_sets[section];
  set.batches.clear(), set.blocks.clear(), set.rows.clear(), set.members.clear(), set.places.clear();
  set.watches.clear();
  set.with_room = 0, set.of_kind = {};
  set.taken.assign(room.above.size(), 0);
  LaneFiller filler(islands, room, section);
  for (std::size_t i = room.sections[section].last; i < room.sections[section].end; ++i) {
    const GroupRoom::Active& where = room.active[i];
    const ContactPoint& c = points_[at(where.point)];
    const RowContact& hot = room.hot[i];
    if (c.impulse != Vec3{} || hot.free[0] < hot.target) {
      filler.add(i);
      continue;
    }
    const GroupRoom::WatchedSides sides = watched_sides(room, i);
    GroupRoom::Watch watch{static_cast<int>(i), where.place_a, where.place_b, 0, 0, sides.spare};
    watch.response_a = response_alone(world.bodies[at(c.a)], sides.turn_a);
    if (where.island_b >= 0) watch.response_b = response_alone(world.bodies[at(c.b)], sides.turn_b);
    set.watches.push_back(watch);
  }
}

// Checks watched contacts between two sweeps, after the islands were measured, and puts those that approach too fast
// into batches.
void ContactSolver::look_at_watches(const World& world, Islands& islands, GroupRoom& room, std::size_t section,
                                    double step) const {
  GroupRoom::LaneSet& set = room.lane_sets[section];
  LaneFiller filler(islands, room, section);
  const auto gone = [&](const GroupRoom::Watch& w) {
    return w.response_a * room.gone[at(w.place_a)] + w.response_b * room.gone[at(w.place_b)];
  };
  std::size_t kept = 0, looks = 0;
  for (std::size_t i = 0; i < set.watches.size(); ++i) {
    GroupRoom::Watch& watch = set.watches[i];
    if (gone(watch) + rounding >= watch.limit) {
      ++looks;
      RowContact& hot = room.hot[at(watch.contact)];
      if (!watch.has_row) {
        const RowLengths lengths = write_normal_row(islands, watched_sides(room, at(watch.contact)), hot);
        watch.response_a = lengths.a, watch.response_b = lengths.b, watch.has_row = true;
      }
      const double spare = wide_normal_velocity(hot) - hot.target;
      if (spare < 0) {
        fill_rows(world, islands, room, at(watch.contact), step);
        VOLVOX_ASSERT(std::fabs(velocity_of(hot, 0) - hot.target - spare) < 1e-6 * (1 - spare));
        VOLVOX_ASSERT(watch.place_a == watch.place_b || (shorter(hot.rows_a, hot.width_a, watch.response_a) &&
                                                         shorter(hot.rows_b, hot.width_b, watch.response_b)));
        filler.add(at(watch.contact));
        continue;
      }
      watch.limit = spare + gone(watch);
    }
    if (kept != i) set.watches[kept] = watch;
    ++kept;
  }
  set.watches.resize(kept);
  Work::add(work_.looks, looks);
}

void ContactSolver::sweep_in_lanes(const World& world, Islands& islands, const Group& group, GroupRoom& room,
                                   double step, ThreadPool* threads) const {
  const std::size_t contacts = room.active.size();
  const std::size_t sweeps = std::clamp<std::size_t>(most_work / contacts, fewest_sweeps, most_sweeps);
  const double count = static_cast<double>(group.last_island - group.first_island);
  const double fine = settled_together / (count * count);
  wake_idle(islands, group, room);
  room.gone.assign(room.above.size(), 0);
  parallel_for(threads, room.sections.size(), 1, [&](std::size_t k) { begin_lanes(world, islands, room, k); });
  const bool any_alone = std::any_of(room.sections.begin(), room.sections.end(),
                                     [](const GroupRoom::Section& section) { return section.first < section.last; });
  for (std::size_t i = 0; i < std::max(sweeps, most_rough_sweeps); ++i) {
    const double enough = i < sweeps ? fine : unsettled;
    const bool looks = i > 0 && (i < looks_in_each_sweep || i % 2 == 0);
    if (looks || any_alone) measure_islands(room);
    if (looks) {
      parallel_for(threads, room.sections.size(), 1,
                   [&](std::size_t k) { look_at_watches(world, islands, room, k, step); });
    }
    double most = 0;
    std::size_t swept = 0;
    const auto for_phases = [&](const auto& count_of, const auto& visit) {
      for (std::size_t phase = 0; phase + 1 < room.phases.size(); ++phase) {
        std::size_t work = 0;
        for (std::size_t k = room.phases[phase]; k < room.phases[phase + 1]; ++k) work += count_of(k);
        if (work == 0) continue;
        parallel_for(work < worth_sharing ? nullptr : threads, room.phases[phase + 1] - room.phases[phase], 1,
                     [&](std::size_t k) { visit(room.phases[phase] + k); });
        for (std::size_t k = room.phases[phase]; k < room.phases[phase + 1]; ++k)
          most = std::max(most, room.sections[k].most), swept += room.sections[k].swept;
      }
    };
    room.stirring.assign(room.above.size(), 0);
    for_phases([&](std::size_t k) { return room.sections[k].last - room.sections[k].first; },
               [&](std::size_t k) { sweep(islands, room, room.sections[k], true, enough); });
    for_phases([&](std::size_t k) { return room.lane_sets[k].members.size(); },
               [&](std::size_t k) {
                 GroupRoom::LaneSet& set = room.lane_sets[k];
                 room.sections[k].most = solve_batches(
                     {set.batches.data(), set.batches.size(), set.blocks.data(), set.rows.data(), room.nothing.data()});
                 room.sections[k].swept = set.members.size();
               });
    Work::add(work_.sweeps, 1), Work::add(work_.contact_solves, swept);
    if (looks && most < enough) break;
  }
  measure_islands(room);
  end_lanes(islands, room);
}

// How far each island has moved since the last time: see GroupRoom::Journey.
void ContactSolver::measure_islands(GroupRoom& room) const {
  for (const int index : room.across) {
    GroupRoom::Journey& journey = room.journeys[at(index)];
    if (!journey.coordinates.empty()) {
      journey.gone += wide_follow(journey.coordinates.data(), room.anchors.data() + journey.anchor,
                                  static_cast<int>(journey.coordinates.size()));
      journey.away = 0, journey.measured = true;
    }
    room.gone[at(room.first_place[at(index)])] = journey.gone;
  }
}

// Copies the impulses back to the contacts, and the coordinates to the islands.
void ContactSolver::end_lanes(Islands& islands, GroupRoom& room) const {
  std::size_t members = 0, lanes = 0;
  for (std::size_t k = 0; k < room.sections.size(); ++k) {
    const GroupRoom::LaneSet& set = room.lane_sets[k];
    for (std::size_t i = 0; i < set.members.size(); ++i) {
      if (set.members[i] == GroupRoom::LaneSet::none) continue;
      ++members;
      RowContact& hot = room.hot[set.members[i]];
      for (int d = 0; d < 3; ++d)
        hot.impulse[d] = set.batches[i / ContactBatch::lanes].impulse[d][i % ContactBatch::lanes];
      room.least_spare[set.members[i]] = unheard_of;
    }
    lanes += set.members.size();
    for (const GroupRoom::Watch& w : set.watches)
      room.least_spare[at(w.contact)] =
          w.limit - rounding - w.response_a * room.gone[at(w.place_a)] - w.response_b * room.gone[at(w.place_b)];
  }
  Work::add(work_.batch_contacts, members), Work::add(work_.batch_room, lanes);
  for (const int index : room.across) {
    Island& island = *islands[at(index)];
    if (island.parts() > 1) continue;
    const auto first = room.coordinates.begin() + static_cast<std::ptrdiff_t>(room.first_coordinate[at(index)]);
    std::copy_n(first, island.coordinates().size(), island.whole_span(0).coordinates);
  }
}

}  // namespace volvox::physics::native
