#include "volvox/lattice/lattice.h"
#include "reference.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "volvox/base/random.h"
#include "volvox/lattice/ensemble.h"

namespace volvox::lattice {
namespace {

TEST(Lattice, NeighboursTouchAndNothingElseDoes) {
  const std::map<Kind, int> ports = {
      {Kind::square, 4}, {Kind::hex, 6}, {Kind::cubic, 6}, {Kind::bcc, 8}, {Kind::fcc, 12}};
  for (const Kind kind : all_kinds) {
    const Lattice lattice(kind, 0.25);
    EXPECT_EQ(lattice.ports(), ports.at(kind));
    const int deep = lattice.flat() ? 0 : 3;
    for (const Cell from : {Cell{0, 0, 0}, Cell{-3, 5, lattice.flat() ? 0 : 2}, Cell{4, -7, lattice.flat() ? 0 : -3}}) {
      std::set<Cell> named, near;
      for (int port = 0; port < lattice.ports(); ++port) {
        const Cell to = lattice.neighbor(from, port);
        named.insert(to);
        EXPECT_EQ(lattice.neighbor(to, Lattice::opposite(port)), from) << name(kind) << " port " << port;
        EXPECT_NEAR(length(lattice.position(to) - lattice.position(from)), 0.25, 1e-12) << name(kind) << port;
      }
      for (int x = -3; x <= 3; ++x)
        for (int y = -3; y <= 3; ++y)
          for (int z = -deep; z <= deep; ++z) {
            const Cell to{from.x + x, from.y + y, from.z + z};
            const double distance = length(lattice.position(to) - lattice.position(from));
            if (to != from) {
              EXPECT_GT(distance, 0.2499) << name(kind);
            }
            if (to != from && distance < 0.2501) near.insert(to);
          }
      EXPECT_EQ(named, near) << name(kind);
    }
  }
}

// A port is a direction in space: the same one from every cell.
TEST(Lattice, PortsAreDirections) {
  for (const Kind kind : all_kinds) {
    const Lattice lattice(kind);
    for (int port = 0; port < lattice.ports(); ++port) {
      const auto direction = [&](const Cell& c) {
        return lattice.position(lattice.neighbor(c, port)) - lattice.position(c);
      };
      for (const Cell c : {Cell{0, 1, 0}, Cell{0, 0, lattice.flat() ? 0 : 1}, Cell{5, -3, lattice.flat() ? 0 : -7}})
        EXPECT_NEAR(length(direction(c) - direction({})), 0, 1e-12) << name(kind) << port;
    }
  }
}

TEST(Lattice, TheNearestCellIsFound) {
  RandomStream random(1, 0, "test");
  for (const Kind kind : all_kinds) {
    const Lattice lattice(kind, 0.7);
    for (int i = 0; i < 2000; ++i) {
      Vec3 p{random.uniform(-4, 4), random.uniform(-4, 4), lattice.flat() ? 0 : random.uniform(-4, 4)};
      const Cell found = lattice.cell_at(p);
      const double distance = length(lattice.position(found) - p);
      for (int x = -2; x <= 2; ++x)
        for (int y = -2; y <= 2; ++y)
          for (int z = lattice.flat() ? 0 : -2; z <= (lattice.flat() ? 0 : 2); ++z) {
            const Cell other{found.x + x, found.y + y, found.z + z};
            EXPECT_LE(distance, length(lattice.position(other) - p) + 1e-12) << name(kind);
          }
      EXPECT_LE(distance, 0.7 * 0.867) << name(kind);
      EXPECT_EQ(lattice.cell_at(lattice.position(found)), found);
    }
  }
}

TEST(Lattice, OfEquallyNearCellsTheLowestIsFound) {
  EXPECT_EQ(Lattice(Kind::square).cell_at({0.5, 0, 0}), (Cell{0, 0, 0}));
  EXPECT_EQ(Lattice(Kind::square).cell_at({-0.5, 0.5, 0}), (Cell{-1, 0, 0}));
  EXPECT_EQ(Lattice(Kind::cubic).cell_at({2.5, -1.5, 0.5}), (Cell{2, -2, 0}));
  EXPECT_EQ(Lattice(Kind::hex).cell_at({0.5, 0, 0}), (Cell{0, 0, 0}));
}

TEST(Lattice, KindsHaveNames) {
  for (const Kind kind : all_kinds) EXPECT_EQ(*kind_named(std::string(name(kind))), kind);
  const auto none = kind_named("diamond");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().text().find("fcc"), std::string::npos);
}

TEST(PackedCell, KeepsEveryCellAndItsOffsets) {
  for (const Cell c : {Cell{}, Cell{-1, -1, -1}, Cell{farthest_cell, -farthest_cell, farthest_cell}, Cell{7, 0, -9}}) {
    EXPECT_EQ(unpack(pack(c)), c);
    EXPECT_NE(pack(c), no_cell);
    for (const Cell o : {Cell{1, -1, 0}, Cell{-1, -1, -1}, Cell{0, 1, 1}})
      EXPECT_EQ(pack(c) + packed_offset(o), pack({c.x + o.x, c.y + o.y, c.z + o.z}));
  }
}

// Both stores against a map, over random histories of adding, removing and moving.
TEST(Ensemble, AnswersLikeAMapWhateverTheStoreAndHistory) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    RandomStream random(seed, 0, "test");
    const Kind kind = all_kinds[random.below(all_kinds.size())];
    const bool flat = Lattice(kind).flat();
    const std::int32_t reach = seed % 3 == 0 ? 1000 : 6;
    const auto anywhere = [&] {
      const auto number = [&] { return narrow<std::int32_t>(random.below(2 * reach + 1)) - reach; };
      return Cell{number(), number(), flat ? 0 : number()};
    };
    Ensemble grid{Lattice(kind), reach > 100 ? Occupancy::Store::automatic : Occupancy::Store::grid};
    Ensemble table{Lattice(kind), Occupancy::Store::table};
    std::map<Cell, std::uint32_t> truth;
    std::vector<Cell> cells;  // by module; of removed ones too
    for (int i = 0; i < 400; ++i) {
      const Cell cell = anywhere();
      const auto what = random.below(3);
      const bool free = !truth.contains(cell);
      const std::uint32_t module = cells.empty() ? 0 : narrow<std::uint32_t>(random.below(cells.size()));
      const bool there = !cells.empty() && truth.contains(cells[module]) && truth[cells[module]] == module;
      for (Ensemble* e : {&grid, &table}) {
        if (what == 0) EXPECT_EQ(e->add(cell).ok(), free);
        else if (what == 1) EXPECT_EQ(e->remove(module).ok(), there);
        else EXPECT_EQ(e->move(module, cell).ok(), there && (free || truth[cell] == module));
      }
      if (what == 0 && free) truth[cell] = narrow<std::uint32_t>(cells.size()), cells.push_back(cell);
      else if (what == 1 && there) truth.erase(cells[module]);
      else if (what == 2 && there && free) truth.erase(cells[module]), cells[module] = cell, truth[cell] = module;
    }
    std::size_t links = 0;
    for (const auto& [cell, module] : truth) {
      for (const Ensemble* e : {&grid, &table}) {
        EXPECT_EQ(e->at(cell), module);
        EXPECT_EQ(e->cell(module), cell);
        for (int port = 0; port < e->lattice().ports(); ++port) {
          const auto found = truth.find(e->lattice().neighbor(cell, port));
          EXPECT_EQ(e->around(module).at(port), found == truth.end() ? nobody : found->second);
          links += found != truth.end() ? 1 : 0;
        }
      }
    }
    EXPECT_EQ(grid.size(), truth.size());
    EXPECT_EQ(grid.links() * 4, links);
    EXPECT_EQ(table.links() * 4, links);
    HashArchive a, b;
    grid.archive(a), table.archive(b);
    EXPECT_EQ(a.value(), b.value());
    Ensemble restored{Lattice(kind)};
    copy_through_snapshot(grid, restored);
    for (const auto& [cell, module] : truth) EXPECT_EQ(restored.at(cell), module);
  }
}

