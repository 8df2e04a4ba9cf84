// A lone robot that is moved by LoneTick has the bits of the engine.
#include "volvox/physics/native/lone.h"

#include "lone_robots.h"

namespace volvox::physics::native {
namespace {

// Steps a robot by the engine alone, and by lone ticks; where these refuse, the engine helps out.
struct Twins {
  explicit Twins(const LoneRobot& made) : robot(made), alone(robot.engine()), helped(robot.engine()) {
    auto world = LoneWorld::of(*helped);
    EXPECT_TRUE(world.ok());
    lone = std::make_unique<LoneWorld>(*world);
    auto described = lone->kind();
    EXPECT_TRUE(described.ok()) << (described.ok() ? "" : described.error().text());
    if (!described.ok()) return;
    kind = std::move(*described);
    words.resize(static_cast<std::size_t>(kind.layout().all_words()));
    EXPECT_TRUE(lone->read(kind.layout(), words).ok());
  }

  void step(double tick, bool publish) {
    const Time begin = Time::seconds(time), end = Time::seconds(time + tick);
    const std::vector<MotorCommand> commands = robot.commands(time);
    std::ranges::copy(commands, alone->motors().begin());
    EXPECT_TRUE(alone->advance(begin, end).ok());
    last = tick_lone(kind.pattern(), *room, words, commands, (end - begin).seconds(), publish);
    ++ticks;
    time += tick;
    if (last == LoneEnd::moved) {
      if (publish) lone->write(kind, words, true);
      return;
    }
    help(begin, end, commands);
  }
  // A tick that is refused.
  void refuse(double tick) {
    const Time begin = Time::seconds(time), end = Time::seconds(time + tick);
    const std::vector<MotorCommand> commands = robot.commands(time);
    std::ranges::copy(commands, alone->motors().begin());
    EXPECT_TRUE(alone->advance(begin, end).ok());
    time += tick;
    help(begin, end, commands);
  }
  void help(Time begin, Time end, const std::vector<MotorCommand>& commands) {
    ++refused;
    lone->write(kind, words, false);
    std::ranges::copy(commands, helped->motors().begin());
    EXPECT_TRUE(helped->advance(begin, end).ok());
    EXPECT_TRUE(lone->read(kind.layout(), words).ok());
  }

  LoneRobot robot;
  std::unique_ptr<Engine> alone, helped;
  std::unique_ptr<LoneWorld> lone;
  LoneKind kind;
  std::unique_ptr<LargestLoneRoom> room = std::make_unique<LargestLoneRoom>();
  std::vector<double> words;
  double time = 0;
  int ticks = 0, refused = 0;
  LoneEnd last = LoneEnd::moved;
};

TEST(Lone, has_the_bits_of_the_engine) {
  for (const Robot robot : all_robots) {
    int ticks = 0, refused = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Twins twins(lone_robot(robot, seed));
      // Some have long ticks, in which contacts are looked for more than once.
      const double tick = seed % 5 == 4 ? 0.1 : 1.0 / 60;
      for (int i = 1; i <= 150; ++i) {
        const bool publish = i % 10 == 0 || i < 5;
        twins.step(tick, publish);
        if (!publish && twins.last == LoneEnd::moved) continue;
        ASSERT_EQ(hash_of(*twins.alone), hash_of(*twins.helped)) << name(robot) << " " << seed << " tick " << i;
      }
      ticks += twins.ticks, refused += twins.refused;
    }
    RecordProperty(name(robot), std::to_string(refused) + " of " + std::to_string(ticks) + " ticks were refused");
    EXPECT_LT(10 * refused, ticks) << name(robot);
  }
}

// A robot that will sleep, unless it stands on a slope or without friction.
LoneRobot holding_still(std::uint64_t seed) {
  LoneRobot robot = lone_robot(Robot::superbot, seed);
  for (MotorWave& motor : robot.motors) motor.stop = 0, motor.command.control = Control::position;
  return robot;
}

TEST(Lone, sleeps_and_wakes_as_in_the_engine) {
  int sleepers = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Twins twins(holding_still(3 * seed));
    const auto asleep = [&] { return twins.words[0] == 0; };
    int slept = 0;
    for (int i = 1; i <= 400 && slept < 20; ++i) {
      twins.step(1.0 / 60, i % 10 == 0);
      slept += asleep();
    }
    twins.step(1.0 / 60, true);
    sleepers += asleep();  // not on slopes, nor without friction
    ASSERT_EQ(hash_of(*twins.alone), hash_of(*twins.helped)) << seed;
    twins.robot.motors[1].command.target += 0.3;
    for (int i = 0; i < 20; ++i) twins.step(1.0 / 60, true);
    ASSERT_EQ(hash_of(*twins.alone), hash_of(*twins.helped)) << seed;
    EXPECT_FALSE(asleep());
  }
  EXPECT_GE(sleepers, 5);
}

