#include "volvox/report/claims.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "volvox/base/random.h"
#include "volvox/base/test/temporary_folder.h"

namespace volvox::report {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Claim number_of_the_paper(double value, double tolerance, Better better = Better::neither) {
  Claim claim;
  claim.metric = "speed_m_s";
  claim.paper_value = value;
  claim.tolerance = tolerance;
  claim.better = better;
  return claim;
}

TEST(Claims, AMedianHasAnIntervalOfOrderStatistics) {
  EXPECT_EQ(median_of({3}).value, 3);
  EXPECT_EQ(median_of({4, 1, 3, 2}).value, 2.5);
  EXPECT_EQ(median_of({4, 1, 3, 2}).low, 1);
  // Tables of the sign test: of 6 values the range, of 20 the sixth from each end, of 40 the fourteenth.
  for (const auto& [n, first] : {std::pair{5, 1}, {6, 1}, {8, 1}, {9, 2}, {20, 6}, {40, 14}}) {
    std::vector<double> values(n);
    for (int i = 0; i < n; ++i) values[i] = i + 1;
    EXPECT_EQ(median_of(values).low, first) << n;
    EXPECT_EQ(median_of(values).high, n + 1 - first) << n;
  }
}

// The interval holds the true median in at least 95 of 100 cases.
TEST(Claims, TheIntervalHoldsTheMedian) {
  RandomStream random(1, 0, "claims");
  int held = 0;
  constexpr int tries = 4000;
  for (int t = 0; t < tries; ++t) {
    std::vector<double> values(20);
    for (double& value : values) value = std::exp(random.uniform() * 4);  // its median is e^2
    const Median median = median_of(values);
    held += median.low <= std::exp(2.0) && std::exp(2.0) <= median.high;
  }
  EXPECT_GT(held, tries * 0.95);
  EXPECT_LT(held, tries * 0.98);
}

TEST(Claims, AreJudgedByOneRule) {
  const auto verdict = [](const Claim& claim, std::vector<double> values) { return judge(claim, values).verdict; };
  EXPECT_EQ(verdict(number_of_the_paper(10, 0.1), {9.2, 9.5, 9.9}), Verdict::agrees);
  EXPECT_EQ(verdict(number_of_the_paper(10, 0.1), {8.0, 8.5, 8.9}), Verdict::differs);
  EXPECT_EQ(verdict(number_of_the_paper(10, 0.1, Better::less), {8.0, 8.5, 8.9}), Verdict::better);
  EXPECT_EQ(verdict(number_of_the_paper(10, 0.1, Better::more), {8.0, 8.5, 8.9}), Verdict::differs);
  EXPECT_EQ(verdict(number_of_the_paper(10, 0.1, Better::more), {12.0, 12.5}), Verdict::better);
  EXPECT_EQ(verdict(number_of_the_paper(-10, 0.1), {-9.5}), Verdict::agrees);
  EXPECT_EQ(verdict(number_of_the_paper(10, 0.1), {10, nan}), Verdict::failed);
  EXPECT_EQ(verdict(number_of_the_paper(10, 0.1), {}), Verdict::failed);
  Claim bounds;
  bounds.at_least = 1;
  EXPECT_EQ(verdict(bounds, {1, 1, 2}), Verdict::agrees);
  EXPECT_EQ(verdict(bounds, {1, 0, 2}), Verdict::differs);
  EXPECT_EQ(judge(bounds, std::vector<double>{1, 0, 2}).why, "1 of 3 seeds");
  Claim missing;
  missing.missing = "not built";
  EXPECT_EQ(verdict(missing, {}), Verdict::missing);
}

TEST(Claims, SayTheirRuleAndTheirCommand) {
  Claim claim = number_of_the_paper(0.051, 0.2, Better::more);
  claim.unit = "m/s";
  EXPECT_EQ(rule_of(claim), "within 20 % of 0.051 m/s, more is better");
  claim.experiment = "roles/sidewinder";
  claim.set = {{"friction", "0.3"}};
  claim.duration = 30;
  EXPECT_EQ(command_of(claim, 7), "volvox run roles/sidewinder --set friction=0.3 --duration 30 --seed 7");
}

struct ClaimsFile : testing::Test {
  TemporaryFolder folder;
  std::string error(const std::string& text) {
    std::ofstream(folder / "claims.json") << text;
    const auto read = read_claims(folder / "claims.json");
    return read.ok() ? "" : read.error().text();
  }
};

TEST_F(ClaimsFile, IsRead) {
  EXPECT_EQ(error(R"({"paper": "004", "title": "Roles", "claims": [
    {"place": "section 5", "claim": "in step", "experiment": "roles/arm", "set": {"modules": 5, "robot": "conro"},
     "metric": "sync_time_s", "paper_value": 3, "tolerance": 0.1, "unit": "s", "trials": 100},
    {"place": "figure 9", "claim": "walkers meet", "missing": "not built yet"}]})"),
            "");
  const auto claims = read_claims(folder / "claims.json");
  ASSERT_EQ(claims->size(), 2u);
  EXPECT_EQ((*claims)[0].paper, "004");
  EXPECT_EQ((*claims)[0].set.at("modules"), "5");
  EXPECT_EQ((*claims)[0].set.at("robot"), "conro");
  EXPECT_EQ((*claims)[0].trials, 100u);
  EXPECT_EQ((*claims)[1].trials, 0u);
  EXPECT_EQ((*claims)[1].missing, "not built yet");
}

