// Worlds that a device moves have the bits of their engines. The device is a GPU, where there is one, and everywhere
// the same kernels on the processor behind the same interface.
#include "volvox/physics/robot_batch.h"

#include <cstdlib>

#include "volvox/physics/native/test/lone_robots.h"
#include "volvox/physics/test/processor_device.h"

namespace volvox::physics {
namespace {

using cuda::Device;
using cuda::DeviceAnswer;
using cuda::DeviceApi;
using cuda::DeviceEnd;
using cuda::DeviceRobots;
using cuda::DeviceTick;
using cuda::processor_api;
using native::LoneEnd;

// Robots with their engines, once for a device and once alone.
struct Worlds {
  explicit Worlds(std::shared_ptr<const Device> on) : device(std::move(on)) {}

  void add(const native::LoneRobot& robot) {
    for (auto* engines : {&alone, &together}) engines->push_back(robot.engine());
    motors.push_back(robot.motors);
  }
  RobotBatch batch(std::vector<std::unique_ptr<Engine>>& engines, std::shared_ptr<const Device> where) {
    std::vector<RobotBatch::Member> members;
    for (std::size_t i = 0; i < engines.size(); ++i) members.push_back({engines[i].get(), motors[i]});
    return {std::move(members), std::move(where), nullptr};
  }
  // The share of ticks that the device did.
  double compare(const std::vector<std::int64_t>& calls) {
    RobotBatch here = batch(alone, nullptr), there = batch(together, device);
    std::int64_t now = 0, on_device = 0;
    for (const std::int64_t count : calls) {
      const auto ours = here.advance(tick, now, count), theirs = there.advance(tick, now, count);
      now += count, on_device += there.ticks_on_device();
      for (std::size_t i = 0; i < alone.size(); ++i) {
        EXPECT_TRUE(ours[i].ok() && theirs[i].ok());
        EXPECT_EQ(native::hash_of(*alone[i]), native::hash_of(*together[i])) << "robot " << i << " after tick " << now;
      }
    }
    left = there.left_to_engines();
    return static_cast<double>(on_device) / static_cast<double>(now * static_cast<std::int64_t>(alone.size()));
  }

