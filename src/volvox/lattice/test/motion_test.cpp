#include "volvox/lattice/motion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "reference.h"
#include "volvox/lattice/programs/roller.h"

namespace volvox::lattice {
namespace {

TEST(Motion, PortsTurnCounterClockwise) {
  const Lattice hex(Kind::hex);
  for (int port = 0; port < 6; ++port) {
    EXPECT_EQ(turned(port, 3), Lattice::opposite(port));
    EXPECT_EQ(turned(turned(port, 1), -1), port);
    const Vec3 a = hex.position(hex.neighbor({}, port)), b = hex.position(hex.neighbor({}, turned(port, 1)));
    EXPECT_NEAR(a.x * b.y - a.y * b.x, std::sqrt(0.75), 1e-12);
    EXPECT_NEAR(dot(a, b), 0.5, 1e-12);
  }
}

struct Variant {
  Kind kind;
  MotionModel model;
};
std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const Kind kind : all_kinds)
    for (const MotionModel model : {MotionModel::roll, MotionModel::slide, MotionModel::pivot})
      if (possible(model, kind)) all.push_back({kind, model});
  return all;
}
std::string text(const Variant& v) { return std::string(name(v.kind)) + " " + std::string(name(v.model)); }

std::set<Cell> cells_of(const MotionTable& table, CellSet set, const Cell& from) {
  std::set<Cell> cells;
  for (int place = 0; place < table.places(); ++place)
    if ((set >> place & 1) != 0) cells.insert(table.cell(from, place));
  return cells;
}

// How deep a unit cube at `center`, turned about z by an angle, is in the one at `other`: by separating axes, and less
// than 0 if they are apart. Axes x, y and z are those of the plane in which it turns.
double depth_of_cubes(const Vec3& center, double angle, const Vec3& other) {
  const Vec3 d = other - center;
  const double c = volvox::cos(angle), s = volvox::sin(angle), wide = (std::abs(c) + std::abs(s) + 1) / 2;
  return std::min({1 - std::abs(d.z), wide - std::abs(d.x), wide - std::abs(d.y), wide - std::abs(c * d.x + s * d.y),
                   wide - std::abs(c * d.y - s * d.x)});
}

// By brute force, from the shape of the catom at 200 instants: balls, or cubes that turn or do not.
std::set<Cell> swept(const Lattice& lattice, const MotionTable& table, int motion, const Cell& from) {
  const Vec3 start = lattice.position(from), end = lattice.position(table.target(from, motion));
  const Vec3 s = lattice.position(lattice.neighbor(from, table[motion].pivot)) - start;
  Vec3 p = end - start;
  p -= s * dot(p, s);
  const Vec3 edge = (p + s) / 2;  // about which cubes turn
  std::set<Cell> found;
  for (int i = 0; i <= 200; ++i) {
    const Vec3 at = table.path(motion, i / 200.0);
    for (int z = lattice.flat() ? 0 : -4; z <= (lattice.flat() ? 0 : 4); ++z) {
      for (int y = -4; y <= 4; ++y) {
        for (int x = -4; x <= 4; ++x) {
          const Cell cell{from.x + x, from.y + y, from.z + z};
          const Vec3 to = lattice.position(cell) - start;
          double depth = 1 - length(to - at);
          if (table.model() != MotionModel::roll) {
            const auto in_plane = [&](const Vec3& v) { return Vec3{dot(v, p), dot(v, s), dot(v, cross(p, s))}; };
            const Vec3 a = in_plane(-edge), b = in_plane(at - edge);
            const double angle =
                table.model() == MotionModel::pivot ? volvox::atan2(a.x * b.y - a.y * b.x, a.x * b.x + a.y * b.y) : 0;
            depth = depth_of_cubes(in_plane(at), angle, in_plane(to));
          }
          if (depth > 1e-5 && cell != from) found.insert(cell);
        }
      }
    }
  }
  return found;
}

TEST(Motion, WhatMustBeFreeIsWhatTheCatomSweeps) {
  for (const Variant& v : variants()) {
    const Lattice lattice(v.kind);
    const MotionTable table(lattice, v.model);
    for (const Cell& from : {Cell{}, Cell{3, 1, lattice.flat() ? 0 : 1}}) {
      for (int motion = 0; motion < table.size(); ++motion) {
        EXPECT_EQ(cells_of(table, table[motion].free, from), swept(lattice, table, motion, from))
            << text(v) << " motion " << motion;
        EXPECT_NEAR(
            length(table.path(motion, 1) + lattice.position(from) - lattice.position(table.target(from, motion))), 0,
            1e-9);
        EXPECT_NEAR(length(table.path(motion, 0)), 0, 1e-12);
        const auto holders = cells_of(table, table[motion].holds, from);
        EXPECT_TRUE(holders.contains(lattice.neighbor(from, table[motion].pivot)));
        bool lands = false;  // beside one that held it
        for (int port = 0; port < lattice.ports(); ++port)
          lands = lands || holders.contains(lattice.neighbor(table.target(from, motion), port));
        EXPECT_TRUE(lands);
      }
    }
  }
}

