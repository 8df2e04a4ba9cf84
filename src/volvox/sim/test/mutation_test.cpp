// Damaged snapshots. What the seal notices is refused. With a seal that fits, as an attacker would put it there, a
// mutant is refused or simulated, but nothing is read or written where nothing is (run it under the sanitizers), and a
// refusal leaves the simulation as it was.
#include <gtest/gtest.h>

#include <random>

#include "volvox/sim/snapshot_seal.h"
#include "volvox/sim/test/talkers.h"

namespace volvox::sim {
namespace {

using Bytes = std::vector<std::byte>;
using Random = std::mt19937_64;

std::size_t below(std::size_t limit, Random& random) { return random() % std::max<std::size_t>(1, limit); }

// A place that looks like a size or an index: damage there is worse than in the digits of a number.
std::size_t likely_index(const Bytes& bytes, Random& random) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    const std::size_t at = below(bytes.size() - 4, random);
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if (word > 0 && (word < 1000 || word == 0xffffffffu)) return at;
  }
  return below(bytes.size() - 4, random);
}

Bytes mutant_of(const Bytes& whole, Random& random) {
  Bytes bytes = whole;
  const std::size_t at = random() % 2 == 0 ? likely_index(bytes, random) : below(bytes.size() - 8, random);
  constexpr std::uint64_t values[] = {0,
                                      1,
                                      2,
                                      255,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      ~0ull,
                                      0x7fffffffffffffff,
                                      1ull << 63,
                                      1ull << 40,
                                      0x7ff8000000000000 /* not a number */,
                                      0x7fefffffffffffff /* the largest number */};
  const std::uint64_t value = values[below(std::size(values), random)];
  switch (random() % 6) {
    case 0: bytes[at] ^= std::byte{1} << (random() % 8); break;
    case 1: bytes[at] = static_cast<std::byte>(random()); break;
    case 2: std::memcpy(bytes.data() + at, &value, 4); break;
    case 3: std::memcpy(bytes.data() + at, &value, std::min<std::size_t>(8, bytes.size() - at)); break;
    case 4: bytes.erase(bytes.begin() + at, bytes.begin() + at + below(bytes.size() - at, random) % 64); break;
    default:  // other bytes of the same snapshot
      std::memcpy(bytes.data() + at, whole.data() + below(whole.size() - 8, random),
                  std::min<std::size_t>(8, bytes.size() - at));
  }
  return bytes;
}

struct Outcome {
  int tried = 0, refused = 0, simulated = 0;
};

Outcome try_mutants(Stage& stage, const std::shared_ptr<const model::WorldModel>& world, const std::string& engine,
                    int count, std::uint64_t seed) {
  auto first = stage.simulate(world, 1, 1, engine);
  advance(*first, 12);
  const Bytes sealed = *first->save();
  const Bytes snapshot(sealed.begin(), sealed.end() - sizeof(std::uint64_t));
  auto simulation = stage.simulate(world, 1, 1, engine);
  EXPECT_TRUE(simulation->restore(sealed).ok());
  std::uint64_t hash = simulation->hash();
  Random random(seed);
  Outcome outcome;
  for (int i = 0; i < count; ++i) {
    Bytes mutant = mutant_of(snapshot, random);
    if (mutant == snapshot) continue;
    ++outcome.tried;
    add_seal(mutant);
    if (const auto restored = simulation->restore(mutant); !restored.ok()) {
      ++outcome.refused;
      if (simulation->hash() == hash) continue;
      ADD_FAILURE() << "a refused snapshot changed the simulation: " << restored.error().text();
      return outcome;
    }
    ++outcome.simulated;
    for (int tick = 0; tick < 2 && simulation->step().ok(); ++tick) {}
    (void)simulation->hash();
    EXPECT_TRUE(simulation->restore(sealed).ok());
    EXPECT_EQ(simulation->hash(), hash);
  }
  return outcome;
}

TEST(Mutants, TheSealNoticesEveryOne) {
  Stage stage;
  auto simulation = stage.simulate(stage.busy_world(), 1, 1, "none");
  advance(*simulation, 5);
  const Bytes snapshot = *simulation->save();
  const std::uint64_t hash = simulation->hash();
  Random random(1);
  for (int i = 0; i < 4500; ++i) {
    const Bytes mutant = mutant_of(snapshot, random);
    if (mutant == snapshot) continue;
    EXPECT_FALSE(simulation->restore(mutant).ok()) << i;
  }
  EXPECT_EQ(simulation->hash(), hash);
  EXPECT_TRUE(simulation->restore(snapshot).ok());
}

TEST(Mutants, WithASealThatFitsTheyHarmNothing) {
  Stage stage;
  const Outcome outcome = try_mutants(stage, stage.busy_world(), "native", 2500, 2);
  EXPECT_GT(outcome.refused, outcome.tried / 10) << "the checks see something";
  EXPECT_GT(outcome.simulated, outcome.tried / 10) << "and digits of numbers are not their business";
}

TEST(Mutants, OfANetwork) {
  Stage stage;
  const auto world = talking_world(stage);
  EXPECT_GT(try_mutants(stage, world, "none", 1500, 3).refused, 100);
}

// What came after these tests: jaws that close, hold and open, radios that send pulses.
TEST(Mutants, OfJawsAndPulses) {
  Stage stage;
  const auto talking = talking_world(stage);
  auto world = std::make_shared<model::WorldModel>(*talking);
  auto module = std::make_shared<model::ModuleModel>(*talking->placements[1].model);
  for (std::size_t d = 0; d < module->docks.size(); ++d)
    module->docks[d].latch = model::Latch{.travel = 0.002, .form = d % 2 == 0, .jam_distance = 1e-4};
  model::Radio& radio = module->radios[0];
  radio.modulation = model::Modulation::ts_ook;
  radio.acknowledge = false;
  radio.pulse = 1e-6, radio.bandwidth = 1e6, radio.spread = 100;  // frames of milliseconds, so that some are in flight
  for (model::Placement& placement : world->placements)
    if (placement.is_module()) placement.model = module;
  const Outcome outcome = try_mutants(stage, world, "native", 1500, 5);
  EXPECT_GT(outcome.refused, outcome.tried / 20);
  EXPECT_GT(outcome.simulated, outcome.tried / 10);
}

TEST(Mutants, OfEveryEngine) {
  Stage stage;
  for (const std::string& engine : stage.library.engines.names()) {
    EXPECT_GT(try_mutants(stage, stage.busy_world(), engine, 120, 4).tried, 100) << engine;
  }
}

}  // namespace
}  // namespace volvox::sim
