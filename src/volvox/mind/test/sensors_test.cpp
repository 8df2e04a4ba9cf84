#include <gtest/gtest.h>

#include <cmath>

#include "fixture.h"
#include "volvox/mind/dock_beacon.h"

namespace volvox::mind {
namespace {

model::ModuleModel sensing(std::initializer_list<model::Sensor> sensors) {
  model::ModuleModel model = actor();
  for (const model::Sensor& sensor : sensors) model.sensors.push_back(sensor);
  return model;
}

TEST(Sensors, AnAccelerometerAtRestFeelsTheGround) {
  Theatre theatre;
  model::WorldBuilder builder("rest");
  builder.add_ground();
  const Quat lying = Quat::axis_angle({1, 0, 0}, pi / 2);
  builder.add(world::share(sensing({{"imu", "accelerometer", 0, {{0.02, 0.01, 0.03}, {}}, {}, 0}})),
              Pose{{0, 0, 0.0495}, lying}, "m");
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(120);
  const Vec3 reading = theatre.minds->agent(0).percept<Vec3>("imu");
  EXPECT_LT(length(reading - Vec3{0, 9.81, 0}), 0.05);
}

TEST(Sensors, AnAccelerometerInFreeFallFeelsNothing) {
  Theatre theatre;
  model::WorldBuilder builder("fall");
  builder.add(world::share(sensing({{"imu", "accelerometer", 0, {}, {}, 0}})), Pose{{0, 0, 10}, {}}, "m");
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(10);
  EXPECT_LT(length(theatre.minds->agent(0).percept<Vec3>("imu")), 1e-6);
}

TEST(Sensors, ASpinIsFeltByGyroscopeAndOffCentreAccelerometer) {
  Theatre theatre;
  model::WorldBuilder builder("spin");
  builder.set_gravity({});
  model::PlacementOptions options;
  options.velocity.angular = {0, 0, 3};
  builder.add(world::share(sensing({{"gyro", "gyroscope", 0, {{}, Quat::axis_angle({0, 1, 0}, pi / 2)}, {}, 0},
                                    {"imu", "accelerometer", 0, {{0.04, 0, 0}, {}}, {}, 0}})),
              Pose{}, "m", options);
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(5);
  EXPECT_LT(length(theatre.minds->agent(0).percept<Vec3>("gyro") - Vec3{-3, 0, 0}), 1e-6);
  EXPECT_LT(length(theatre.minds->agent(0).percept<Vec3>("imu") - Vec3{-9 * 0.04, 0, 0}), 1e-3);
}

TEST(Sensors, ABeaconSeesTheFreeDockThatFacesIt) {
  Theatre theatre;
  model::WorldBuilder builder("beacon");
  builder.set_gravity({});
  builder.add(world::share(sensing({{"beacon", "dock_beacon", 0, {{0.05, 0, 0}, {}}, {}, 0}})), Pose{}, "m");
  builder.add(world::share(world::cube()), Pose{{0.25, 0.02, 0}, Quat::axis_angle({0, 0, 1}, 0.2)}, "other");
  builder.add(world::share(world::cube()), Pose{{0.45, 0, 0}, {}}, "farther");
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(1);
  const auto& beacon = theatre.minds->agent(0).percept<DockBeacon>("beacon");
  ASSERT_TRUE(beacon.seen);
  EXPECT_LT(length(beacon.facing - Vec3{-std::cos(0.2), -std::sin(0.2), 0}), 1e-6);
  EXPECT_LT(length(beacon.position - (Vec3{0.2, 0.02, 0} + 0.05 * beacon.facing)), 1e-6);
  for (world::DockIndex dock = 0; dock < theatre.world->docks(); ++dock)
    if (theatre.world->dock_name(dock).starts_with("other.")) theatre.world->enable_dock(dock, false);
  theatre.ticks(2);
  EXPECT_FALSE(theatre.minds->agent(0).percept<DockBeacon>("beacon").seen)
      << "those of the other are disabled, and the next is too far";
}

TEST(Sensors, ABeaconDoesNotSeeThroughWalls) {
  for (const bool walled : {false, true}) {
    Theatre theatre;
    model::WorldBuilder builder("beacon");
    builder.set_gravity({});
    builder.add(world::share(sensing({{"beacon", "dock_beacon", 0, {{0.05, 0, 0}, {}}, {}, 0}})), Pose{}, "m");
    builder.add(world::share(world::cube()), Pose{{0.25, 0.02, 0}, {}}, "near");
    builder.add(world::share(world::cube()), Pose{{0.2, 0.2, 0}, {}}, "aside");
    if (walled) builder.add_obstacle(model::Box{{0.01, 0.1, 0.1}}, {{0.12, 0, 0}, {}});
    ASSERT_TRUE(theatre.open(builder).ok());
    theatre.ticks(1);
    const auto& beacon = theatre.minds->agent(0).percept<DockBeacon>("beacon");
    ASSERT_TRUE(beacon.seen);
    if (walled) EXPECT_NEAR(beacon.position.y, 0.2, 1e-6) << "the next one that it can see";
    else EXPECT_NEAR(beacon.position.x, 0.15, 1e-6);
  }
}

TEST(Sensors, RaysMeasureDistancesAndNotTheirOwnModule) {
  Theatre theatre;
  model::WorldBuilder builder("range");
  builder.set_gravity({});
  builder.add(
      world::share(sensing(
          {{"range", "range", 0, {}, {{"rays", "3"}, {"field_of_view", std::to_string(pi / 2)}, {"max_range", "3"}}, 0},
           {"pose", "pose", 0, {{0, 0, 0.1}, {}}, {}, 0}})),
      Pose{}, "m");
  builder.add_obstacle(model::Box{{0.2, 10, 1}}, {{1.1, 0, 0}, {}});
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(1);
  const auto& ranges = theatre.minds->agent(0).percept<std::vector<double>>("range");
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_NEAR(ranges[0], std::sqrt(2.0), 1e-6);
  EXPECT_NEAR(ranges[1], 1.0, 1e-6);
  EXPECT_NEAR(ranges[2], std::sqrt(2.0), 1e-6);
  EXPECT_EQ(theatre.minds->agent(0).percept<Pose>("pose").position, (Vec3{0, 0, 0.1}));
}

TEST(Sensors, AnObstacleIsAStructureNotANumber) {
  Theatre theatre;
  model::WorldBuilder builder("obstacle");
  builder.set_gravity({});
  builder.add(world::share(sensing({{"eye",
                                     "obstacle",
                                     0,
                                     {},
                                     {{"rays", "91"}, {"field_of_view", std::to_string(pi / 2)}, {"max_range", "5"}},
                                     0}})),
              Pose{}, "m");
  builder.add_obstacle(model::Sphere{0.25}, {{1.0, 0.5, 0}, {}}, 2.0);
  builder.add_obstacle(model::Box{{0.2, 10, 1}}, {{4, 0, 0}, {}});
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(1);
  const Obstacle& seen = theatre.minds->agent(0).percept<Obstacle>("eye");
  EXPECT_TRUE(seen.seen);
  EXPECT_NEAR(seen.distance, std::hypot(1.0, 0.5) - 0.25, 1e-3);
  EXPECT_NEAR(seen.bearing, std::atan2(0.5, 1.0), radians(1));
  EXPECT_NEAR(seen.width, 2 * std::asin(0.25 / std::hypot(1.0, 0.5)), radians(2));
  EXPECT_TRUE(seen.moves);
  EXPECT_FALSE(seen.is_module);
}

TEST(Sensors, ContactKnowsTheWeight) {
  Theatre theatre;
  model::WorldBuilder builder("contact");
  builder.add_ground();
  builder.add(world::share(sensing({{"touch", "contact", 0, {}, {}, 0}})), Pose{{0, 0, 0.049}, {}}, "below");
  builder.add(world::share(sensing({{"touch", "contact", 0, {}, {}, 0}})), Pose{{0, 5, 3}, {}}, "above");
  ASSERT_TRUE(theatre.open(builder).ok());
  EXPECT_FALSE(theatre.minds->agent(1).percept<Contact>("touch").touching);
  theatre.ticks(40);
  EXPECT_TRUE(theatre.minds->agent(0).percept<Contact>("touch").touching);
  EXPECT_NEAR(theatre.minds->agent(0).percept<Contact>("touch").force, 9.81, 0.3);
  EXPECT_FALSE(theatre.minds->agent(1).percept<Contact>("touch").touching);
}

// Two cubes on a hinge: the motor turns it, and the joint's percepts follow.
model::ModuleModel hinge() {
  model::ModuleModel model = actor();
  model.docks.clear();
  model.links.push_back(model.links[0]);
  model.links[1].name = "arm";
  model.links[1].pose = {{0.1, 0, 0}, {}};
  model::Joint joint;
  joint.name = "bend";
  joint.parent = 0;
  joint.child = 1;
  joint.parent_frame = {{0.05, 0, 0}, {}};
  joint.child_frame = {{-0.05, 0, 0}, {}};
  joint.effort = 5;
  joint.velocity = 2;
  joint.motor = model::Motor{50, 2};
  model.joints.push_back(joint);
  return model;
}

TEST(Actuators, AMotorMovesToAnAngleNoFasterThanItsLimit) {
  Theatre theatre;
  double fastest = 0, angle = 0;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) {
      agent.move_to("bend", 1.0);
      angle = agent.angle("bend");
      fastest = std::max(fastest, agent.percept<double>("bend.velocity"));
    };
  };
  model::WorldBuilder builder("hinge");
  builder.set_gravity({});
  builder.add(world::share(hinge()), Pose{}, "m");
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(120);
  EXPECT_NEAR(angle, 1.0, 0.01);
  EXPECT_LT(fastest, 2.05);
  EXPECT_GT(fastest, 1.8);
}

