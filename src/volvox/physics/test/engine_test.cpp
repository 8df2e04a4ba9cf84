#include "volvox/physics/engine.h"

#include <gtest/gtest.h>

#include <thread>

#include "volvox/physics/dock_latch.h"
#include "volvox/physics/system.h"

namespace volvox::physics {

TEST(EngineRegistry, names_what_there_is_when_asked_for_what_there_is_not) {
  const EngineRegistry registry = built_in_engines();
  ASSERT_TRUE(registry.make("none", {}).ok());
  const auto missing = registry.make("bulet", {});
  ASSERT_FALSE(missing.ok());
  const std::string text = missing.error().text();
  EXPECT_NE(text.find("'bulet'"), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean 'bullet'"), std::string::npos) << text;
  EXPECT_NE(text.find("none"), std::string::npos) << text;
  const auto far = registry.make("xyzzy", {});
  ASSERT_FALSE(far.ok());
  for (const std::string& name : registry.names())
    EXPECT_NE(far.error().text().find(name), std::string::npos) << far.error().text();
}

TEST(EngineRegistry, plugins_add_to_it) {
  EngineRegistry registry = built_in_engines();
  registry.add("mine",
               [](const EngineSettings& settings) { return std::move(*built_in_engines().make("none", settings)); });
  EXPECT_TRUE(registry.make("mine", {}).ok());
  EXPECT_EQ(registry.names().size(), built_in_engines().names().size() + 1);
}

namespace {

// A heap of boxes that falls on the ground and tumbles; the hash of where it is after a second.
std::uint64_t hash_of_heap(const std::string& name) {
  const std::unique_ptr<Engine> engine = std::move(*built_in_engines().make(name, {}));
  const auto add = [&](const model::Shape& shape, const Vec3& at, Motion motion) {
    auto geometry = std::make_shared<model::Geometry>();
    geometry->colliders.push_back({"collider", shape, {}, {}});
    BodyDesc body;
    body.motion = motion;
    body.pose = {at, Quat::axis_angle({1, 0, 0}, motion == Motion::fixed ? 0 : 0.3)};
    body.geometry = geometry;
    EXPECT_TRUE(engine->add_body(body).ok());
  };
  add(model::Plane{}, {}, Motion::fixed);
  for (int i = 0; i < 12; ++i)
    add(model::Box{{0.1, 0.1, 0.1}}, {0.06 * (i % 2), 0.05 * (i % 3), 0.1 + 0.14 * i}, Motion::dynamic);
  for (int tick = 0; tick < 60; ++tick)
    EXPECT_TRUE(engine->advance(Time::seconds(tick / 60.0), Time::seconds((tick + 1) / 60.0)).ok());
  HashArchive hash;
  engine->archive(hash);
  return hash.value();
}

}  // namespace

// As populations of worlds do. ODE has data that all its worlds share.
TEST(Engines, in_several_threads_do_not_disturb_each_other) {
  for (const std::string& name : built_in_engines().names()) {
    const std::uint64_t alone = hash_of_heap(name);
    std::vector<std::uint64_t> hashes(4);
    std::vector<std::thread> threads;
    for (std::uint64_t& hash : hashes) threads.emplace_back([&hash, &name] { hash = hash_of_heap(name); });
    for (std::thread& thread : threads) thread.join();
    for (const std::uint64_t hash : hashes) EXPECT_EQ(hash, alone) << name;
  }
}

TEST(Substeps, are_the_fewest_that_are_short_enough) {
  EXPECT_EQ(substep_count(1.0 / 60, 1.0 / 240), 4);
  EXPECT_EQ(substep_count(0.016666667, 1.0 / 240), 4);  // a tick of 1/60 s, rounded up to nanoseconds
  EXPECT_EQ(substep_count(0.01, 1.0 / 240), 3);
  EXPECT_EQ(substep_count(0.001, 1.0 / 240), 1);
}

TEST(UnwrappedAngle, counts_turns) {
  double position = 0;
  for (int i = 1; i <= 100; ++i) position = unwrapped_angle(Quat::axis_angle({0, 0, 1}, 0.5 * i), position);
  EXPECT_NEAR(position, 50, 1e-9);
  for (int i = 99; i >= -100; --i) position = unwrapped_angle(Quat::axis_angle({0, 0, 1}, 0.5 * i), position);
  EXPECT_NEAR(position, -50, 1e-9);
}

TEST(DockLatch, closes_at_a_constant_rate_and_not_faster_than_its_speed) {
  JointDesc desc;
  desc.latch_time = 0.5;
  desc.pull_speed = 0.1;
  DockLatch latch(desc, {{0.1, 0, 0}, Quat::axis_angle({0, 0, 1}, 0.3)});
  EXPECT_NEAR(length(latch.rate(0.01).linear), 0.1, 1e-9);  // 0.1 m at 0.1 m/s: 1 s
  for (int i = 0; i < 99; ++i) latch.advance(0.01);
  EXPECT_FALSE(latch.closed());
  EXPECT_NEAR(latch.target().position.x, 0.001, 1e-9);
  latch.advance(0.01);
  EXPECT_TRUE(latch.closed());
  EXPECT_EQ(latch.rate(0.01), Twist{});
}

TEST(DockLatch, without_latch_time_is_closed_where_it_is_closed) {
  JointDesc desc;
  EXPECT_TRUE(DockLatch(desc, {}).closed());
  EXPECT_FALSE(DockLatch(desc, {{0.01, 0, 0}, {}}).closed());
}

// MuJoCo ends the process when it is at its end, unless it is told otherwise. More contacts than it can count, and a
// snapshot that asks for as much room, are errors of ours.
TEST(Mujoco, survives_more_contacts_than_it_has_room_for) {
  const EngineRegistry registry = built_in_engines();
  auto made = registry.make("mujoco", {});
  if (!made.ok()) GTEST_SKIP() << "built without MuJoCo";
  Engine& engine = **made;
  const auto geometry = std::make_shared<model::Geometry>();
  geometry->colliders.push_back({"ball", model::Sphere{0.1}, {}, {}});
  BodyDesc ball;
  ball.mass = 1, ball.moments = {0.004, 0.004, 0.004}, ball.geometry = geometry;
  for (int i = 0; i < 110; ++i) ASSERT_TRUE(engine.add_body(ball).ok());
  const StepStatus status = engine.advance({}, Time::seconds(0.004));
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.what.find("contacts of 110 bodies"), std::string::npos) << status.what;

  SaveArchive saved;
  engine.archive(saved);
  std::vector<std::byte> bytes = saved.take();
  std::fill_n(bytes.end() - 4, 3, std::byte{0xff});  // the room is the last number
  LoadArchive damaged(bytes);
  engine.archive(damaged);
  EXPECT_FALSE(damaged.ok());
}

}  // namespace volvox::physics