TEST(Ensemble, BadCellsAreRefusedAndNothingIsLost) {
  Ensemble flat{Lattice(Kind::hex)};
  const std::vector<Cell> twice = {{0, 0, 0}, {1, 0, 0}, {0, 0, 0}};
  const auto clash = flat.add(twice);
  ASSERT_FALSE(clash.ok());
  EXPECT_NE(clash.error().text().find("modules 0 and 2 are in one cell, (0, 0, 0)"), std::string::npos);
  EXPECT_EQ(flat.count(), 0u);
  EXPECT_FALSE(flat.add(Cell{0, 0, 1}).ok());
  EXPECT_FALSE(flat.add(Cell{farthest_cell + 1, 0, 0}).ok());
  ASSERT_TRUE(flat.add(Cell{0, 0, 0}).ok());
  ASSERT_TRUE(flat.add(Cell{1, 0, 0}).ok());
  const auto taken = flat.move(0, {1, 0, 0});
  ASSERT_FALSE(taken.ok());
  EXPECT_NE(taken.error().text().find("module 0 cannot move from (0, 0, 0) to (1, 0, 0): the module 1 is there"),
            std::string::npos);
  EXPECT_EQ(flat.cell(0), (Cell{0, 0, 0}));
  EXPECT_FALSE(flat.remove(7).ok());
  EXPECT_FALSE(flat.add_box({0, 0, 0}, {5, 5, 5}).ok());
  EXPECT_FALSE(Ensemble{Lattice(Kind::cubic)}
                   .add_box({-farthest_cell, -farthest_cell, 0}, {farthest_cell, farthest_cell, 9})
                   .ok());
  EXPECT_EQ(flat.size(), 2u);
}