TEST(Actuators, NoiseOnAnActionReachesTheMotor) {
  Theatre theatre;
  theatre.prepare = [](Scripted& b) { b.on_step = [](Agent& agent) { agent.move_to("bend", 0.5); }; };
  model::ModuleModel model = hinge();
  model.action_noise["bend"] = {{"bias", {{"value", "0.2"}}, 0}};
  model::WorldBuilder builder("hinge");
  builder.set_gravity({});
  builder.add(world::share(model), Pose{}, "m");
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(120);
  EXPECT_NEAR(theatre.minds->agent(0).angle("bend"), 0.7, 0.01);
}

TEST(Actuators, ANaNCommandIsCaughtAndNamed) {
  Theatre theatre;
  theatre.prepare = [&](Scripted& b) {
    b.on_step = [&](Agent& agent) { agent.move_to("bend", theatre.now == 2 ? std::nan("") : 0); };
  };
  model::WorldBuilder builder("hinge");
  builder.set_gravity({});
  builder.add(world::share(hinge()), Pose{}, "m7");
  ASSERT_TRUE(theatre.open(builder).ok());
  EXPECT_TRUE(theatre.tick().ok());
  EXPECT_TRUE(theatre.tick().ok());
  const StepStatus failure = theatre.tick();
  EXPECT_EQ(failure.who, "module 'm7'");
  EXPECT_NE(failure.what.find("not a number"), std::string::npos);
  EXPECT_NE(failure.what.find("'bend'"), std::string::npos);
}

TEST(Actuators, AThrusterPushes) {
  Theatre theatre;
  theatre.prepare = [](Scripted& b) { b.on_step = [](Agent& agent) { agent.act("jet", Vec3{3, 0, 0}); }; };
  model::ModuleModel model = actor();
  model.actuators.push_back({"jet", "thruster", 0, {}, {{"max_force", "2"}}, 0});
  model::WorldBuilder builder("jet");
  builder.set_gravity({});
  builder.add(world::share(model), Pose{}, "m");
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(60);
  EXPECT_NEAR(theatre.world->link_velocity(0).linear.x, 2.0, 0.01);  // 2 N on 1 kg for 1 s
}

}  // namespace
}  // namespace volvox::mind