// The motions that the models have: their number, and how long they take.
TEST(Motion, ModelsHaveTheirMotions) {
  const auto count = [](Kind kind, MotionModel model, double steps) {
    const MotionTable table(Lattice(kind), model);
    int found = 0;
    for (int motion = 0; motion < table.size(); ++motion) found += std::abs(table[motion].steps - steps) < 1e-9 ? 1 : 0;
    return std::pair(found, table.size());
  };
  EXPECT_EQ(count(Kind::hex, MotionModel::roll, 1), std::pair(12, 12));
  EXPECT_EQ(count(Kind::square, MotionModel::roll, 1.5), std::pair(8, 16));
  EXPECT_EQ(count(Kind::fcc, MotionModel::roll, 1), std::pair(12 * 4, 12 * 6));
  EXPECT_EQ(count(Kind::bcc, MotionModel::roll, 1), std::pair(8 * 3, 8 * 3));
  EXPECT_EQ(count(Kind::square, MotionModel::slide, 1), std::pair(8, 16));
  EXPECT_EQ(count(Kind::cubic, MotionModel::slide, 1), std::pair(24, 48));
  EXPECT_EQ(count(Kind::cubic, MotionModel::pivot, 2), std::pair(24, 48));
  const MotionTable hex(Lattice(Kind::hex), MotionModel::roll);
  for (const Turn turn : {Turn::clockwise, Turn::counter_clockwise})
    for (int pivot = 0; pivot < 6; ++pivot) {
      const int sixths = turn == Turn::clockwise ? 1 : -1;
      const Lattice lattice(Kind::hex);
      EXPECT_EQ(hex.target({}, roll_about(pivot, turn)), lattice.neighbor({}, turned(pivot, sixths)));
    }
}

std::vector<Move> random_wishes(const Ensemble& ensemble, const MotionTable& table, RandomStream& random) {
  std::vector<Move> wishes;
  for (std::uint32_t i = 0; i < ensemble.count(); ++i)
    if (random.chance(0.7)) wishes.push_back({i, narrow<std::uint8_t>(random.below(table.size()))});
  return wishes;
}

// Random wishes in random ensembles: what is decided can be made together, does not depend on the order of wishes, and
// somebody moves if anybody can.
TEST(Motion, DecisionsAreConsistent) {
  for (const Variant& v : variants()) {
    int moves = 0, lost = 0;
    const MotionTable table(Lattice(v.kind), v.model);
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      RandomStream random(seed, 0, "test");
      const auto cells = random_cells(v.kind, random, Lattice(v.kind).flat() ? 12 : 6, random.uniform(0.1, 0.6));
      Ensemble ensemble{Lattice(v.kind)};
      ASSERT_TRUE(ensemble.add(cells).ok());
      std::vector<Move> chosen = random_wishes(ensemble, table, random);
      std::vector<Move> same(chosen.rbegin(), chosen.rend());
      Referee a(table), b(table);
      MotionCount count, again;
      const std::size_t asked = chosen.size();
      a.decide(ensemble, seed, chosen, count);
      b.decide(ensemble, seed, same, again);
      std::reverse(same.begin(), same.end());
      ASSERT_EQ(chosen.size(), same.size());
      std::set<std::uint32_t> moving;
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        EXPECT_EQ(chosen[i].catom, same[i].catom);
        moving.insert(chosen[i].catom);
      }
      std::set<Cell> used;
      for (const Move& move : chosen) {
        for (const Cell& cell : cells_of(table, table[move.motion].free, cells[move.catom])) {
          EXPECT_EQ(ensemble.at(cell), nobody);
          EXPECT_TRUE(used.insert(cell).second) << text(v);
        }
        for (const Cell& cell : cells_of(table, table[move.motion].holds, cells[move.catom])) {
          ASSERT_NE(ensemble.at(cell), nobody);
          EXPECT_FALSE(moving.contains(ensemble.at(cell)));
        }
      }
      EXPECT_EQ(count.moves + count.blocked + count.lost, asked);
      EXPECT_TRUE(count.moves > 0 || count.lost == 0);
      moves += narrow<int>(count.moves), lost += narrow<int>(count.lost);
    }
    EXPECT_GT(moves, 100) << text(v);
    EXPECT_GT(lost, 10) << text(v);
  }
}