TEST(Ensemble, ASnapshotWithTwoModulesInOneCellLeavesItEmpty) {
  SaveArchive save;
  std::uint8_t kind = static_cast<std::uint8_t>(Kind::cubic);
  std::vector<PackedCell> cells = {pack({0, 0, 0}), pack({0, 0, 0}), pack({1, 0, 0})};
  save("kind", kind), save("cells", cells);
  for (const Occupancy::Store store : {Occupancy::Store::grid, Occupancy::Store::table}) {
    Ensemble ensemble(Lattice(Kind::cubic), store);
    LoadArchive load(save.bytes());
    ensemble.archive(load);
    EXPECT_FALSE(load.ok());
    EXPECT_EQ(ensemble.size(), 0u);
    EXPECT_EQ(ensemble.count(), 0u);
    EXPECT_TRUE(ensemble.add(Cell{0, 0, 0}).ok());
    EXPECT_EQ(ensemble.at({0, 0, 0}), 0u);
  }
}

TEST(Ensemble, ASnapshotWithBadCellsIsRefused) {
  Ensemble good{Lattice(Kind::cubic)};
  ASSERT_TRUE(good.add_box({0, 0, 0}, {1, 1, 1}).ok());
  SaveArchive save;
  good.archive(save);
  for (std::size_t byte = 0; byte < save.bytes().size(); ++byte) {
    std::vector<std::byte> bytes = save.bytes();
    bytes[byte] ^= std::byte{0x41};
    LoadArchive load(bytes);
    Ensemble other{Lattice(Kind::cubic)};
    other.archive(load);  // refused or not: it stays whole
    for (std::uint32_t module = 0; module < other.count(); ++module)
      if (other.has(module) && load.ok()) {
        EXPECT_EQ(other.at(other.cell(module)), module);
      }
  }
}

}  // namespace
}  // namespace volvox::lattice
