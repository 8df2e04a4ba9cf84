// The tyre, against closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "fixture.h"

namespace volvox::mind {
namespace {

constexpr double g = 9.81, mass = 5;

// One body on one tyre; it is too sluggish to tip. Forces act on board, at every substep.
model::ModuleModel unicycle() {
  model::ModuleModel module = actor();
  module.links[0].mass = mass;
  module.links[0].moments = {1e4, 1e4, 1e4};
  module.docks.clear();
  module.actuators.push_back({"tyre",
                              "tyre",
                              0,
                              {},
                              {{"radius", "0.1"},
                               {"stiffness", "5000"},
                               {"damping", "300"},
                               {"cornering", "40"},
                               {"friction", "0.8"},
                               {"rolling", "0.02"}},
                              0});
  return module;
}

enum class Driver { on_board, in_step, nobody };

struct Ride {
  explicit Ride(const Vec3& velocity, double drive = 0, Driver driver = Driver::on_board) {
    theatre.prepare = [drive, driver](Scripted& s) {
      if (driver == Driver::on_board) s.controls = {{}, {"tyre"}};
      if (driver == Driver::on_board) s.on_control = [drive](Agent& a, double) { a.act("tyre", drive); };
      if (driver == Driver::in_step) s.on_step = [drive](Agent& a) { a.act("tyre", drive); };
    };
    model::WorldBuilder builder("ride");
    model::PlacementOptions options;
    options.velocity.linear = velocity;
    builder.add(world::share(unicycle()), Pose{{0, 0, 0.1 - mass * g / 5000}, {}}, "m", options);
    if (const auto opened = theatre.open(builder); !opened.ok()) throw std::runtime_error(opened.error().text());
  }
  Vec3 speed() { return theatre.world->link_velocity(0).linear; }
  Theatre theatre;
};

// Whoever commands it: on board, once a tick (of 1/60 s: held for a whole tick, the spring would be unstable), or
// nobody.
TEST(Tyre, StandsWhereItsSpringBearsTheWeight) {
  for (const Driver driver : {Driver::on_board, Driver::in_step, Driver::nobody}) {
    Ride ride({0, 0, -0.5}, 0, driver);
    ride.theatre.ticks(120);
    EXPECT_NEAR(ride.theatre.world->link_pose(0).position.z, 0.1 - mass * g / 5000, 1e-6) << static_cast<int>(driver);
  }
}

// The motor stops, the spring and the rolling stay: v = v0 - rolling g t.
TEST(Tyre, BearsAndRollsWhenTheModuleIsOff) {
  for (const Driver driver : {Driver::on_board, Driver::in_step}) {
    Ride ride({1, 0, 0}, 10, driver);
    ride.theatre.ticks(60);
    const double before = ride.speed().x;
    EXPECT_NEAR(before, 1 + 10 / mass - 0.02 * g, 0.002);
    ride.theatre.minds->switch_off(0);
    ride.theatre.ticks(60);
    EXPECT_NEAR(ride.speed().x, before - 0.02 * g, 0.002);
    EXPECT_NEAR(ride.theatre.world->link_pose(0).position.z, 0.1 - mass * g / 5000, 1e-6);
  }
}

TEST(Tyre, RollsOutByItsResistance) {
  Ride ride({2, 0, 0});
  ride.theatre.ticks(120);
  EXPECT_NEAR(ride.speed().x, 2 - 0.02 * g * 2, 0.002);
}

TEST(Tyre, DrivesAndSlidesAtItsFriction) {
  Ride held({1, 0, 0}, 10), slides({1, 0, 0}, 1000);
  held.theatre.ticks(60);
  slides.theatre.ticks(60);
  EXPECT_NEAR(held.speed().x, 1 + 10 / mass - 0.02 * g, 0.002);
  EXPECT_NEAR(slides.speed().x, 1 + 0.8 * g, 0.01);
}

// Small slip: m dv/dt = -cornering v / u.
TEST(Tyre, LosesItsSlipExponentially) {
  Ride ride({4, 0.1, 0});
  ride.theatre.ticks(30);
  const double u = 4 - 0.02 * g * 0.25;  // on average
  EXPECT_NEAR(ride.speed().y, 0.1 * std::exp(-40 * 0.5 / (mass * u)), 0.001);
  EXPECT_GT(0.1 - ride.speed().y, 0.05) << "or this shows nothing";
}

}  // namespace
}  // namespace volvox::mind
