// Programs in Meld in a world that several ranks share (lattice/region.h): the same as in one process.
#include "../../cluster/test/thread_ranks.h"
#include "meld_bench.h"

namespace volvox::meld {
namespace {

using cluster::Exchange;
using cluster::ThreadRanks;

struct Outcome {
  std::vector<std::uint64_t> hashes;
  std::uint64_t facts = 0, lost = 0, moves = 0;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome run(const std::string& program, lattice::Kind kind, std::uint64_t seed, Exchange* ranks) {
  lattice::WorldOptions options{.seed = seed, .ranks = ranks};
  lattice::CatomWorld world{lattice::Lattice(kind), options};
  auto made = std::make_unique<MeldModules>(*compiled(program), MachineOptions{});
  MeldModules& modules = *made;
  EXPECT_TRUE(world.load_modules(std::move(made)).ok());
  const bool flat = lattice::Lattice(kind).flat();
  EXPECT_TRUE(world.add_box({0, 0, 0}, {5, flat ? 6 : 3, flat ? 0 : 3}).ok());
  EXPECT_TRUE(world.start().ok());
  Outcome outcome;
  for (int tick = 0; tick < 120 && !world.idle(); ++tick) {
    if (tick == 20) {
      EXPECT_TRUE(world.remove(lattice::CatomId(9)).ok());
    }
    if (tick == 25) (void)modules.tap(world, lattice::CatomId(3));
    const auto done = world.tick();
    EXPECT_TRUE(done.ok()) << done.error().text();
    if (tick % 8 == 0) outcome.hashes.push_back(world.hash());
  }
  outcome.hashes.push_back(world.hash());
  outcome.facts = world.region().sum(modules.facts_stored());
  outcome.lost = modules.lost(), outcome.moves = world.motion().moves;
  return outcome;
}

void expect_the_same(const std::string& program, lattice::Kind kind) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Outcome alone = run(program, kind, seed, nullptr);
    for (const int ranks : {2, 4})
      ThreadRanks(ranks).run([&](Exchange& exchange) {
        const Outcome shared = run(program, kind, seed, &exchange);
        if (exchange.rank() == 0) {
          EXPECT_EQ(shared, alone) << program << " on " << ranks << " ranks";
        }
        return true;
      });
  }
}

TEST(Ranks, ProgramsOfOurOwnGoTheSameWay) {
  for (const lattice::Kind kind : {lattice::Kind::square, lattice::Kind::fcc})
    for (const char* program : {"gradient", "leader", "tree"}) expect_the_same(own(program), kind);
  expect_the_same(own("line"), lattice::Kind::hex);  // it moves
}

TEST(Ranks, DelaysTapsColorsAndRandomNumbersToo) {
  expect_the_same(
      "type route neighbor(node, node, int). type linear tap(node). type linear pulse(node, int).\n"
      "type linear seen(node, int).\n"
      "pulse(@1, 0).\n"
      "pulse(A, N), N < 40 -o seen(A, randint(1000)), setColor2(A, N), pulse(A, N + 1)@+100ms,\n"
      "  {B | !neighbor(A, B, _) | seen(B, randint(7))}.\n"
      "tap(A) -o {B | !neighbor(A, B, _) | seen(B, -1)}, seen(A, -2).\n",
      lattice::Kind::cubic);
}

}  // namespace
}  // namespace volvox::meld
