// On-board controllers, which run at every substep, and their actuators.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fixture.h"
#include "volvox/base/index.h"
#include "volvox/mind/typed_sensor.h"

namespace volvox::mind {
namespace {

model::ModuleModel rotorcraft() {
  model::ModuleModel model = actor();
  model.sensors.push_back({"gyro", "gyroscope", 0, {}, {}, 0});
  model.sensors.push_back({"imu", "accelerometer", 0, {}, {}, 0});
  model.sensors.push_back({"range", "range", 0, {}, {}, 0});
  model.actuators.push_back(
      {"rotor", "rotor", 0, {}, {{"thrust", "1e-4"}, {"torque", "1e-6"}, {"max_speed", "500"}}, 0});
  model.actuators.push_back({"lamp", "lamp", 0, {}, {}, 0});
  return model;
}

TEST(OnBoard, RunsAtEverySubstepAndKeepsTime) {
  Theatre theatre;
  std::vector<double> times;
  theatre.prepare = [&](Scripted& s) {
    s.controls = {{"gyro"}, {"rotor"}};
    s.on_control = [&](Agent& a, double step) {
      times.push_back(a.time());
      EXPECT_NEAR(step, 1.0 / 240, 1e-8);
    };
  };
  model::WorldBuilder builder("air");
  builder.add(world::share(rotorcraft()), Pose{{0, 0, 10}, {}}, "m");
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(3);
  ASSERT_EQ(times.size(), 12u);
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_NEAR(times[i], real(i) / 240, 1e-8);
}

// A force that a controller switches on and off within a tick acts exactly for that time.
TEST(OnBoard, ActsForTheLengthOfASubstep) {
  Theatre theatre;
  theatre.prepare = [](Scripted& s) {
    s.controls = {{}, {"rotor"}};
    s.on_control = [n = 0](Agent& a, double) mutable { a.act("rotor", n++ % 4 == 0 ? 400.0 : 0.0); };
  };
  model::WorldBuilder builder("air");
  builder.set_gravity({});
  builder.add(world::share(rotorcraft()), Pose{}, "m");
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(60);
  const Twist v = theatre.world->link_velocity(0);
  EXPECT_NEAR(v.linear.z, 16.0 / 4, 1e-6);          // 16 N on 1 kg for a quarter of a second
  EXPECT_NEAR(v.angular.z, -0.16 / 4 * 600, 1e-3);  // turning to the left, it pushes to the right
}

// Rotors, whether commanded on board or once a tick, push no more when the power of their module fails.
TEST(OnBoard, StopsWithThePowerOfItsModule) {
  for (const bool on_board : {false, true}) {
    Theatre theatre;
    int calls = 0;
    theatre.prepare = [&](Scripted& s) {
      if (on_board) s.controls = {{}, {"rotor"}};
      s.on_control = [&](Agent& a, double) { ++calls, a.act("rotor", 400.0); };
      s.on_step = [&](Agent& a) { a.act("rotor", 400.0); };
    };
    model::WorldBuilder builder("air");
    builder.set_gravity({});
    builder.add(world::share(rotorcraft()), Pose{}, "m");
    ASSERT_TRUE(theatre.open(builder).ok());
    theatre.ticks(10);
    const double speed = theatre.world->link_velocity(0).linear.z;
    const int before = calls;
    EXPECT_GT(speed, 1);
    theatre.minds->switch_off(0);
    theatre.ticks(10);
    EXPECT_NEAR(theatre.world->link_velocity(0).linear.z, speed, 1e-9);
    EXPECT_EQ(calls, before);
  }
}

// Forces of the act phase last for the whole tick also if a controller runs.
TEST(OnBoard, LeavesTheForcesOfTheTickAlone) {
  for (const bool with_controller : {false, true}) {
    Theatre theatre;
    theatre.prepare = [&](Scripted& s) {
      if (with_controller) s.controls = {{}, {"rotor"}};
      s.on_step = [](Agent& a) { a.act("jet", Vec3{1, 0, 0}); };
    };
    model::ModuleModel model = rotorcraft();
    model.actuators.push_back({"jet", "thruster", 0, {}, {}, 0});
    model::WorldBuilder builder("air");
    builder.set_gravity({});
    builder.add(world::share(model), Pose{}, "m");
    ASSERT_TRUE(theatre.open(builder).ok());
    theatre.ticks(60);
    EXPECT_NEAR(theatre.world->link_velocity(0).linear.x, 1.0, 1e-7) << with_controller;
  }
}

TEST(OnBoard, TheAccelerometerFeelsTheSubstep) {
  Theatre theatre;
  std::vector<double> felt;
  theatre.prepare = [&](Scripted& s) {
    s.controls = {{"imu"}, {"rotor"}};
    s.on_control = [&, n = 0](Agent& a, double) mutable {
      felt.push_back(a.percept<Vec3>("imu").z);
      a.act("rotor", n++ % 2 == 0 ? 400.0 : 0.0);
    };
  };
  model::WorldBuilder builder("air");
  builder.add(world::share(rotorcraft()), Pose{{0, 0, 100}, {}}, "m");
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(10);
  for (std::size_t i = 2; i < felt.size(); ++i) EXPECT_NEAR(felt[i], i % 2 == 1 ? 16 : 0, 1e-6) << i;
}

TEST(OnBoard, RefusesWhatComesOnceATick) {
  const auto refusal = [](Behavior::OnBoard wanted) {
    Theatre theatre;
    theatre.prepare = [&](Scripted& s) { s.controls = wanted; };
    model::WorldBuilder builder("air");
    builder.add(world::share(rotorcraft()), Pose{}, "m");
    const auto opened = theatre.open(builder);
    return opened.ok() ? std::string() : opened.error().text();
  };
  EXPECT_EQ(refusal({{"gyro"}, {"rotor"}}), "");
  EXPECT_NE(refusal({{"range"}, {"rotor"}}).find("reads 'range' on board, which is read once a tick only"),
            std::string::npos);
  EXPECT_NE(refusal({{"imu"}, {"lamp"}}).find("commands 'lamp' on board"), std::string::npos);
  EXPECT_NE(refusal({{"nose"}, {"rotor"}}).find("'nose'"), std::string::npos);
  EXPECT_NE(refusal({{}, {"wing"}}).find("'wing'"), std::string::npos);
}

TEST(OnBoard, ABadCommandNamesItsModule) {
  Theatre theatre;
  theatre.prepare = [](Scripted& s) {
    s.controls = {{}, {"rotor"}};
    s.on_control = [](Agent& a, double) { a.act("rotor", std::nan("")); };
  };
  model::WorldBuilder builder("air");
  builder.add(world::share(rotorcraft()), Pose{}, "m");
  ASSERT_TRUE(theatre.open(builder).ok());
  const StepStatus failure = theatre.tick();
  EXPECT_EQ(failure.who, "module 'm'");
  EXPECT_NE(failure.what.find("not a number for the action 'rotor'"), std::string::npos) << failure.what;
}

struct BrokenSensor final : TypedSensor<double> {
  bool casts_rays() const override { return blind; }
  void rays(const SenseContext&, std::vector<Ray>&) const override { throw std::runtime_error("no light"); }
  void measure(const SenseContext& c, double&) const override {
    if (c.dt < 0.01) throw std::runtime_error("a wire is loose");  // on board, not in the sense phase
  }
  bool blind = false;
};

TEST(OnBoard, ASensorThatThrowsNamesItsModule) {
  for (const bool blind : {false, true}) {
    Theatre theatre;
    theatre.registries.sensors.add("broken", [&](const model::Sensor&, const Parameters&) {
      auto sensor = std::make_unique<BrokenSensor>();
      sensor->blind = blind;
      return sensor;
    });
    theatre.prepare = [&](Scripted& s) {
      if (!blind) s.controls = {{"bad"}, {"rotor"}};
    };
    model::ModuleModel model = rotorcraft();
    model.sensors.push_back({"bad", "broken", 0, {}, {}, 0});
    model::WorldBuilder builder("air");
    builder.add(world::share(model), Pose{}, "m");
    const Result<void> opened = theatre.open(builder);
    if (blind) {  // rays are planned before the first tick
      ASSERT_FALSE(opened.ok());
      EXPECT_NE(opened.error().text().find("module 'm': no light"), std::string::npos) << opened.error().text();
      continue;
    }
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    const StepStatus failure = theatre.tick();
    EXPECT_EQ(failure.who, "module 'm'");
    EXPECT_EQ(failure.what, "on board: a wire is loose");
  }
}

// Inflow reduces the thrust of a rising rotor; the blades resist wind from the side.
TEST(Rotor, FeelsTheAirThatItMovesThrough) {
  const auto push = [](const Vec3& velocity) {
    Theatre theatre;
    theatre.prepare = [](Scripted& s) { s.on_step = [](Agent& a) { a.act("rotor", 300.0); }; };
    model::ModuleModel model = actor();
    model.actuators.push_back({"rotor",
                               "rotor",
                               0,
                               {},
                               {{"thrust", "1e-4"}, {"torque", "0"}, {"inflow", "0.001"}, {"side_drag", "0.002"}},
                               0});
    model::WorldBuilder builder("wind");
    builder.set_gravity({});
    model::PlacementOptions options;
    options.velocity.linear = velocity;
    builder.add(world::share(model), Pose{}, "m", options);
    if (!theatre.open(builder).ok()) return Vec3{};
    theatre.ticks(1);
    return (theatre.world->link_velocity(0).linear - velocity) * 60.0;
  };
  const auto near = [](const Vec3& a, const Vec3& b) { return length(a - b) < 1e-3; };
  EXPECT_TRUE(near(push({}), {0, 0, 9}));
  EXPECT_TRUE(near(push({0, 0, 2}), {0, 0, 9 - 0.6}));
  EXPECT_TRUE(near(push({2, 0, 0}), {-1.2, 0, 9}));
  EXPECT_TRUE(near(push({0, 0, 100}), {0, 0, 0}));  // it never pulls down
}

TEST(Neighbors, AreTheNearestOtherModules) {
  Theatre theatre;
  model::ModuleModel model = actor();
  model.sensors.push_back({"neighbors",
                           "neighbors",
                           0,
                           {{0, 0, 0}, Quat::axis_angle({0, 0, 1}, pi / 2)},
                           {{"max_range", "3"}, {"count", "2"}},
                           0});
  const auto shared = world::share(model);
  model::WorldBuilder builder("swarm");
  builder.set_gravity({});
  builder.add(shared, Pose{{0.5, 0, 0}, {}}, "a");
  builder.add(shared, Pose{{2.5, 0, 0}, {}}, "b");
  builder.add(shared, Pose{{0.5, 0, -1}, {}}, "c");
  builder.add(shared, Pose{{0.5, 2.9, 0}, {}}, "d");
  builder.add(shared, Pose{{-4, 0, 0}, {}}, "e");
  ASSERT_TRUE(theatre.open(builder).ok());
  theatre.ticks(1);
  const auto near = [&](std::size_t i) { return theatre.minds->agent(i).percept<std::vector<Vec3>>("neighbors"); };
  ASSERT_EQ(near(0).size(), 2u);
  EXPECT_LT(length(near(0)[0] - Vec3{0, 0, -1}), 1e-9);
  EXPECT_LT(length(near(0)[1] - Vec3{0, -2, 0}), 1e-9);  // seen from a mount that looks to the left
  EXPECT_EQ(near(3).size(), 1u);
  EXPECT_TRUE(near(4).empty());
}

// Compared with a search over all modules.
TEST(Neighbors, MissNobody) {
  Theatre theatre;
  const auto shared = world::share(actor());
  model::WorldBuilder builder("cloud");
  builder.set_gravity({});
  RandomStream random(7, 0, "cloud");
  std::vector<Vec3> places;
  for (int i = 0; i < 300; ++i) {
    places.push_back({random.uniform(-5, 5), random.uniform(-5, 5), random.uniform(-5, 5)});
    builder.add(shared, Pose{places.back(), {}}, "m" + std::to_string(i));
  }
  ASSERT_TRUE(theatre.open(builder).ok());
  exchange::Neighborhood neighborhood;
  neighborhood.update(*theatre.world, 1.5);
  std::vector<exchange::Neighborhood::Near> near;
  for (std::uint32_t i = 0; i < 300; ++i) {
    neighborhood.near(places[i], 1.5, i, near);
    std::size_t expected = 0;
    for (std::uint32_t j = 0; j < 300; ++j) expected += j != i && length(places[j] - places[i]) <= 1.5;
    EXPECT_EQ(near.size(), expected);
    EXPECT_TRUE(
        std::is_sorted(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.distance < b.distance; }));
  }
}

}  // namespace
}  // namespace volvox::mind
