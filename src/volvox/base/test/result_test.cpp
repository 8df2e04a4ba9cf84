#include "volvox/base/result.h"

#include <gtest/gtest.h>

namespace volvox {
namespace {

TEST(Result, SaysWhereWhatAndWhatToDo) {
  const Result<int> bad = Diagnostic{"robots/a.sdf", 12, "the mass is zero", "give a positive mass"};
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().text(), "robots/a.sdf:12: the mass is zero\n  fix: give a positive mass");
  const Result<int> good = 3;
  EXPECT_EQ(*good, 3);
}

TEST(Result, KeepsSeveralDiagnostics) {
  Error error("first", "");
  error.add(Error("second", "do this"));
  EXPECT_EQ(error.text(), "first\nsecond\n  fix: do this");
}

TEST(ResultDeathTest, ValueOfAFailureIsOurBug) {
  const Result<int> bad = Diagnostic{"a.sdf", 3, "no mass", "give one"};
  EXPECT_DEATH((void)bad.value(), "failed Result.*a.sdf:3: no mass");
  EXPECT_DEATH((void)*bad, "fix: give one");
}

TEST(ResultDeathTest, ErrorOfASuccessIsOurBug) {
  EXPECT_DEATH((void)Result<int>(3).error(), "error\\(\\) of a Result that has none");
  EXPECT_DEATH((void)Result<void>().error(), "error\\(\\) of a Result that has none");
}

TEST(NearestName, FindsSlipsAndMissingFolders) {
  const std::vector<std::string> names = {"superbot", "atron", "remod3d/snake"};
  EXPECT_EQ(nearest_name("superbt", names), "superbot");
  EXPECT_EQ(nearest_name("snake", names), "remod3d/snake");
  EXPECT_EQ(nearest_name("quadrotor", names), "");
}

}  // namespace
}  // namespace volvox
