#include <algorithm>
#include <cmath>

#include "worlds.h"

namespace volvox::particles {
namespace {

// A rope of 2 m between two pins 1.2 m apart hangs as a catenary: z = c cosh(x / c), where 2 c sinh(0.6 / c) = 2.
TEST(Cloth, RopeHangsAsACatenary) {
  WorldOptions options;
  options.air_drag = 3;
  auto world = make_world(options);
  const std::uint32_t points = 41;
  ClothDesc rope{.along_columns = {2, 0, 0}, .columns = 41, .rows = 1, .density = 0.5};
  rope.bend = 0;
  rope.stretch = 1e6;
  rope.thickness = 0.01;
  ASSERT_TRUE(world->add_cloth(rope).ok());
  world->pin(0), world->pin(points - 1);
  for (int k = 1; k <= 80; ++k) {
    world->place(points - 1, {2 - 0.01 * k, 0, 0});
    run(*world, tick);
  }
  run(*world, 6);
  double c = 0.4;
  for (int k = 0; k < 100; ++k) {
    const double f = 2 * c * std::sinh(0.6 / c) - 2, slope = 2 * std::sinh(0.6 / c) - 1.2 / c * std::cosh(0.6 / c);
    c -= f / slope;
  }
  const double sag = c * (std::cosh(0.6 / c) - 1);
  for (std::uint32_t id = 0; id < points; ++id) {
    const Point p = world->solid_positions()[world->index_of_solid(id)];
    const double z = c * (std::cosh((p.x - 0.6) / c) - std::cosh(0.6 / c));
    EXPECT_NEAR(p.z, z, 0.01 * sag) << id;
  }
}

TEST(Cloth, HangsWithoutStretching) {
  auto world = make_world({});
  ClothDesc cloth{.along_columns = {0.5, 0, 0}, .along_rows = {0, 0, -1}, .columns = 11, .rows = 81};
  const auto first = world->add_cloth(cloth);
  ASSERT_TRUE(first.ok());
  for (std::uint32_t k = 0; k < 11; ++k) world->pin(*first + k);
  run(*world, 1);
  float lowest = 0;
  for (const Point& p : world->solid_positions()) lowest = std::min(lowest, p.z);
  EXPECT_NEAR(lowest, -1, 0.002);
}

TEST(Cloth, KeepsMomentumAndNeverGainsEnergyOfMotion) {
  WorldOptions options;
  options.gravity = {};
  auto world = make_world(options);
  ClothDesc cloth{.along_columns = {0.5, 0, 0}, .along_rows = {0, 0.5, 0}, .columns = 20, .rows = 20};
  ASSERT_TRUE(world->add_cloth(cloth).ok());
  // A grain flies into it.
  const std::vector<Vec3> place = {{0.25, 0.25, 0.1}};
  ASSERT_TRUE(world->add_grains({0.03, 2000, 0.5}, place, {0.3, 0, -2}).ok());
  const Vec3 momentum = world->momentum();
  const double before = world->energy();
  double energy = before;
  for (int k = 0; k < 60; ++k) {
    run(*world, tick);
    EXPECT_LT(length(world->momentum() - momentum), 1e-5 * length(momentum));
    EXPECT_LE(world->energy(), before * (1 + 1e-5));  // threads give back what they stored: not less in every tick
    energy = world->energy();
  }
  EXPECT_LT(energy, 0.97 * before);
}

// One sheet falls onto another.
TEST(Cloth, SheetsDoNotPassThroughEachOther) {
  WorldOptions options;
  options.air_drag = 1;
  auto world = make_world(options);
  ASSERT_TRUE(world->add_shape({}).ok());  // the floor
  ClothDesc below{
      .corner = {0, 0, 0.05}, .along_columns = {0.4, 0, 0}, .along_rows = {0, 0.4, 0}, .columns = 17, .rows = 17};
  ASSERT_TRUE(world->add_cloth(below).ok());
  ClothDesc above = below;
  above.corner = {0.01, 0.012, 0.2};
  ASSERT_TRUE(world->add_cloth(above).ok());
  run(*world, 2);
  for (std::uint32_t id = 0; id < 17 * 17; ++id) {
    const Point low = world->solid_positions()[world->index_of_solid(id)];
    const Point high = world->solid_positions()[world->index_of_solid(17 * 17 + id)];
    EXPECT_GT(high.z, low.z);
    EXPECT_GT(low.z, 0);
  }
}

// Stretching, shear and bending, each against its closed form.
TEST(Cloth, StretchesAsItsStiffnessSays) {
  WorldOptions options;
  options.air_drag = 3;
  auto world = make_world(options);
  const int points = 21;
  const double distance = 0.05, weight = 0.05 * 9.81, stretch = 100;  // m, N a point, N
  ClothDesc rope{.along_columns = {0, 0, -1}, .columns = points, .rows = 1, .density = 1, .stretch = stretch};
  rope.bend = 0;
  ASSERT_TRUE(world->add_cloth(rope).ok());
  world->pin(0);
  run(*world, 4);
  // Segment k bears the points below it.
  const double longer = distance * weight / stretch * (points * (points - 1) / 2.0);
  EXPECT_NEAR(-world->solid_positions()[world->index_of_solid(points - 1)].z - 1, longer, 0.01 * longer);
}

// A panel that hangs from its first row and is pulled sideways in its plane: each of the two diagonals of a cell bears
// half of shear times the angle, at 45 degrees.
TEST(Cloth, ShearsAsItsStiffnessSays) {
  WorldOptions options;
  options.gravity = {1, 0, 0};
  options.air_drag = 3;
  auto world = make_world(options);
  const int columns = 11, rows = 6;
  const double distance = 0.1, mass = 0.3 * distance * distance, shear = 1;
  ClothDesc panel{.along_columns = {1, 0, 0}, .along_rows = {0, 0, -0.5}, .columns = columns, .rows = rows};
  panel.bend = 0, panel.shear = shear;
  ASSERT_TRUE(world->add_cloth(panel).ok());
  for (int k = 0; k < columns; ++k) world->pin(k);
  run(*world, 4);
  double expected = 0;
  for (int row = 1; row < rows; ++row)
    expected += distance * mass * columns * (rows - row) * std::sqrt(2.0) / ((columns - 1) * shear);
  const Point corner = world->solid_positions()[world->index_of_solid((rows - 1) * columns)];
  EXPECT_NEAR(corner.x, expected, 0.03 * expected);
}

// The end of three points, of which two are held: the thread from the first to the last is pressed together.
TEST(Cloth, BendsAsItsStiffnessSays) {
  for (const double bend : {1.0, 10.0, 100.0}) {
    WorldOptions options;
    options.air_drag = 3;
    auto world = make_world(options);
    const double weight = 0.1 * 9.81;
    ClothDesc strip{.along_columns = {0.2, 0, 0}, .columns = 3, .rows = 1, .density = 1};
    strip.bend = bend;
    ASSERT_TRUE(world->add_cloth(strip).ok());
    world->pin(0), world->pin(1);
    run(*world, 6);
    double low = 0, high = pi / 2;  // of the angle: its moment about the second point is that of the weight
    for (int k = 0; k < 60; ++k) {
      const double angle = (low + high) / 2;
      const double moment = bend * (1 - std::cos(angle / 2)) * std::sin(angle / 2);
      (moment < weight * std::cos(angle) ? low : high) = angle;
    }
    const Point end = world->solid_positions()[world->index_of_solid(2)];
    EXPECT_NEAR(std::atan2(-end.z, end.x - 0.1), low, 0.02) << bend;
  }
}

// A rope of 1 kg bears its weight, 9.81 N, at the top.
TEST(Cloth, TearsAtItsStrength) {
  for (const double strength : {8.0, 13.0}) {
    auto world = make_world({});
    ClothDesc rope{.along_columns = {0, 0, -1}, .columns = 51, .rows = 1, .density = 1, .strength = strength};
    ASSERT_TRUE(world->add_cloth(rope).ok());
    world->pin(0);
    run(*world, 1);
    EXPECT_EQ(world->torn() > 0, strength < 9.81) << strength;
  }
}

}  // namespace
}  // namespace volvox::particles
