// Water, rubble and cloth among modules: the experiments of seed 000, section IV.E.
#include <cmath>
#include <cstdio>
#include <set>

#include "experiment_run.h"
#include "volvox/base/test/temporary_folder.h"
#include "volvox/base/text.h"
#include "volvox/world/matter.h"

namespace volvox::experiments {
namespace {

// Coarser than the paper's 40,000, for the sake of the time. There is no chance in the dam, nor in the cloths below.
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

TEST(Cloth, TheCurtainDoesNotHideTheRobot) {
  const std::string camera = prepared(ExperimentRun{.name = "remod3d/cloth"})->camera();
  Vec3 eye;
  ASSERT_EQ(std::sscanf(camera.c_str(), "%lf,%lf,%lf:", &eye.x, &eye.y, &eye.z), 3) << camera;
  // The curtain hangs at x = 0.6 between y = -0.5 and 0.5; the Wheelbot drives along y = 0.
  for (const double x : {0.0, 0.4, 0.9, 2.0}) {
    const Vec3 robot{x, 0, 0.05};
    const double part = (0.6 - eye.x) / (robot.x - eye.x);
    const double y = eye.y + part * (robot.y - eye.y);
    EXPECT_FALSE(part > 0 && part < 1 && std::abs(y) < 0.5) << "at x = " << x;
  }
}

// One module, because only its density matters; a particle under it, it does not sink any deeper.
TEST(Swim, FloatsOrSinksByItsDensity) {
  const auto at = [](const char* density, std::uint64_t seed) {
    return outcome({.name = "remod3d/swim",
                    .settings = {{"density", density}, {"amplitude", "0"}, {"modules", "1"}, {"length", "0.5"}},
                    .seed = seed,
                    .duration = 4});
  };
  for (const std::uint64_t seed : test_seeds) {
    const auto light = at("500", seed);
    EXPECT_NEAR(light.at("lift_over_weight"), 1, 0.05) << seed;
    EXPECT_NEAR(light.at("module_density_kg_m3"), 500, 1) << seed;
    EXPECT_GT(light.at("height_min_m"), 0.2) << seed;
    EXPECT_LT(light.at("submerged"), 0.8) << seed;
  }
  const auto heavy = at("1500", test_seeds[0]);
  EXPECT_LT(heavy.at("height_min_m"), 0.042 + 1.5 * 0.035);
  EXPECT_EQ(heavy.at("submerged"), 1);
}

// Recorder, viewer and pictures see the particles by number, and those to come as gone.
TEST(ParticleRuns, AreAlsoClouds) {
  const auto run = prepared({.name = "remod3d/debris", .settings = {{"radius", "0.02"}}});
  ASSERT_NE(run->cloud(), nullptr);
  std::vector<sim::CloudItem> before, after;
  run->cloud()->cloud_items(before);
  const world::Matter& matter = *run->simulation().world().matter();
  ASSERT_EQ(before.size(), matter.particles().solid_positions().size());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(run->step().ok());
  run->cloud()->cloud_items(after);
  ASSERT_EQ(after.size(), before.size());
  std::set<int> sizes;
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].shown, before[i].shown);  // as large as it was: the same grain
    EXPECT_NEAR(after[i].position[0], before[i].position[0], 0.05);
    sizes.insert(after[i].shown);
  }
  EXPECT_EQ(sizes.size(), 8u);
  EXPECT_EQ(*sizes.rbegin(), 255);
  EXPECT_EQ(run->cloud()->cloud_state(3).front(), "debris");
}

// A box in the middle of a drop without gravity, and one beside it.
TEST(ParticleRuns, ModulesFeelTheWater) {
  const auto module = [](const char* name, const char* pose) {
    return fmt::format(
        "<model name=\"{}\"><pose>{}</pose><link name=\"body\"><inertial><mass>0.5</mass><inertia><ixx>0.001</ixx>"
        "<iyy>0.001</iyy><izz>0.001</izz></inertia></inertial><collision name=\"c\"><geometry><box><size>0.1 0.1 0.1"
        "</size></box></geometry></collision></link><volvox:sensor name=\"water\" type=\"immersion\" link=\"body\"/>"
        "<volvox:mind behavior=\"idle\"/></model>\n",
        name, pose);
  };
  const TemporaryFolder folder;
  const std::string text =
      "<sdf version=\"1.9\" xmlns:volvox=\"https://volvox.sim/sdf\"><world name=\"drop\"><gravity>0 0 0</gravity>\n"
      "<volvox:fluid spacing=\"0.03\"><volvox:volume size=\"0.36 0.36 0.36\"/></volvox:fluid>\n" +
      module("inside", "0 0 0 0 0 0") + module("outside", "0.6 0 0 0 0 0") + "</world></sdf>";
  ASSERT_TRUE(write_file(folder / "drop.sdf", text).ok());
  const auto run = prepared({.name = (folder / "drop.sdf").string()});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(run->step().ok());
  const auto water = [&](std::size_t agent) {
    return run->simulation().minds().agent(agent).percept<mind::Immersion>("water");
  };
  EXPECT_TRUE(water(0).wet);
  EXPECT_EQ(water(0).submerged, 1);
  EXPECT_FALSE(water(1).wet);
  EXPECT_EQ(water(1).submerged, 0);
}

TEST(ParticleRuns, Repeat) {
  expect_repeats({.name = "remod3d/swim", .settings = {{"spacing", "0.06"}, {"modules", "2"}, {"length", "1"}}}, 20);
}

}  // namespace
}  // namespace volvox::experiments