TEST(Lone, wakes_as_in_the_engine_where_that_tick_is_refused) {
  int sleepers = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Twins twins(holding_still(3 * seed));
    const auto asleep = [&] { return twins.words[0] == 0; };
    for (int i = 1; i <= 400 && !asleep(); ++i) twins.step(1.0 / 60, false);
    for (int i = 0; i < 5; ++i) twins.step(1.0 / 60, false);
    sleepers += asleep();
    // One motor of three: the links that are not its own are woken by their neighbours, with contacts that they had.
    twins.robot.motors[0].command.target += 0.3;
    twins.refuse(1.0 / 60);
    ASSERT_EQ(hash_of(*twins.alone), hash_of(*twins.helped)) << seed;
  }
  EXPECT_GE(sleepers, 5);
}

TEST(Lone, robots_that_are_equal_are_of_one_kind) {
  std::vector<std::unique_ptr<Engine>> engines;
  const auto kind = [&](const LoneRobot& robot) {
    engines.push_back(robot.engine());
    return std::move(*LoneWorld::of(*engines.back())->kind());
  };
  for (const Robot robot : all_robots) {
    const LoneRobot one = lone_robot(robot, 2);  // with a wall
    const LoneKind first = kind(one);
    for (int i = 0; i < 40; ++i) EXPECT_TRUE(kind(one).same_as(first)) << name(robot);
    LoneRobot smooth = one, heavy = one;
    model::Material material;
    material.friction = 0.123;
    smooth.scene.bodies[0].geometry = scenes::geometry_of(model::Plane{}, material);
    heavy.scene.bodies.back().mass *= 1.0000001;
    EXPECT_FALSE(kind(smooth).same_as(first)) << name(robot);
    EXPECT_FALSE(kind(heavy).same_as(first)) << name(robot);
  }
}

TEST(Lone, says_what_it_cannot_move) {
  const auto refusal = [](const LoneRobot& robot) -> std::string {
    const auto engine = robot.engine();
    auto world = LoneWorld::of(*engine);
    const auto kind = world->kind();
    return kind.ok() ? "" : kind.error().text();
  };
  LoneRobot robot = lone_robot(Robot::superbot, 1);
  EXPECT_EQ(refusal(robot), "");
  LoneRobot loud = robot;
  for (BodyDesc& body : loud.scene.bodies) body.quiet = false;
  EXPECT_NE(refusal(loud).find("may touch each other"), std::string::npos) << refusal(loud);
  LoneRobot two = robot;
  (void)scenes::add_superbot(two.scene, scenes::RobotParts(0.8), {{3, 0, 1}, {}}, 1);
  EXPECT_NE(refusal(two).find("several robots"), std::string::npos) << refusal(two);
  LoneRobot step = robot;
  scenes::add_fixed(step.scene, model::Box{{0.1, 0.1, 0.1}}, {{2, 0, 0}, {}});
  EXPECT_NE(refusal(step).find("more than planes"), std::string::npos) << refusal(step);
}

}  // namespace
}  // namespace volvox::physics::native