  std::shared_ptr<const Device> device;
  std::vector<std::unique_ptr<Engine>> alone, together;
  std::vector<std::vector<MotorWave>> motors;
  std::map<std::string, std::int64_t> left;
  TickLength tick = *TickLength::parse("1/60");
};

void compare_robots(const std::shared_ptr<const Device>& device) {
  for (const native::Robot robot : native::all_robots) {
    Worlds worlds(device);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) worlds.add(native::lone_robot(robot, seed));
    // Swarms of one kind, whose motors differ.
    for (std::uint64_t seed = 21; seed <= 60; ++seed) {
      native::LoneRobot one = native::lone_robot(robot, 21);
      for (std::size_t i = 0; i < one.motors.size(); ++i) one.motors[i].phase += 0.1 * static_cast<double>(seed);
      worlds.add(one);
    }
    EXPECT_GT(worlds.compare({1, 2, 60, 7, 50}), 0.5) << native::name(robot);
  }
}

TEST(RobotBatch, has_the_bits_of_the_engines_on_kernels_of_a_device) {
  static const DeviceApi api = processor_api();
  compare_robots(Device::of(api));
}

TEST(RobotBatch, goes_on_by_its_engines_where_a_device_fails) {
  static DeviceApi api = processor_api();
  api.step = [](DeviceRobots*, const DeviceTick*, std::size_t, double*, char* message) {
    std::snprintf(message, 256, "out of memory");
    return DeviceAnswer::failed;
  };
  Worlds worlds(Device::of(api));
  for (std::uint64_t seed = 1; seed <= 4; ++seed) worlds.add(native::lone_robot(native::Robot::superbot, seed));
  EXPECT_EQ(worlds.compare({5, 5}), 0);
  ASSERT_EQ(worlds.left.size(), 1u);
  EXPECT_NE(worlds.left.begin()->first.find("out of memory"), std::string::npos);
}

TEST(RobotBatch, sends_equal_robots_together) {
  static std::vector<std::size_t> groups;
  static DeviceApi api = processor_api();
  api.create = [](const native::LonePattern* pattern, std::size_t count, char* message) {
    static const DeviceApi plain = processor_api();
    groups.push_back(count);
    return plain.create(pattern, count, message);
  };
  Worlds worlds(Device::of(api));
  for (int i = 0; i < 40; ++i) worlds.add(native::lone_robot(native::Robot::wheeled, 2));
  (void)worlds.compare({2});
  EXPECT_EQ(groups, std::vector<std::size_t>{40});
}

TEST(RobotBatch, asks_nothing_more_of_a_device_that_cannot_load) {
  static int steps = 0, saves = 0;
  static DeviceApi api = processor_api();
  api.load = [](DeviceRobots*, std::size_t, std::size_t, const double*, const MotorWave*, char* message) {
    std::snprintf(message, 256, "out of memory");
    return DeviceAnswer::failed;
  };
  api.step = [](DeviceRobots*, const DeviceTick*, std::size_t, double*, char*) {
    ++steps;
    return DeviceAnswer::done;
  };
  api.save = [](DeviceRobots*, std::size_t, std::size_t, double*, DeviceEnd*, char*) {
    ++saves;
    return DeviceAnswer::done;
  };
  Worlds worlds(Device::of(api));
  worlds.add(native::lone_robot(native::Robot::superbot, 1));
  EXPECT_EQ(worlds.compare({5}), 0);
  EXPECT_EQ(steps, 0);
  EXPECT_EQ(saves, 0);
}

TEST(RobotBatch, leaves_to_its_engine_only_the_robot_that_is_pushed) {
  static const DeviceApi api = processor_api();
  Worlds worlds(Device::of(api));
  for (int i = 0; i < 2; ++i) worlds.add(native::lone_robot(native::Robot::superbot, 1));
  for (auto* engines : {&worlds.alone, &worlds.together}) (*engines)[1]->forces().back().force = {3, 0, 0};
  EXPECT_EQ(worlds.compare({20}), 0.5);
  EXPECT_NE(native::hash_of(*worlds.together[0]), native::hash_of(*worlds.together[1]));
  ASSERT_EQ(worlds.left.size(), 1u);
  EXPECT_NE(worlds.left.begin()->first.find("forces from outside"), std::string::npos);
  EXPECT_EQ(worlds.left.begin()->second, 1);
  EXPECT_EQ(worlds.compare({20}), 1);  // the push is over
}

// A device that refuses to wake a robot.
TEST(RobotBatch, wakes_a_robot_by_its_engine_where_a_device_refuses) {
  static int woken = 0;
  static DeviceApi api = processor_api();
  api.step = [](DeviceRobots* r, const DeviceTick* ticks, std::size_t count, double* seconds, char* message) {
    static const DeviceApi plain = processor_api();
    for (std::size_t k = 0; k < count && r->ends[0].end == LoneEnd::moved; ++k) {
      const std::vector<double> before = r->words;
      const std::vector<DeviceEnd> ends = r->ends;
      plain.step(r, ticks + k, 1, seconds, message);
      const bool wakes = before[0] == 0 && r->words[0] != 0;
      if (!wakes) continue;
      r->words = before, r->ends = ends, r->ends[0].end = LoneEnd::too_fast;
      ++woken;
    }
    return DeviceAnswer::done;
  };
  for (std::uint64_t seed = 3; seed <= 30; seed += 3) {
    native::LoneRobot robot = native::lone_robot(native::Robot::superbot, seed);
    for (MotorWave& motor : robot.motors) {
      motor.command.control = Control::position, motor.command.target = 1;
      motor.amplitude = 0, motor.stop = 1e300;
    }
    // A target that is 1 until this sine, of less than a bit of it, makes it the next larger number, after 6 s. Links
    // of other joints are woken by their neighbours, with the contacts that they had.
    MotorWave& motor = robot.motors[0];
    motor.amplitude = 2e-16, motor.frequency = 0.59 / (2 * pi * 6), motor.phase = 0;
    Worlds worlds(Device::of(api));
    worlds.add(robot);
    (void)worlds.compare({480});
  }
  EXPECT_GE(woken, 5);
}

TEST(RobotBatch, says_what_is_left_to_the_engines) {
  static const DeviceApi api = processor_api();
  Worlds worlds(Device::of(api));
  native::LoneRobot loud = native::lone_robot(native::Robot::superbot, 1);
  worlds.add(loud);
  for (BodyDesc& body : loud.scene.bodies) body.quiet = false;
  worlds.add(loud);
  EXPECT_EQ(worlds.compare({20}), 0.5);
  ASSERT_EQ(worlds.left.size(), 1u);
  EXPECT_NE(worlds.left.begin()->first.find("may touch each other"), std::string::npos);
}

TEST(Device, is_not_found_where_there_is_no_library) {
  const char* before = std::getenv("VOLVOX_ROBOTS_CUDA_LIBRARY");
  const std::string library = before == nullptr ? "" : before;
  setenv("VOLVOX_ROBOTS_CUDA_LIBRARY", "/nowhere/libvolvox_robots_cuda.so", 1);
  const auto device = Device::find();
  setenv("VOLVOX_ROBOTS_CUDA_LIBRARY", library.c_str(), 1);
  ASSERT_FALSE(device.ok());
  EXPECT_NE(device.error().text().find("/nowhere"), std::string::npos) << device.error().text();
}

TEST(OnAGpu, robots_have_the_bits_of_their_engines) {
  const auto device = Device::find();
  if (!device.ok()) GTEST_SKIP() << "not tested, because there is no GPU here: " << device.error().text();
  compare_robots(*device);
}

}  // namespace
}  // namespace volvox::physics
