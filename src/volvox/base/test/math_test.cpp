#include "volvox/base/math.h"
#include "volvox/base/index.h"

#include <gtest/gtest.h>

#include "volvox/base/random.h"

namespace volvox {
namespace {

// The reference is the C library in extended precision; the error is in units in the last place of the result.
long double extended(double x) { return x; }
double ulps(double got, long double wanted) {
  const double rounded = static_cast<double>(wanted);
  const double ulp = std::nextafter(std::fabs(rounded), 1e308) - std::fabs(rounded);
  return static_cast<double>(std::fabs(got - wanted)) / ulp;
}

TEST(Math, ElementaryFunctionsAreAccurate) {
  RandomStream random(1, 0, "math");
  double worst_sin = 0, worst_exp = 0, worst_log = 0, worst_atan = 0;
  for (int i = 0; i < 200'000; ++i) {
    const double x = random.uniform(-100, 100);
    worst_sin =
        std::max({worst_sin, ulps(volvox::sin(x), std::sin(extended(x))), ulps(volvox::cos(x), std::cos(extended(x)))});
    const double e = random.uniform(-50, 50);
    worst_exp = std::max(worst_exp, ulps(volvox::exp(e), std::exp(extended(e))));
    const double l = std::ldexp(random.uniform(0.5, 1), narrow<int>(random.below(40)) - 20);
    if (std::fabs(l - 1) > 1e-3) worst_log = std::max(worst_log, ulps(volvox::log(l), std::log(extended(l))));
    const double y = random.uniform(-2, 2), z = random.uniform(-2, 2);
    worst_atan = std::max(worst_atan, ulps(volvox::atan2(y, z), std::atan2(extended(y), extended(z))));
  }
  EXPECT_LT(worst_sin, 2.0);
  EXPECT_LT(worst_exp, 4.0);
  EXPECT_LT(worst_log, 4.0);
  EXPECT_LT(worst_atan, 3.0);
}

TEST(Math, EdgeCases) {
  EXPECT_EQ(volvox::sin(0.0), 0.0);
  EXPECT_EQ(volvox::cos(0.0), 1.0);
  EXPECT_TRUE(std::isnan(volvox::sin(INFINITY)));
  EXPECT_TRUE(std::isnan(volvox::atan2(NAN, 1)));
  EXPECT_EQ(volvox::atan2(0.0, 0.0), 0.0);
  EXPECT_DOUBLE_EQ(volvox::atan2(0.0, -1.0), pi);
  EXPECT_DOUBLE_EQ(volvox::acos(-1), pi);
  EXPECT_DOUBLE_EQ(volvox::asin(1), pi / 2);
  EXPECT_TRUE(std::isinf(volvox::exp(1000)));
  EXPECT_EQ(volvox::exp(-1000), 0.0);
  EXPECT_TRUE(std::isinf(volvox::log(0)));
  EXPECT_TRUE(std::isnan(volvox::log(-1)));
}

Quat random_rotation(RandomStream& random) {
  return normalized(Quat{random.normal(), random.normal(), random.normal(), random.normal()});
}
Vec3 random_vector(RandomStream& random) { return {random.normal(), random.normal(), random.normal()}; }

TEST(Math, PosesCompose) {
  RandomStream random(2, 0, "poses");
  for (int i = 0; i < 1000; ++i) {
    const Pose a{random_vector(random), random_rotation(random)}, b{random_vector(random), random_rotation(random)};
    const Vec3 p = random_vector(random);
    EXPECT_LT(length((a * b) * p - a * (b * p)), 1e-13);
    EXPECT_LT(length(a.inverse() * (a * p) - p), 1e-13);
    EXPECT_LT(angle((a * a.inverse()).rotation), 1e-7);
    const Vec3 v = rotation_vector(a.rotation);
    EXPECT_LT(angle(from_rotation_vector(v) * a.rotation.conjugate()), 1e-7);
    const Vec3 rpy = roll_pitch_yaw(a.rotation);
    EXPECT_LT(angle(Quat::rpy(rpy.x, rpy.y, rpy.z) * a.rotation.conjugate()), 1e-6);
    const Quat axes = Quat::from_axes(a.rotation * Vec3{1, 0, 0}, a.rotation * Vec3{0, 0, 1});
    EXPECT_LT(angle(axes * a.rotation.conjugate()), 1e-7);
    const Vec3 from = normalized(random_vector(random)), to = normalized(random_vector(random));
    EXPECT_LT(length(Quat::between(from, to) * from - to), 1e-7);
  }
  EXPECT_LT(length(Quat::between({1, 0, 0}, {-1, 0, 0}) * Vec3{1, 0, 0} - Vec3{-1, 0, 0}), 1e-12);
}

TEST(Math, PrincipalAxesDiagonalise) {
  RandomStream random(3, 0, "inertia");
  for (int i = 0; i < 200; ++i) {
    const Quat r = random_rotation(random);
    const Vec3 m{random.uniform(1, 2), random.uniform(2, 3), random.uniform(3, 4)};
    const Vec3 e[3] = {r * Vec3{1, 0, 0}, r * Vec3{0, 1, 0}, r * Vec3{0, 0, 1}};
    const auto entry = [&](int a, int b) {
      return m.x * e[0][a] * e[0][b] + m.y * e[1][a] * e[1][b] + m.z * e[2][a] * e[2][b];
    };
    const PrincipalInertia p =
        principal_axes({entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2)});
    // The tensor that is rebuilt from the result must equal the original.
    const Vec3 w = random_vector(random);
    const Vec3 wanted = r * multiply(m, r.conjugate() * w);
    EXPECT_LT(length(p.axes * multiply(p.moments, p.axes.conjugate() * w) - wanted), 1e-12);
  }
}

}  // namespace
}  // namespace volvox
