#include "volvox/report/figures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "volvox/base/test/temporary_folder.h"

namespace volvox::report {
namespace {

struct FiguresTest : testing::Test {
  TemporaryFolder folder;
  Result<std::vector<Figure>> read(const std::string& figures) {
    std::ofstream(folder / "claims.json") << R"({"paper": "004", "claims": [], "figures": [)" << figures << "]}";
    return read_figures(folder / "claims.json");
  }
};

constexpr const char* speeds = R"({"name": "speeds", "title": "Speed", "x": "friction", "y": "cm/s", "seeds": 3,
  "rows": {"key": "friction", "values": [0.1, 0.5]},
  "columns": [{"label": "walker", "experiment": "roles/walker", "metric": "speed_m_s", "duration": 20,
               "duration_per_x": 10, "scale": 100},
              {"label": "the paper", "values": [3, 3.1]}]})";

TEST_F(FiguresTest, SaysWhichRuns) {
  const auto figures = read(speeds);
  ASSERT_TRUE(figures.ok()) << figures.error().text();
  const Figure& figure = figures->at(0);
  EXPECT_EQ(figure.paper, "004");
  EXPECT_EQ(figure.seeds, 3u);
  EXPECT_EQ(figure.rows[1].set.at("friction"), "0.5");
  EXPECT_EQ(figure.rows[1].x, 0.5);
  EXPECT_EQ(figure.columns[0].duration_per_x, 10);
  EXPECT_EQ(figure.files(), (std::vector<std::string>{"speeds.csv", "speeds.md", "speeds.svg"}));
}

TEST_F(FiguresTest, AnotherDefinitionHasAnotherIdentity) {
  std::string other = speeds;
  other.replace(other.find("0.5"), 3, "0.6");
  EXPECT_NE(read(speeds)->at(0).identity, read(other)->at(0).identity);
  EXPECT_EQ(read(speeds)->at(0).identity, read(speeds)->at(0).identity);
}

TEST_F(FiguresTest, DrawsMediansAndSaysHowManyMeasuredNothing) {
  const Figure figure = read(speeds)->at(0);
  const double nan = std::nan("");
  const FigureFiles files = draw(figure, {{{0.01, 0.03, 0.02}, {3}}, {{0.04, nan, 0.06}, {3.1}}});
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].second,
            "row,column,median,least,most,seeds,none\n0.1,walker,2,1,3,3,0\n0.1,the paper,3,3,3,1,0\n"
            "0.5,walker,5,4,6,3,1\n0.5,the paper,3.1,3.1,3.1,1,0\n");
  EXPECT_NE(files[1].second.find("| 0.5 | 5 (4 to 6), none in 1 of 3 | 3.1 |"), std::string::npos) << files[1].second;
  EXPECT_NE(files[2].second.find("<svg"), std::string::npos);
}

TEST_F(FiguresTest, StepsAreTheMedianOfTheSeeds) {
  const auto figures = read(R"({"name": "flood", "kind": "steps", "columns": [
    {"label": "7", "experiment": "vouivre/checkerboard", "file": "coloured.csv"}]})");
  ASSERT_TRUE(figures.ok()) << figures.error().text();
  const FigureFiles files = draw_steps(figures->at(0), {{{{1, 10}, {4, 20}}, {{2, 10}, {5, 20}}, {{3, 10}}}});
  EXPECT_EQ(files[0].second, "column,x,y\n7,1.000000000,0\n7,2.000000000,10\n7,5.000000000,20\n");
}

TEST_F(FiguresTest, MistakesAreNamed) {
  const auto mistake = [&](const std::string& figure) {
    const auto figures = read(figure);
    return figures.ok() ? std::string() : figures.error().text();
  };
  EXPECT_NE(mistake(R"({"name": "a", "columns": []})").find("figure 1 (a): it needs a name and columns"),
            std::string::npos);
  EXPECT_NE(mistake(R"({"name": "a", "kind": "pie", "columns": []})").find("there is no kind 'pie'"),
            std::string::npos);
  EXPECT_NE(mistake(R"({"name": "a", "kind": "table", "columns": [{"label": "b", "experiment": "c"}]})")
                .find("column 'b' has no metric"),
            std::string::npos);
  EXPECT_NE(
      mistake(R"({"name": "a", "rows": {"key": "k", "values": [1, 2]}, "columns": [{"label": "b", "values": [1]}]})")
          .find("1 values for 2 rows"),
      std::string::npos);
  EXPECT_NE(mistake(R"({"columns": []})"), "");
  EXPECT_NE(mistake("5"), "");
}

}  // namespace
}  // namespace volvox::report
