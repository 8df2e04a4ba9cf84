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

struct Ride {
  explicit Ride(const Vec3& velocity, double drive = 0) {
    theatre.prepare = [drive](Scripted& s) {
      s.controls = {{}, {"tyre"}};
      s.on_control = [drive](Agent& a, double) { a.act("tyre", drive); };
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

TEST(Tyre, StandsWhereItsSpringBearsTheWeight) {
  Ride ride({0, 0, -0.5});
  ride.theatre.ticks(120);
  EXPECT_NEAR(ride.theatre.world->link_pose(0).position.z, 0.1 - mass * g / 5000, 1e-6);
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