// Goes anywhere, by chance.
struct Wanderer {
  std::uint32_t asked = 0;
  void new_tick(Catom& catom) {
    if (catom.moving() || catom.random().chance(0.5)) return;
    for (int i = 0; i < 6; ++i) {
      const int motion = narrow<int>(catom.random().below(static_cast<std::uint64_t>(catom.motions().size())));
      if (!catom.can_move(motion)) continue;
      asked += catom.move(motion) ? 1 : 0;
      return;
    }
  }
};
VOLVOX_TYPE(Wanderer, asked)

bool connected(const Ensemble& ensemble, const std::set<std::uint32_t>& without) {
  std::vector<Cell> cells;
  for (std::uint32_t i = 0; i < ensemble.count(); ++i)
    if (!without.contains(i)) cells.push_back(ensemble.cell(i));
  for (const std::uint32_t d : distances(ensemble.lattice(), cells, {0}))
    if (d == not_reached) return false;
  return true;
}

std::unique_ptr<CatomWorld> wanderers(const Variant& v, std::uint64_t seed, std::uint32_t ticks, ThreadPool* pool) {
  auto world = std::make_unique<CatomWorld>(
      Lattice(v.kind), WorldOptions{.seed = seed, .motion = {.model = v.model, .ticks = ticks, .keep_connected = true}},
      pool);
  EXPECT_TRUE(world->load<Wanderer>().ok());
  return world;
}

// The least distance of two round catoms of which one at least is on its way.
double least_distance(const CatomWorld& world) {
  const Ensemble& ensemble = world.ensemble();
  std::vector<Vec3> places;
  for (std::uint32_t i = 0; i < ensemble.count(); ++i) places.push_back(ensemble.lattice().position(ensemble.cell(i)));
  for (const UnderWay& one : world.under_way()) places[one.catom] = world.position(one);
  double least = 1e9;
  for (const UnderWay& one : world.under_way())
    for (std::uint32_t i = 0; i < places.size(); ++i)
      if (i != one.catom) least = std::min(least, length(places[one.catom] - places[i]));
  return least;
}

// Whoever moves is held by those that stay, and these hang together, in every tick and while others are on the way.
TEST(Motion, NothingIsCutOffAndNothingCollides) {
  for (const Variant& v : variants()) {
    for (const std::uint32_t ticks : {1u, 3u, 8u}) {
      std::uint64_t cuts = 0;
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        auto world = wanderers(v, seed, ticks, nullptr);
        const bool flat = Lattice(v.kind).flat();
        ASSERT_TRUE(world->add_box({0, 0, 0}, {flat ? 7 : 3, flat ? 4 : 3, flat ? 0 : 2}).ok());
        ASSERT_TRUE(world->start().ok());
        bool seen_between = false;
        for (int t = 0; t < 150; ++t) {
          ASSERT_TRUE(world->tick().ok());
          std::set<std::uint32_t> moving;
          std::set<Cell> used;
          for (const UnderWay& one : world->under_way()) {
            moving.insert(one.catom);
            const Cell from = world->ensemble().cell(one.catom);
            for (const Cell& cell : cells_of(world->motions(), world->motions()[one.motion].free, from)) {
              EXPECT_EQ(world->ensemble().at(cell), nobody);
              EXPECT_TRUE(used.insert(cell).second);
            }
            const Vec3 at = world->position(one), away = at - world->ensemble().lattice().position(from);
            seen_between = seen_between || length(away) > 0.1;
          }
          ASSERT_TRUE(connected(world->ensemble(), moving)) << text(v) << " seed " << seed << " tick " << t;
          if (v.model == MotionModel::roll) {
            EXPECT_GT(least_distance(*world), 1 - 1e-9) << text(v) << " seed " << seed << " tick " << t;
          }
        }
        EXPECT_GT(world->motion().moves, 50u) << text(v);
        cuts += world->cuts_refused();
        EXPECT_TRUE(ticks == 1 || seen_between) << text(v);
      }
      EXPECT_GT(cuts, 0u) << text(v);
    }
  }
}

