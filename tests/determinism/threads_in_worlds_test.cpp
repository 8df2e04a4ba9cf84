// The same bits at any number of threads, of what runs in parallel beside minds and engine: particles, catoms, programs
// in Meld, and worlds that are stepped side by side. Small enough for the thread sanitizer.
#include <gtest/gtest.h>

#include "behaviors.h"
#include "experiments.h"
#include "volvox/base/random.h"
#include "volvox/evolve/breeder.h"
#include "volvox/evolve/trials.h"
#include "volvox/particles/test/worlds.h"

namespace volvox {
namespace {

sim::Library library_of_all() {
  sim::Library library;
  robots::register_behaviors(library.minds.behaviors);
  experiments::register_experiments(library.experiments);
  return library;
}

struct Case {
  const char* name;
  const char* experiment;
  std::map<std::string, std::string> settings;
  int ticks;
};

std::uint64_t hash_of(const Case& scene, int threads) {
  const sim::Library library = library_of_all();
  Log log;
  sim::RunOptions options;
  options.experiment = scene.experiment;
  options.settings = scene.settings;
  options.threads = threads;
  auto run = sim::Run::prepare(options, library, log);
  EXPECT_TRUE(run.ok()) << run.error().text();
  if (!run.ok()) return 0;
  for (int tick = 0; tick < scene.ticks; ++tick) {
    const StepStatus status = (*run)->step();
    EXPECT_TRUE(status.ok()) << status.text();
    if (!status.ok()) break;
  }
  return (*run)->simulation().hash();
}

class ThreadsInWorlds : public testing::TestWithParam<Case> {};

TEST_P(ThreadsInWorlds, GiveTheSameBits) { EXPECT_EQ(hash_of(GetParam(), 4), hash_of(GetParam(), 1)); }

INSTANTIATE_TEST_SUITE_P(
    Small, ThreadsInWorlds,
    testing::Values(Case{"water_over_modules", "remod3d/fluid", {{"spacing", "0.0625"}}, 2},
                    Case{"rolling_catoms", "dprsim/shape", {{"catoms", "1500"}}, 20},
                    Case{"meld", "dprsim/meld", {{"program", "leader"}, {"cells", "12x12x12"}}, 12}),
    [](const auto& one) { return std::string(one.param.name); });

// Water, grains and cloth, as many of each as it takes for loops to be shared out: a thread takes four blocks at least.
std::unique_ptr<particles::ParticleWorld> crowd(ThreadPool* threads) {
  constexpr std::size_t enough = 2 * 4 * particles::block_size;
  particles::WorldOptions options;
  options.threads = threads;
  options.fluid.spacing = 0.05;
  options.low = {-1, -1, -1}, options.high = {2, 2, 2};
  auto world = particles::make_world(options);
  particles::add_tank(*world, {0, 0, 0}, {0.6, 0.6, 3});
  EXPECT_TRUE(world->add_fluid_box({0, 0, 0}, {0.6, 0.6, 0.5}).ok());
  std::vector<Vec3> places;
  for (int i = 0; i < 16 * 16 * 4; ++i)
    places.push_back(Vec3{0.03 + i % 16 * 0.036, 0.03 + i / 16 % 16 * 0.036, 0.53 + i / 256 * 0.036});
  EXPECT_TRUE(world->add_grains({.radius = 0.015}, places).ok());
  EXPECT_TRUE(world
                  ->add_cloth({.corner = {0.1, 0.1, 0.7},
                               .along_columns = {0.4, 0, 0},
                               .along_rows = {0, 0.4, 0},
                               .columns = 20,
                               .rows = 20})
                  .ok());
  EXPECT_GT(world->fluid_positions().size(), enough);
  EXPECT_GT(world->solid_positions().size(), enough);
  return world;
}

TEST(ThreadsInParticles, GiveTheSameBits) {
  ThreadPool four(4);
  const auto alone = crowd(nullptr), together = crowd(&four);
  for (auto* world : {&alone, &together}) particles::run(**world, 0.04);
  EXPECT_EQ(together->hash(), alone->hash());
}

// Trials of an evolution run side by side, and share the models of modules, meshes and files.
TEST(ThreadsInTrials, GiveTheSameBits) {
  const sim::Library library = library_of_all();
  const auto document = evolve::Document::parse(R"({
    "experiment": "evolution/organism",
    "fitness": [{"metric": "moved_m", "better": "more"}],
    "trial": {"duration": 0.2, "count": 2, "friction": [0.8, 1.2], "fitness_by": "worst"},
    "body": {"robot": "superbot", "modules": [1, 4]},
    "mind": {"behavior": "oscillators", "shared": {"frequency": [0.3, 1.2]}, "each": {"pitch.amplitude": [0, 1]}}})",
                                                "task.json");
  ASSERT_TRUE(document.ok()) << document.error().text();
  const auto task = evolve::task_from(*document, "threads");
  ASSERT_TRUE(task.ok()) << task.error().text();
  const auto hashes = [&](int threads) {
    auto trials = evolve::Trials::create(*task, library, {.threads = threads});
    EXPECT_TRUE(trials.ok()) << trials.error().text();
    auto breeder = evolve::Breeder::create(*task, trials->models(), trials->modules_of_experiment());
    EXPECT_TRUE(breeder.ok()) << breeder.error().text();
    RandomStream random(5, 0, "genomes");
    std::vector<evolve::Genome> genomes;
    for (int i = 0; i < 6; ++i) genomes.push_back(breeder->random(random));
    std::vector<std::uint64_t> found;
    for (const evolve::Outcome& outcome : trials->run(genomes)) {
      EXPECT_EQ(outcome.failure, "");
      found.push_back(outcome.hash);
    }
    return found;
  };
  const std::vector<std::uint64_t> alone = hashes(1);
  EXPECT_EQ(alone.size(), 6u);
  EXPECT_EQ(hashes(4), alone);
}

}  // namespace
}  // namespace volvox
