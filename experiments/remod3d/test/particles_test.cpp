// Water, rubble and cloth among modules: the experiments of seed 000, section IV.E.
#include <cmath>

#include "experiment_run.h"

namespace volvox::experiments {
namespace {

// Coarser than the paper's 40,000, for the sake of the time.
TEST(FluidDam, BreaksOverModules) {
  const auto dam = outcome({.name = "remod3d/fluid", .settings = {{"spacing", "0.0625"}}, .duration = 2});
  EXPECT_EQ(dam.at("fluid_particles") + dam.at("drained"), 16 * 16 * 10);
  EXPECT_LT(dam.at("drained"), 0.01 * 16 * 16 * 10) << "drops that leap over the wall";
  EXPECT_LT(dam.at("density_error_mean"), 0.03);
  // A front on a dry floor runs at up to 2 sqrt(g h) = 5 m/s, and has 2 m to go.
  EXPECT_GT(dam.at("front_arrives_s"), 0.4);
  EXPECT_LT(dam.at("front_arrives_s"), 1.5);
  EXPECT_GT(dam.at("forward_m"), 0.02) << "the wave carries the modules along";
}

TEST(Rubble, TheSnakeCrawlsThroughIt) {
  for (const std::uint64_t seed : test_seeds) {
    const auto crawl = outcome({.name = "remod3d/debris", .seed = seed, .duration = 10});
    EXPECT_GT(crawl.at("forward_m"), 0.1) << seed;
    EXPECT_GT(crawl.at("grains_pushed"), 20) << seed;
    // Light grains under a heavy module give way; the middle of the smallest (8.9 mm) stays above the ground.
    EXPECT_LT(crawl.at("below_ground_m"), 0.0088) << seed;
    EXPECT_EQ(crawl.at("drained"), 0) << seed;
  }
}

TEST(Cloth, ACurtainLetsARobotThroughAndANetCatchesOne) {
  const auto held = outcome({.name = "remod3d/cloth", .duration = 6});
  EXPECT_EQ(held.at("passed"), 1);
  EXPECT_EQ(held.at("caught"), 1);
  EXPECT_GT(held.at("caught_lowest_m"), 0.2);
  EXPECT_EQ(held.at("torn"), 0);
  const auto weak = outcome({.name = "remod3d/cloth", .settings = {{"strength", "1"}}, .duration = 3});
  EXPECT_EQ(weak.at("caught"), 0) << "a net that tears at 1 N holds nothing";
  EXPECT_GT(weak.at("torn"), 10);
}

// One module, because only its density matters; a particle under it, it does not sink any deeper.
TEST(Swim, FloatsOrSinksByItsDensity) {
  const auto at = [](const char* density) {
    return outcome({.name = "remod3d/swim",
                    .settings = {{"density", density}, {"amplitude", "0"}, {"modules", "1"}, {"length", "0.5"}},
                    .duration = 4});
  };
  const auto light = at("500"), heavy = at("1500");
  EXPECT_NEAR(light.at("lift_over_weight"), 1, 0.05);
  EXPECT_NEAR(light.at("module_density_kg_m3"), 500, 1);
  EXPECT_GT(light.at("height_min_m"), 0.2);
  EXPECT_LT(light.at("submerged"), 0.8);
  EXPECT_LT(heavy.at("height_min_m"), 0.042 + 1.5 * 0.035);
  EXPECT_EQ(heavy.at("submerged"), 1);
}

TEST(ParticleRuns, Repeat) {
  expect_repeats({.name = "remod3d/swim", .settings = {{"spacing", "0.06"}, {"modules", "2"}, {"length", "1"}}}, 20);
}

}  // namespace
}  // namespace volvox::experiments
