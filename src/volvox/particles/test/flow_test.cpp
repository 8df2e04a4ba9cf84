// Closed forms of what flows: a ball in a viscous fluid (Stokes), and grains through a hole (Beverloo).
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "worlds.h"

namespace volvox::particles {
namespace {

// A steel ball, three spacings in radius, in a square shaft, whose walls brake it by 1 / (1 - 1.903 r / a) (a: half the
// width; Happel and Bart 1974). Momentum needs 0.6 s to the walls and back; until then the ball is faster. So coarse a
// fluid lets it fall 8 % too slowly, as one of four spacings does (bench/particles_figures.cpp).
TEST(Fluid, ASteelBallSinksAsStokesSays) {
  const double radius = 0.1, half = 0.5, viscosity = 300, spacing = 1.0 / 30, density = 8000;
  ThreadPool threads(2);
  WorldOptions options;
  options.threads = &threads;
  options.fluid = {.spacing = spacing, .viscosity = viscosity};
  auto world = make_world(options);
  add_tank(*world, {-half, -half, 0}, {half, half, 3});
  ShapeDesc ball{.kind = ShapeKind::sphere, .radius = radius};
  ball.mass = 4 * pi / 3 * radius * radius * radius * density;
  ball.moments = Vec3{1, 1, 1} * (0.4 * ball.mass * radius * radius);
  ball.pose.position = {0, 0, 0.65};
  const double free = 2.0 / 9 * (density - 1000) * 9.81 * radius * radius / viscosity;
  const double expected = free * (1 - 1.903 * radius / half);
  ball.velocity.linear.z = -expected;
  const auto index = world->add_shape(ball);
  ASSERT_TRUE(index.ok());
  std::vector<Vec3> places;
  const int across = 30, layers = 26;
  for (int i = 0; i < across * across * layers; ++i) {
    const Vec3 grid{i % across + 0.5, i / across % across + 0.5, i / (across * across) + 0.5};
    const Vec3 p = grid * spacing - Vec3{half, half, 0};
    if (length(p - ball.pose.position) > radius + 0.3 * spacing) places.push_back(p);
  }
  ASSERT_TRUE(world->add_fluid(places).ok());
  run(*world, shortened(0.6));
  double speed = 0;
  for (int k = 0; k < shortened(4); ++k) {
    run(*world, tick);
    speed -= world->shape(*index).velocity.linear.z / 4;
  }
  std::printf("  %.3f m/s, by Stokes in a shaft %.3f\n", speed, expected);
  VOLVOX_EXPECT_FIGURE(speed / expected, 1, 0.1);
}

// How many grains of 12 mm a second go through a round hole in the floor of a bin.
double flow_through(double width) {
  WorldOptions options;
  options.low = {-0.3, -0.3, -0.5};
  options.high = {0.3, 0.3, 3};
  auto world = make_world(options);
  add_tank(*world, {-0.1, -0.1, -5}, {0.1, 0.1, 5});
  // Wedges around the hole: boxes whose inner face is a chord of it.
  for (int i = 0; i < 32; ++i) {
    const double angle = 2 * pi * i / 32;
    ShapeDesc wedge{.kind = ShapeKind::box, .half_size = {0.1, 0.05, 0.02}, .friction = 0.5};
    wedge.pose = {Vec3{std::cos(angle), std::sin(angle), 0} * (width / 2 + 0.1) - Vec3{0, 0, 0.02},
                  Quat::axis_angle({0, 0, 1}, angle)};
    EXPECT_TRUE(world->add_shape(wedge).ok());
  }
  std::vector<Vec3> places;
  for (int i = 0; i < 14 * 14 * 30; ++i)
    places.push_back(Vec3{-0.09, -0.09, 0.01} + Vec3{real(i % 14), real(i / 14 % 14), real(i / 196)} * 0.0135);
  EXPECT_TRUE(world->add_grains({0.006, 2500, 0.5}, places).ok());
  const auto through = [&] {
    double count = real(world->drained());
    for (const Point& p : world->solid_positions()) count += p.z < -0.05f;
    return count;
  };
  run(*world, 0.5);
  const double before = through();
  if (sanitized) return before;  // so soon all that can happen has
  run(*world, 0.5);
  return (through() - before) / 0.5;
}

// Beverloo's law: W ~ (D - 1.4 d)^2.5.
TEST(Grains, FlowThroughAHoleAsBeverlooSays) {
  const double narrow = 0.06, wide = 0.1, less = 1.4 * 0.012;
  const double fast = flow_through(wide), slow = sanitized ? fast : flow_through(narrow);
  const double exponent = std::log(fast / slow) / std::log((wide - less) / (narrow - less));
  std::printf("  %.0f and %.0f grains/s: exponent %.2f\n", slow, fast, exponent);
  VOLVOX_EXPECT_FIGURE(exponent, 2.5, 0.3);
}

}  // namespace
}  // namespace volvox::particles