TEST_F(ClaimsFile, MistakesNameTheFileAndTheClaim) {
  const auto expect = [&](const std::string& text, const std::string& words) {
    const std::string said = error(text);
    EXPECT_NE(said.find("claims.json"), std::string::npos) << said;
    EXPECT_NE(said.find(words), std::string::npos) << said;
    EXPECT_NE(said.find("fix:"), std::string::npos) << said;
  };
  const auto one = [](const std::string& inside) { return R"({"paper": "1", "claims": [{)" + inside + "}]}"; };
  const std::string good = R"("place": "p", "claim": "c", "experiment": "e", "metric": "m")";
  expect("{", "line 1");
  expect("[]", "not an object");
  expect(R"({"paper": "1", "claims": [3]})", "claim 1 is not an object");
  expect(one(R"("claim": "c", "missing": "w")"), "place");
  expect(one(R"("place": "p", "claim": "c")"), "claim 1 (p): it needs an experiment");
  expect(one(good), "either paper_value");
  expect(one(good + R"(, "paper_value": 3)"), "tolerance");
  expect(one(good + R"(, "paper_value": "3", "tolerance": 1)"), "paper_value is not a number");
  expect(one(good + R"(, "paper_value": 3, "tolerance": 1, "at_most": 2)"), "either paper_value");
  expect(one(good + R"(, "at_least": 3, "bettr": "less")"), "no key 'bettr'");
  expect(one(good + R"(, "at_least": 3, "better": "up")"), "better is");
  expect(one(good + R"(, "at_least": 3, "set": 4)"), "set is an object");
  expect(one(good + R"(, "at_least": 3, "chance": 4)"), "chance is");
  for (const char* trials : {"0", "2.5", "1e9", "-1", "\"100\""})
    expect(one(good + R"(, "at_least": 3, "trials": )" + trials), "trials is");
  const std::string drawn =
      R"("place": "p", "claim": "c", "experiment": "e", "metric": "frames_per_second", "at_least": 3)";
  EXPECT_EQ(error(one(drawn + R"(, "set": {"modules": 5})")), "");
  for (const char* ignored :
       {R"("dt": "0.01")", R"("duration": 2)", R"("set": {"length": 5})", R"("than": {"modules": 5})"})
    expect(one(drawn + ", " + ignored), "frames_per_second is measured without");
}

}  // namespace
}  // namespace volvox::report