std::uint64_t hash_of_wanderers(const Variant& v, int threads, bool save) {
  ThreadPool pool(threads);
  auto world = wanderers(v, 7, 2, &pool);
  const bool flat = Lattice(v.kind).flat();
  EXPECT_TRUE(world->add_box({0, 0, 0}, {flat ? 39 : 14, flat ? 39 : 14, flat ? 0 : 5}).ok());
  EXPECT_TRUE(world->start().ok());
  for (int t = 0; t < 30; ++t) {
    if (save && t == 17) {
      EXPECT_FALSE(world->under_way().empty());
      auto restored = wanderers(v, 7, 2, &pool);
      copy_through_snapshot(*world, *restored);
      EXPECT_EQ(restored->hash(), world->hash());
      world = std::move(restored);
    }
    EXPECT_TRUE(world->tick().ok());
  }
  EXPECT_GT(world->motion().moves, 30u) << text(v);
  return world->hash();
}

TEST(Motion, ThoseOnTheirWayAreTheSameAtAnyNumberOfThreadsAndAfterASnapshot) {
  for (const Variant& v : variants()) {
    const std::uint64_t expected = hash_of_wanderers(v, 1, false);
    EXPECT_EQ(hash_of_wanderers(v, 3, false), expected) << text(v);
    EXPECT_EQ(hash_of_wanderers(v, 2, true), expected) << text(v);
  }
}

TEST(Motion, ASnapshotWithOtherMotionsIsRefusedAndSaysWhy) {
  const auto refusal = [](const MotionOptions& saved, const MotionOptions& own) {
    CatomWorld one(Lattice(Kind::square), WorldOptions{.motion = saved});
    CatomWorld other(Lattice(Kind::square), WorldOptions{.motion = own});
    SaveArchive save;
    one.archive(save);
    LoadArchive load(save.bytes());
    other.archive(load);
    return load.failure();
  };
  const MotionOptions roll{.model = MotionModel::roll, .ticks = 2, .keep_connected = true};
  EXPECT_EQ(refusal(roll, roll), "");
  EXPECT_EQ(refusal(roll, {}), "the snapshot has another motion: roll, not slide");
  EXPECT_EQ(refusal({}, roll), "the snapshot has another motion: slide, not roll");
  EXPECT_EQ(refusal({.ticks = 2}, {.ticks = 3}), "the snapshot has another motion_ticks: 2, not 3");
  EXPECT_EQ(refusal({}, {.keep_connected = true}), "the snapshot has another keep_connected: false, not true");
}

// On two that stay, one rolls over for 5 ticks.
struct Once {
  int motion = -1;
  void new_tick(Catom& catom) {
    if (motion >= 0 && catom.move(motion)) motion = -1;
  }
};
VOLVOX_TYPE(Once, motion)

std::unique_ptr<CatomWorld> one_on_its_way() {
  auto world = std::make_unique<CatomWorld>(Lattice(Kind::hex), WorldOptions{.motion = {.ticks = 5}});
  EXPECT_TRUE(world->load<Once>().ok());
  EXPECT_TRUE(world->add_box({0, 0, 0}, {1, 0, 0}).ok());
  world->state<Once>(0)->motion = roll_about(0, Turn::clockwise);
  EXPECT_TRUE(world->start().ok());
  EXPECT_TRUE(world->tick().ok());
  EXPECT_EQ(world->under_way().size(), 1u);
  return world;
}

