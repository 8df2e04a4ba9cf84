#include "volvox/base/random.h"

#include <gtest/gtest.h>

#include <cmath>

#include "volvox/base/archive.h"

namespace volvox {
namespace {

TEST(RandomStream, IsKeyedBySeedEntityAndPurpose) {
  RandomStream a(1, 2, "x"), same(1, 2, "x");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.bits(), same.bits());
  RandomStream base(1, 2, "x"), seed(2, 2, "x"), entity(1, 3, "x"), purpose(1, 2, "y");
  const auto first = base.bits();
  EXPECT_NE(first, seed.bits());
  EXPECT_NE(first, entity.bits());
  EXPECT_NE(first, purpose.bits());
}

// Means and variances over n draws lie within five standard errors of the theory.
TEST(RandomStream, HasTheRightMoments) {
  RandomStream stream(7, 0, "moments");
  constexpr int n = 200'000;
  double sum = 0, squares = 0, normal_sum = 0, normal_squares = 0, normal_fourth = 0;
  for (int i = 0; i < n; ++i) {
    const double u = stream.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    squares += u * u;
    const double z = stream.normal();
    normal_sum += z;
    normal_squares += z * z;
    normal_fourth += z * z * z * z;
  }
  EXPECT_NEAR(sum / n, 0.5, 5 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(squares / n, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / n));
  EXPECT_NEAR(normal_sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(normal_squares / n, 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(normal_fourth / n, 3, 5 * std::sqrt(96.0 / n));
}

TEST(RandomStream, BelowIsUniform) {
  RandomStream stream(3, 1, "below");
  std::array<int, 7> count{};
  constexpr int n = 70'000;
  for (int i = 0; i < n; ++i) ++count[stream.below(7)];
  double chi_square = 0;
  for (const int c : count) chi_square += (c - n / 7.0) * (c - n / 7.0) / (n / 7.0);
  EXPECT_LT(chi_square, 22.46);  // 99.9 % of chi-square with 6 degrees of freedom
  EXPECT_EQ(stream.below(0), 0u);
  EXPECT_EQ(stream.below(1), 0u);
}

TEST(RandomStream, GoesOnAfterRestore) {
  RandomStream stream(5, 5, "restore");
  for (int i = 0; i < 10; ++i) stream.bits();
  SaveArchive save;
  save("stream", stream);
  const auto expected = stream.bits();
  RandomStream other;
  LoadArchive load(save.bytes());
  load("stream", other);
  EXPECT_EQ(other.bits(), expected);
}

}  // namespace
}  // namespace volvox
