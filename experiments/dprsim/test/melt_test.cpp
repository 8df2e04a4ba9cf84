// Mixed fidelity: dprsim/melt.
#include <gtest/gtest.h>

#include "study.h"
#include "volvox/base/test/temporary_folder.h"

namespace volvox::experiments {
namespace {

using Settings = std::map<std::string, std::string>;
const Settings small = {{"high", "12"}, {"plate", "18"}, {"clump", "1.6"}};

TEST(DprsimMelt, FallsAndGoesBackWithAnySeed) {
  for (const std::uint64_t seed : test_seeds) {
    const auto report = run("dprsim/melt", small, 0, seed);
    EXPECT_GT(metric(report, "over"), 40) << seed;
    EXPECT_GT(metric(report, "over_hit"), 5) << seed;
    EXPECT_GT(metric(report, "bonds_broken"), 20) << seed;
    EXPECT_GT(metric(report, "back"), 0.5 * metric(report, "over")) << seed;
    EXPECT_EQ(metric(report, "over") - metric(report, "back"), metric(report, "in_dynamics")) << seed;
    EXPECT_LT(metric(report, "energy_kept"), 1) << seed;
    EXPECT_LE(metric(report, "farthest_mm"), 1) << seed;  // a tenth of the pitch
    // Nobody is lost: all but some that lie apart still hear the program's pulse.
    EXPECT_GT(metric(report, "hearing"), 0.9 * metric(report, "catoms")) << seed;
  }
}

TEST(DprsimMelt, StandsWhileNothingHitsItAndBondsHold) {
  Settings calm = small;
  calm["clump"] = "0";
  const auto still = run("dprsim/melt", calm, 1);
  EXPECT_EQ(metric(still, "over"), 0);
  EXPECT_EQ(metric(still, "stands"), 1);
  EXPECT_EQ(metric(still, "hearing"), metric(still, "catoms"));
  Settings strong = small;
  strong["axial"] = strong["shear"] = "10", strong["bending"] = "0.1";
  const auto held = run("dprsim/melt", strong, 2);
  EXPECT_EQ(metric(held, "fallen"), 0);
  EXPECT_EQ(metric(held, "stands"), 1) << "who was hit is back in its cell";
  EXPECT_GT(metric(held, "over"), metric(held, "clump"));
}

TEST(DprsimMelt, HasTheSameHashAtAnyNumberOfThreadsAndAfterARestore) {
  const TemporaryFolder folder;
  sim::RunOptions options;
  options.experiment = "dprsim/melt";
  options.settings = small;
  options.duration = 1;
  const auto whole = run(options);
  options.threads = 3;
  EXPECT_EQ(run(options).state_hash, whole.state_hash);
  options.duration = 0.3;  // in the middle of the fall
  options.save_to = folder / "half.snap";
  (void)run(options);
  options.save_to = {};
  options.duration = 1;
  options.threads = 2;
  options.restore_from = folder / "half.snap";
  const auto rest = run(options);
  EXPECT_EQ(rest.state_hash, whole.state_hash);
  for (const char* name : {"over", "back", "hearing", "bonds_broken"})
    EXPECT_EQ(metric(rest, name), metric(whole, name)) << name;
}

// Other engines, and cubes, which seldom lie in cells again.
TEST(DprsimMelt, RunsOnOtherEnginesAndLattices) {
  for (const char* engine : {"bullet", "ode"})
    EXPECT_GT(metric(run("dprsim/melt", small, 0.5, 1, engine), "over_hit"), 5) << engine;
  Settings cubes = small;
  cubes["lattice"] = "cubic";
  EXPECT_GT(metric(run("dprsim/melt", cubes, 0.5), "bonds_broken"), 5);
}

TEST(DprsimMelt, SaysWhatIsWrong) {
  const auto refusal = [](const Settings& settings, const std::string& engine) -> std::string {
    try {
      (void)run("dprsim/melt", settings, 0.1, 1, engine);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal({{"plate", "4"}, {"structure", "wall"}}, "native").find("does not fit on a plate of 4 x 4"),
            std::string::npos);
  EXPECT_NE(refusal({}, "none").find("moves nothing"), std::string::npos);
  EXPECT_NE(refusal({{"drag", "11"}}, "native"), "");
}

}  // namespace
}  // namespace volvox::experiments
