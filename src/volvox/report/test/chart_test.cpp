#include "volvox/report/chart.h"

#include <gtest/gtest.h>

#include <cmath>

namespace volvox::report {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// Of the circles that are drawn.
std::vector<double> heights(const std::string& text) {
  std::vector<double> all;
  for (std::size_t at = text.find("cy=\""); at != std::string::npos; at = text.find("cy=\"", at + 1))
    all.push_back(std::stod(text.substr(at + 4)));
  return all;
}

Chart one(Curve curve, Axis x = {"x"}, Axis y = {"y"}) {
  return {"a < b", {{"", std::move(x), std::move(y), {std::move(curve)}}}};
}

TEST(Chart, DrawsMarksWhereTheValuesAreAndABandAroundThem) {
  Curve curve{
      .label = "", .points = {{1, 10, 9, 11}, {2, 20, 19, 21}, {3, NAN}}, .marks = true, .spread = Spread::band};
  const std::string text = svg(one(curve));
  EXPECT_EQ(count(text, "<circle"), 2u);
  EXPECT_EQ(count(text, "<polygon"), 1u);
  EXPECT_EQ(count(text, "<polyline"), 1u);
  EXPECT_NE(text.find("a &lt; b"), std::string::npos);
  EXPECT_EQ(text.find("nan"), std::string::npos);
  ASSERT_EQ(heights(text).size(), 2u);
  EXPECT_GT(heights(text)[0], heights(text)[1]);  // SVG counts downwards
  EXPECT_EQ(text, svg(one(curve)));
}

TEST(Chart, ALogarithmicAxisHasPowersOfTenAndLeavesOutWhatIsNotPositive) {
  const Curve curve{.label = "", .points = {{1, 0.02}, {2, 0.2}, {3, 2}, {4, 0}, {5, -1}}, .join = Join::nothing};
  const std::string text = svg(one(curve, {"x"}, {.label = "y", .log = true}));
  const std::vector<double> y = heights(text);
  ASSERT_EQ(y.size(), 3u);
  EXPECT_NEAR(y[0] - y[1], y[1] - y[2], 0.02);
  for (const char* tick : {">0.01<", ">0.1<", ">1<", ">10<"}) EXPECT_NE(text.find(tick), std::string::npos) << tick;
}

TEST(Chart, DrawsWithoutData) {
  EXPECT_EQ(svg(Chart{"nothing", {}}).find("nan"), std::string::npos);
  const std::string text = svg(one({"empty", {}}, {.label = "x", .log = true}));
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
  const std::string same = svg(one({"", {{2, 2}, {2, 2}}}));
  EXPECT_EQ(same.find("nan"), std::string::npos);
}

TEST(Chart, ManyPointsThatCannotBeToldApartAreNotAllWritten) {
  Curve curve{"", {}};
  for (int i = 0; i < 100'000; ++i) curve.points.push_back({i * 1e-5, i * 1e-5});
  EXPECT_LT(svg(one(curve)).size(), 60'000u);
}

TEST(Chart, BoxesStandSideBySideOverTheirNames) {
  const sim::Box box{"ten", 1e-3, 2e-3, 3e-3, 4e-3, 5e-3, {0.1}}, nothing{"none", 0, 0, 0, 0, 0, {}};
  const std::string text = svg(time_boxes("times", "robots", {box, nothing}, {0.02, "a tick"}));
  for (const char* part : {">ten<", ">none<", ">a tick<", ">100<", "time (ms)"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

TEST(BarChart, ABarIsAsLongAsItsValue) {
  const std::string text = svg(BarChart{"t", "x", {"bullet"}, {{"lift_m", {40}}, {"speed", {80}}}, {10, "limit"}});
  std::vector<double> widths;
  for (std::size_t at = text.find("height=\"8.0\""); at != std::string::npos;
       at = text.find("height=\"8.0\"", at + 1)) {
    const std::size_t begin = text.rfind("width=\"", at);
    widths.push_back(std::stod(text.substr(begin + 7)));
  }
  ASSERT_EQ(widths.size(), 2u);
  EXPECT_NEAR(widths[1], 2 * widths[0], 0.2);
}

TEST(BoardChart, HasACircleACellAndADotInSome) {
  BoardChart chart{"board", "note", {{"t = 0", {{0, 0, "#ff0000"}, {1, 0, "", 0.5}}}}};
  EXPECT_EQ(count(svg(chart), "<circle"), 3u);
}

TEST(MapChart, ColoursCellsFromTheLeastToTheLargest) {
  const MapChart chart{"map", "caption", {"span", 0, 2, 4}, {"mass", 1, 3, 2}, {{0, 0, 1.5}, {3, 1, 2.5}, {1, 1, 2}}};
  const std::string text = svg(chart);
  for (const char* part : {"#440154", "#fde725", "#21918c", ">caption<", ">span<", ">mass<", ">3<"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  // One value alone is the largest.
  EXPECT_NE(svg(MapChart{"", "", {}, {}, {{0, 0, 7}}}).find("#fde725"), std::string::npos);
}

TEST(StripChart, HasADotAValueAndABandThatMayBeOpen) {
  StripChart chart{"strip", {1, 2, 3}, 1.5, 2.5, 2, 1.8, 2.2};
  EXPECT_EQ(count(svg(chart), "<circle"), 3u);
  EXPECT_EQ(count(svg(chart), "<line"), 3u);  // the scale, the interval, the number
  const StripChart at_least{"strip", {5, 5}, 5, 5, {}, 5, {}};
  EXPECT_EQ(svg(at_least).find("nan"), std::string::npos);
  EXPECT_NE(svg(at_least).find(">6<"), std::string::npos);  // one value stands in the middle of 4 to 6
  EXPECT_EQ(svg(StripChart{}).find("nan"), std::string::npos);
}

TEST(NiceTicks, AreRound) {
  EXPECT_EQ(nice_ticks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(nice_ticks(-1, 1, 4), (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
  EXPECT_TRUE(nice_ticks(1, 1, 5).empty());
  // Of two generations there is none in the middle.
  Panel counts{"", {"generation", false, {}, {}, {}, true}, {"n"}, {{"", {{0, 1}, {1, 3}}}}};
  EXPECT_EQ(svg({"", {counts}}).find(">0.2<"), std::string::npos);
  counts.x.whole = false;
  EXPECT_NE(svg({"", {counts}}).find(">0.2<"), std::string::npos);
}

}  // namespace
}  // namespace volvox::report
