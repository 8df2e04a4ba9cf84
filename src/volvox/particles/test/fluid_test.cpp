// Against closed forms, and against Martin and Moyce.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "worlds.h"

namespace volvox::particles {
namespace {

struct Mean {
  double sum = 0;
  int count = 0;
  void add(double value) { sum += value, ++count; }
  double value() const { return sum / count; }
};

double mean_height(const ParticleWorld& world) {
  double sum = 0;
  for (const Point& p : world.fluid_positions()) sum += p.z;
  return sum / static_cast<double>(world.fluid_positions().size());
}

// A pool of 0.8 m: the floor bears its weight, a wall half of rho g h^2 b, and the pressure grows by rho g.
TEST(Fluid, AtRestHasHydrostaticPressure) {
  WorldOptions options;
  options.fluid.spacing = 0.05;
  options.fluid.viscosity = 20;  // comes to rest soon
  auto world = make_world(options);
  ShapeDesc plane;
  ShapeIndex shapes[5];
  for (int k = 0; k < 5; ++k) {
    const Vec3 normals[5] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    plane.pose.rotation = Quat::between({0, 0, 1}, normals[k]);
    plane.pose.position = k == 2 || k == 4 ? Vec3{0.8, 0.8, 0} : Vec3{};
    shapes[k] = *world->add_shape(plane);
  }
  ASSERT_TRUE(world->add_fluid_box({0, 0, 0}, {0.8, 0.8, 0.8}).ok());
  const double weight =
      9.81 * 1000 * std::pow(options.fluid.spacing, 3) * static_cast<double>(world->fluid_positions().size());
  run(*world, 2);
  Mean floor, wall, error;
  double n = 0, z1 = 0, z2 = 0, p1 = 0, zp = 0;  // for a line through the pressures within
  for (int k = 0; k < 30; ++k) {
    run(*world, tick);
    const auto pressure = world->pressures();
    for (std::size_t i = 0; i < pressure.size(); ++i) {
      const Point& p = world->fluid_positions()[i];
      if (std::min({p.x, p.y, p.z}) < 0.1 || std::max({p.x, p.y, p.z}) > 0.7) continue;
      n += 1, z1 += p.z, z2 += p.z * p.z, p1 += pressure[i], zp += p.z * pressure[i];
    }
    floor.add(-world->impulse(shapes[0]).force.z / tick);
    wall.add(-world->impulse(shapes[1]).force.x / tick);
    error.add(world->density_error());
  }
  const double height = 2 * mean_height(*world);
  EXPECT_NEAR(floor.value() / weight, 1, 0.02);
  EXPECT_NEAR(wall.value() / (0.5 * 9810 * height * height * 0.8), 1, 0.02);
  EXPECT_NEAR((n * zp - z1 * p1) / (n * z2 - z1 * z1) / -9810, 1, 0.02);
  EXPECT_LT(error.value(), 0.01);
  EXPECT_NEAR(height, 0.8, 0.03);
}

TEST(Fluid, KeepsMomentumAndNeverGainsEnergy) {
  WorldOptions options;
  options.gravity = {};
  options.fluid.spacing = 0.05;
  auto world = make_world(options);
  // Two drops that hit each other.
  std::vector<Vec3> left, right;
  for (int i = 0; i < 1000; ++i) {
    const Vec3 p = Vec3{i % 10 + 0.5, i / 10 % 10 + 0.5, i / 100 + 0.5} * 0.05;
    left.push_back(p);
    right.push_back(p + Vec3{0.6, 0.1, 0});
  }
  ASSERT_TRUE(world->add_fluid(left, {2, 0, 0}).ok());
  ASSERT_TRUE(world->add_fluid(right, {-1, 0, 0}).ok());
  const Vec3 momentum = world->momentum();
  const double mass = 2000 * 1000 * std::pow(0.05, 3);
  double energy = world->energy();
  for (int k = 0; k < 40; ++k) {
    run(*world, tick);
    EXPECT_LT(length(world->momentum() - momentum) / mass, 1e-5);
    EXPECT_LE(world->energy(), energy * (1 + 1e-6));
    energy = world->energy();
  }
  EXPECT_LT(energy, 0.9 * 0.5 * mass * 2.5);
}

// Round bodies, held askew in a fluid that came to rest around them: what lifts them, over what they displace.
double lift_of(const ShapeDesc& kind, int across, double turn) {
  constexpr double dx = 0.05;
  WorldOptions options;
  options.fluid = {.spacing = dx, .viscosity = 0.5};
  options.max_substep = 1.0 / 960;
  auto world = make_world(options);
  const double side = across * dx;
  add_tank(*world, {0, 0, 0}, {side, side, 2});
  ShapeDesc body = kind;
  body.pose = {Vec3{0.5 * side + 0.01 * turn, 0.5 * side - 0.007 * turn, 0.5 * side + 0.008 * turn},
               Quat::axis_angle(normalized(Vec3{1, turn, 0.5}), turn)};
  const ShapeIndex index = *world->add_shape(body);
  const ShapeView view = view_of(body);
  std::vector<Vec3> places;
  for (int i = 0; i < across * across * across; ++i) {
    const Vec3 p = Vec3{i % across + 0.5, i / across % across + 0.5, i / across / across + 0.5} * dx;
    if (distance_to(view, {to_float(p.x), to_float(p.y), to_float(p.z)}).distance > 0.3 * dx) places.push_back(p);
  }
  EXPECT_TRUE(world->add_fluid(places).ok());
  run(*world, shortened(1.5));
  Mean lift;
  for (int k = 0; k < shortened(30); ++k) {
    run(*world, tick);
    lift.add(world->impulse(index).force.z / tick);
  }
  return lift.value() / (9810 * volume(body));
}

// Four spacings wide. A single one is up to 5 % off, by the layers of particles that it comes to lie between.
TEST(Fluid, LiftsSmallBodiesByWhatTheyDisplace) {
  const auto mean_lift = [](const char* name, const ShapeDesc& kind) {
    Mean lift;
    for (const double turn : {0.5, 0.9, 1.3, 1.7}) lift.add(lift_of(kind, 13, turn));
    std::printf("  a %s is lifted by %.4f of what it displaces\n", name, lift.value());
    return lift.value();
  };
  VOLVOX_EXPECT_FIGURE(mean_lift("ball", {.kind = ShapeKind::sphere, .radius = 0.1}), 1, 0.02);
  VOLVOX_EXPECT_FIGURE(mean_lift("tin", {.kind = ShapeKind::cylinder, .radius = 0.1, .half_length = 0.1}), 1, 0.02);
  VOLVOX_EXPECT_FIGURE(mean_lift("rod", {.kind = ShapeKind::capsule, .radius = 0.1, .half_length = 0.05}), 1, 0.02);
  VOLVOX_EXPECT_FIGURE(mean_lift("box", {.kind = ShapeKind::box, .half_size = {0.1, 0.1, 0.1}}), 1, 0.03);
}

// How much of its weight a floating body of half the fluid's density displaces. The level follows from the amount of
// fluid: at rest it is a little denser, and comes 0.018 spacings nearer to flat walls than half a spacing.
double displaced_by(ShapeKind kind, double start) {
  constexpr double dx = 0.05, nearer = 0.018 * dx, side = 1;
  WorldOptions options;
  options.fluid = {.spacing = dx, .viscosity = 0.5};
  options.max_substep = 1.0 / 960;
  auto world = make_world(options);
  add_tank(*world, {0, 0, 0}, {side, side, 2});
  EXPECT_TRUE(world->add_fluid_box({0, 0, 0}, {side, side, 0.65}).ok());
  ShapeDesc body{.kind = kind, .half_size = {0.2, 0.2, 0.2}, .radius = 0.2};
  body.mass = 500 * volume(body);
  body.moments = Vec3{1, 1, 1} * (4 * body.mass);  // a cube of half the density would not lie flat
  body.pose.position = {0.5, 0.5, start};
  const ShapeIndex index = *world->add_shape(body);
  run(*world, shortened(3.0));
  Mean z, lift, denser;
  for (int k = 0; k < shortened(60); ++k) {
    run(*world, tick);
    z.add(world->shape(index).pose.position.z);
    lift.add(world->impulse(index).force.z / tick);
    denser.add(world->density_error());
  }
  VOLVOX_EXPECT_FIGURE(lift.value() / (9.81 * body.mass), 1, 0.02);
  const double fluid = static_cast<double>(world->fluid_positions().size()) * dx * dx * dx / (1 + denser.value());
  double level = 0.65, under = 0;
  for (int k = 0; k < 60; ++k) {
    const double deep = std::clamp(level - (z.value() - 0.2), 0.0, 0.4);
    under = kind == ShapeKind::box ? 0.16 * deep : pi * deep * deep * (0.6 - deep) / 3;
    level = (fluid + under) / ((side + 2 * nearer) * (side + 2 * nearer)) - nearer;
  }
  return under / (body.mass / 1000);
}

// Wherever it came from.
TEST(Fluid, LiftsByWhatIsDisplaced) {
  const double box = displaced_by(ShapeKind::box, 0.9), higher = displaced_by(ShapeKind::box, 1.05),
               ball = displaced_by(ShapeKind::sphere, 0.9);
  std::printf("  floats: %.4f %.4f %.4f of its weight is displaced\n", box, higher, ball);
  VOLVOX_EXPECT_FIGURE(box, 1, 0.02);
  VOLVOX_EXPECT_FIGURE(higher, 1, 0.02);
  VOLVOX_EXPECT_FIGURE(ball, 1, 0.02);
}

// A body of many parts that are no larger than a particle is lifted as one of the same form.
double lift_of_parts(int parts) {
  WorldOptions options;
  options.fluid = {.spacing = 0.05, .viscosity = 5};
  auto world = make_world(options);
  add_tank(*world, {0, 0, 0}, {0.6, 0.6, 2});
  const double size = 0.2 / parts;
  std::vector<ShapeIndex> body;
  for (int i = 0; i < parts * parts * parts; ++i) {
    ShapeDesc box{.kind = ShapeKind::box, .half_size = Vec3{1, 1, 1} * (size / 2)};
    box.pose.position =
        Vec3{0.2, 0.2, 0.2} + Vec3{i % parts + 0.5, i / parts % parts + 0.5, i / parts / parts + 0.5} * size;
    body.push_back(*world->add_shape(box));
  }
  std::vector<Vec3> places;
  for (int i = 0; i < 12 * 12 * 12; ++i) {
    const Vec3 p = Vec3{i % 12 + 0.5, i / 12 % 12 + 0.5, i / 144 + 0.5} * 0.05;
    if (std::max({std::fabs(p.x - 0.3), std::fabs(p.y - 0.3), std::fabs(p.z - 0.3)}) > 0.1) places.push_back(p);
  }
  EXPECT_TRUE(world->add_fluid(places).ok());
  run(*world, shortened(1.0));
  double lift = 0;
  for (int k = 0; k < shortened(30); ++k) {
    run(*world, tick);
    for (const ShapeIndex part : body) lift += world->impulse(part).force.z / tick / 30;
  }
  return lift / (9810 * 0.008);
}
TEST(Fluid, LiftsABodyOfSmallPartsAsOne) {
  const double one = lift_of_parts(1), many = lift_of_parts(6);
  std::printf("  lift over weight: one part %.3f, 216 parts %.3f\n", one, many);
  VOLVOX_EXPECT_FIGURE(many / one, 1, 0.05);
}

// Martin and Moyce, Phil. Trans. R. Soc. A 244 (1952), table 2: a column of the width a and twice that height; where
// the front is, over a, at the time over sqrt(a / 2 g).
TEST(Fluid, BreaksADamAsMeasured) {
  WorldOptions options;
  options.fluid.spacing = 0.05;
  auto world = make_world(options);
  add_tank(*world, {0, 0, 0}, {6, 0.4, 3});
  const double a = 0.6;
  ASSERT_TRUE(world->add_fluid_box({0, 0, 0}, {a, 0.4, 2 * a}).ok());
  const double times[] = {0.84, 1.43, 1.83, 2.20, 2.51, 2.98}, fronts[] = {1.22, 1.67, 2.11, 2.56, 3.00, 3.67};
  // Where less than two rows of particles are ahead.
  const auto front = [&] {
    std::vector<float> x;
    for (const Point& p : world->fluid_positions()) x.push_back(p.x);
    std::nth_element(x.begin(), x.begin() + 16, x.end(), std::greater<>());
    return x[16] / a;
  };
  double energy = world->energy(), before = front();
  for (int k = 1, next = 0; next < 6; ++k) {
    run(*world, tick);
    const double now = front(), time = k * tick * std::sqrt(2 * 9.81 / a), step = tick * std::sqrt(2 * 9.81 / a);
    for (; next < 6 && time >= times[next]; ++next) {
      // Between two ticks: a tick later the front is up to 8 % farther.
      const double there = now + (before - now) * (time - times[next]) / step;
      std::printf("  dam: at %.2f the front is at %.3f, measured %.2f\n", times[next], there, fronts[next]);
      EXPECT_NEAR(there / fronts[next], 1, 0.05) << times[next];
    }
    before = now;
    EXPECT_LE(world->energy(), energy * 1.0001);
    energy = world->energy();
    EXPECT_LT(world->density_error(), 0.03);
  }
}

// Out of a hole in the floor, the speed is that of free fall from the level: v = sqrt(2 g h).
TEST(Fluid, FlowsOutAsTorricelliSays) {
  WorldOptions options;
  options.fluid.spacing = 0.05;
  options.low = {-2, -2, -2};
  auto world = make_world(options);
  // A floor of four boxes around a hole of 0.3 m, in a tank without a floor.
  add_tank(*world, {0, 0, -10}, {1, 1, 10});
  for (int k = 0; k < 4; ++k) {
    ShapeDesc box{.kind = ShapeKind::box, .half_size = k < 2 ? Vec3{0.175, 0.5, 0.2} : Vec3{0.15, 0.175, 0.2}};
    box.pose.position = {k == 0 ? 0.175 : k == 1 ? 0.825 : 0.5, k == 2 ? 0.175 : k == 3 ? 0.825 : 0.5, -0.2};
    ASSERT_TRUE(world->add_shape(box).ok());
  }
  ASSERT_TRUE(world->add_fluid_box({0, 0, 0}, {1, 1, 1}).ok());
  run(*world, 0.4);
  Mean ratio;
  for (int k = 0; k < 20; ++k) {
    run(*world, tick);
    double above = 0;
    Mean speed;
    for (std::size_t i = 0; i < world->fluid_positions().size(); ++i) {
      const Point p = world->fluid_positions()[i], v = world->fluid_velocities()[i];
      if (p.z > 0) above += 0.05 * 0.05 * 0.05;
      else if (p.z < -0.3 && p.z > -0.4) speed.add(std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z));
    }
    if (speed.count > 0) ratio.add(speed.value() / std::sqrt(2 * 9.81 * (above + 0.35)));
  }
  EXPECT_NEAR(ratio.value(), 1, 0.1);
}

// A cube without gravity becomes a ball, in which the pressure is 2 tension / radius.
TEST(Fluid, SurfaceTensionRoundsADrop) {
  WorldOptions options;
  options.gravity = {};
  options.fluid = {.spacing = 0.01, .viscosity = 1, .surface_tension = 1};
  auto world = make_world(options);
  ASSERT_TRUE(world->add_fluid_box({0, 0, 0}, {0.12, 0.12, 0.12}).ok());
  const auto farthest = [&] {
    double most = 0;
    for (const Point& p : world->fluid_positions())
      most = std::max(most, length(Vec3{p.x - 0.06, p.y - 0.06, p.z - 0.06}));
    return most;
  };
  const double corner = farthest(), radius = 0.12 * 0.62;
  run(*world, 1);
  EXPECT_LT(farthest(), 0.5 * (corner + radius));
  EXPECT_LT(length(world->momentum()), 1e-4);
}

}  // namespace
}  // namespace volvox::particles