// Wherever the largest and the smallest numbers come into a snapshot: it is refused, or the world goes on.
TEST(Motion, ADamagedSnapshotOfOneOnItsWayIsRefused) {
  const auto world = one_on_its_way();
  SaveArchive save;
  world->archive(save);
  const std::vector<std::byte>& bytes = save.bytes();
  int refused = 0;
  for (std::size_t at = 0; at + 8 <= bytes.size(); ++at) {
    for (const std::int64_t number : {INT64_MIN, INT64_MAX, std::int64_t{-1}}) {
      std::vector<std::byte> damaged = bytes;
      std::memcpy(damaged.data() + at, &number, sizeof number);
      const auto restored = one_on_its_way();
      LoadArchive load(damaged);
      restored->archive(load);
      EXPECT_GE(restored->ticks(), 0) << at;
      for (const UnderWay& one : restored->under_way()) {
        EXPECT_LT(one.begun, restored->ticks()) << at;
        EXPECT_GE(one.ends, restored->ticks()) << at;
        EXPECT_LE(one.ends - one.begun, 4) << at;
      }
      if (load.ok()) (void)restored->tick();
      refused += load.ok() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(Motion, WhoIsOnTheWayOrHoldsSomebodyCannotBeMoved) {
  auto world = one_on_its_way();
  EXPECT_NE(world->move(0, {5, 5, 0}).error().text().find("on its way from (0, 0, 0)"), std::string::npos);
  EXPECT_NE(world->move(1, {5, 5, 0}).error().text().find("holds the catom 0"), std::string::npos);
  for (int t = 0; t < 3; ++t) ASSERT_TRUE(world->tick().ok());
  EXPECT_EQ(world->ensemble().cell(0), (Cell{0, 0, 0}));
  EXPECT_FALSE(world->idle());
  ASSERT_TRUE(world->tick().ok());
  EXPECT_EQ(world->ensemble().cell(0), (Cell{0, 1, 0}));
  EXPECT_TRUE(world->under_way().empty());
  world = one_on_its_way();
  ASSERT_TRUE(world->remove(1).ok());  // nobody holds it any more
  for (int t = 0; t < 9; ++t) ASSERT_TRUE(world->tick().ok());
  EXPECT_EQ(world->ensemble().cell(0), (Cell{0, 0, 0}));
  world = one_on_its_way();
  ASSERT_TRUE(world->remove(0).ok());
  for (int t = 0; t < 9; ++t) ASSERT_TRUE(world->tick().ok());
  world = one_on_its_way();
  const std::vector<Cell> there = {{0, 1, 0}};
  ASSERT_TRUE(world->add(there).ok());  // where it wants to go
  for (int t = 0; t < 9; ++t) ASSERT_TRUE(world->tick().ok());
  EXPECT_EQ(world->ensemble().cell(0), (Cell{0, 0, 0}));
  EXPECT_EQ(world->motion().blocked, 1u);
}

TEST(Motion, AModelThatALatticeDoesNotHaveIsRefused) {
  CatomWorld world(Lattice(Kind::cubic), WorldOptions{.motion = {.model = MotionModel::roll}});
  EXPECT_NE(world.start().error().text().find("cannot roll on a cubic lattice"), std::string::npos);
  CatomWorld never(Lattice(Kind::hex), WorldOptions{.motion = {.ticks = 0}});
  EXPECT_FALSE(never.start().ok());
}

std::uint64_t hash_of_rollers(std::uint64_t seed, int threads, bool save) {
  ThreadPool pool(threads);
  RandomStream random(seed, 0, "test");
  const auto cells = random_cells(Kind::hex, random, 40, 0.3);
  auto world = std::make_unique<CatomWorld>(Lattice(Kind::hex), WorldOptions{.seed = seed}, &pool);
  EXPECT_TRUE(world->load<Roller>().ok());
  EXPECT_TRUE(world->add(cells).ok());
  for (std::uint32_t i = 0; i < cells.size(); ++i) world->state<Roller>(i)->rolls = i % 3 != 0;
  EXPECT_TRUE(world->start().ok());
  for (int t = 0; t < 40; ++t) {
    if (save && t == 17) {
      auto restored = std::make_unique<CatomWorld>(Lattice(Kind::hex), WorldOptions{.seed = seed}, &pool);
      EXPECT_TRUE(restored->load<Roller>().ok());
      copy_through_snapshot(*world, *restored);
      world = std::move(restored);
    }
    EXPECT_TRUE(world->tick().ok());
  }
  EXPECT_GT(world->motion().moves, 1000u);
  EXPECT_GT(world->motion().lost, 0u);
  EXPECT_EQ(world->ensemble().size(), cells.size());
  return world->hash();
}

TEST(Motion, IsTheSameAtAnyNumberOfThreadsAndAfterASnapshot) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::uint64_t expected = hash_of_rollers(seed, 1, false);
    for (const int threads : {2, 4}) EXPECT_EQ(hash_of_rollers(seed, threads, threads == 4), expected);
  }
}

struct Lonely {
  std::uint8_t wrong = 0;
  void new_tick(Catom& catom) const {
    catom.roll(wrong == 1 ? 1 : 0, Turn::clockwise);
    catom.roll(0, Turn::clockwise);
  }
};
VOLVOX_TYPE(Lonely, wrong)

TEST(Motion, AWishThatCannotBeIsNamed) {
  const auto failure = [](Kind kind, std::uint8_t wrong) {
    CatomWorld world{Lattice(kind)};
    EXPECT_TRUE(world.load(Lonely{wrong}).ok());
    EXPECT_TRUE(world.add_box({0, 0, 0}, {1, 0, 0}).ok());
    EXPECT_TRUE(world.start().ok());
    return world.tick().error().text();
  };
  EXPECT_NE(failure(Kind::hex, 0).find("catom 0 at (0, 0, 0), code module Lonely: it wants to move twice"),
            std::string::npos);
  EXPECT_NE(failure(Kind::hex, 1).find("about port 1, where no neighbour is"), std::string::npos);
  EXPECT_NE(failure(Kind::cubic, 0).find("on a cubic lattice"), std::string::npos);
}

}  // namespace
}  // namespace volvox::lattice
