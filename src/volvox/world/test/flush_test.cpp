// Friction between the flush faces of a joint, against closed forms: docs/decisions/0073.
#include <gtest/gtest.h>

#include <cmath>

#include "cubes.h"
#include "volvox/base/random.h"
#include "volvox/world/start_check.h"

namespace volvox::world {
namespace {

constexpr double mu = 0.3, radius = 0.03;

// One link on a joint to the world at the origin; its centre of mass is `centre` away. It moves along or about z.
struct Rig {
  Rig(model::JointType type, const Vec3& centre, double preload = 0, const Vec3& gravity = {0, 0, -g},
      const std::string& engine = physics::default_engine)
      : builder("rig") {
    builder.set_gravity(gravity);
    model::ModuleModel module;
    module.name = "rig";
    model::Link link;
    link.name = "rotor";
    link.mass = 1;
    link.moments = {0.01, 0.01, 0.01};
    link.inertial.position = centre;
    link.geometry = std::make_shared<model::Geometry>();
    module.links.push_back(link);
    model::Joint joint;
    joint.name = "axis";
    joint.type = type;
    joint.parent = -1;
    joint.flush = model::Flush{mu, radius, preload};
    module.joints.push_back(joint);
    module.mind = model::Mind{};
    builder.add(share(module), Pose{}, "rig");
    bench.emplace(builder, TickLength{1, 60}, engine);
  }
  // Of the axis; the centre of mass moves with it.
  void start(double speed) {
    const Vec3 centre = bench->world().link_model(0).inertial.position;
    const bool turns = bench->world().module_model(0).joints[0].type == model::JointType::revolute;
    bench->world().place_link(0, {},
                              turns ? Twist{cross({0, 0, speed}, centre), {0, 0, speed}} : Twist{{0, 0, speed}, {}});
  }
  double speed() { return bench->world().joint_state(0).velocity; }

  model::WorldBuilder builder;
  std::optional<Bench> bench;
};

// A load that changes is known a tick later, and is a mean over one.
constexpr double late = 1.5 / 60;

// Faces lie on both sides: what presses one relieves the other until it lifts off.
TEST(Flush, HingesRubByWhicheverIsMostOfPreloadAxialLoadAndMomentAcross) {
  for (const double aside : {0.0, 0.02, 0.05, 0.2})
    for (const double preload : {0.0, 5.0, 20.0}) {
      Rig rig(model::JointType::revolute, {aside, 0, 0}, preload);
      rig.start(20);
      rig.bench->tick(30);
      const double inertia = 0.01 + aside * aside, load = g;
      const double brakes = mu * std::max({radius * preload, radius * load, load * aside}) / inertia;
      const double early = brakes - mu * radius * preload / inertia;
      EXPECT_NEAR(rig.speed(), 20 - 0.5 * brakes, early * late + 0.01) << aside << ", preload " << preload;
    }
}

// v = v0 - mu max(g, preload / m) t, wherever along the rail the block is.
TEST(Flush, SlidersRubAsBlocksDo) {
  for (const double preload : {0.0, 5.0, 12.0}) {
    Rig rig(model::JointType::prismatic, {}, preload, {0, -g, 0});
    rig.start(4);
    rig.bench->tick(60);
    EXPECT_NEAR(rig.speed(), 4 - mu * std::max(g, preload), mu * g * late);
  }
}

TEST(Flush, WhatIsPressedTogetherHoldsBelowItsFriction) {
  // A hinge on its side: the moment of its weight, m g d, against mu times the load's.
  for (const double arm : {0.004, 0.02}) {
    Rig rig(model::JointType::revolute, {arm, 0, 0}, 20, {0, -g, 0});
    const double holds = mu * radius * 20;  // 0.18 N m; the load lies across the axis, where these faces do not rub
    rig.bench->tick(60);
    const double turned = rig.bench->world().joint_state(0).position;
    if (g * arm < holds) EXPECT_LT(std::fabs(turned), 2e-4) << "it creeps at most at 0.1 mrad/s";
    else EXPECT_GT(std::fabs(turned), 0.1);
  }
}

// Arms that swing in every way, 40 seeds: what flush faces do never adds energy, although their load is that of the
// tick before.
TEST(Flush, EnergyNeverRises) {
  for (std::uint64_t seed = 4001; seed <= 4040; ++seed) {
    RandomStream random(seed, 0, "flush");
    model::ModuleModel arm;
    arm.name = "arm";
    for (int i = 0; i < 3; ++i) {
      model::Link link;
      link.name = "l" + std::to_string(i);
      link.mass = random.uniform(0.1, 1);
      link.moments = {1e-3, 1e-3, 1e-3};
      link.pose.position = {0.1 * i, 0, 0};
      link.inertial.position = {0.05, 0, 0};
      link.geometry = std::make_shared<model::Geometry>();
      arm.links.push_back(link);
      model::Joint joint;
      joint.name = "j" + std::to_string(i);
      joint.parent = i - 1;
      joint.child = i;
      const Quat turn = Quat::rpy(random.uniform(-3, 3), random.uniform(-3, 3), 0);
      joint.parent_frame = {{i == 0 ? 0 : 0.1, 0, 0}, turn};
      joint.child_frame = {{}, turn};
      joint.flush = model::Flush{random.uniform(0.05, 1), random.uniform(0.01, 0.05), random.uniform(0, 5)};
      arm.joints.push_back(joint);
    }
    arm.mind = model::Mind{};
    model::WorldBuilder builder("arm");
    builder.add(share(arm), Pose{}, "arm");
    Bench bench(builder);
    World& world = bench.world();
    const auto energy = [&] {
      double sum = kinetic_energy(world);
      for (LinkIndex l = 0; l < world.links(); ++l)
        sum += world.link_model(l).mass * g * (world.link_pose(l) * world.link_model(l).inertial.position).z;
      return sum;
    };
    double least = energy();
    const double first = least;
    for (int tick = 0; tick < 120; ++tick) {
      bench.tick();
      const double now = energy();
      EXPECT_LT(now, least + 1e-3) << "seed " << seed << " tick " << tick;  // J, of about 1 J: the integration's
      least = std::min(least, now);
    }
    EXPECT_LT(least, first) << seed;
  }
}

// Engines that keep a joint's friction rub as with no load.
TEST(Flush, OtherEnginesRubByThePreloadAlone) {
  for (const std::string& engine : physics::built_in_engines().names()) {
    if (engine == "none") continue;
    Rig rig(model::JointType::revolute, {}, 5, {0, 0, -g}, engine);
    rig.start(20);
    rig.bench->tick(30);
    const double pressed = engine == "native" ? g : 5;
    const double brakes = mu * radius * pressed / 0.01;
    EXPECT_NEAR(rig.speed(), 20 - 0.5 * brakes, 0.1 + mu * radius * (pressed - 5) / 0.01 * late) << engine;
  }
}

// A thrown block: the friction of its weight is there from the first tick on, and trying that tick changed nothing
// else.
TEST(Flush, TheFirstTickRubsToo) {
  Rig rig(model::JointType::prismatic, {}, 0, {0, -g, 0});
  rig.start(4);
  rig.bench->tick(1);
  EXPECT_NEAR(rig.speed(), 4 - mu * g / 60, 1e-6);
  EXPECT_NEAR(rig.bench->world().joint_state(0).position, (4 - 0.5 * mu * g / 60) / 60, 2e-4);
}

// What an engine leaves out of a world is said once, by the name of the joint; worlds without it hear nothing.
TEST(Flush, EnginesThatDoNotFollowTheLoadAreNamed) {
  for (const std::string& engine : physics::built_in_engines().names()) {
    Rig rig(model::JointType::prismatic, {}, 0, {0, -g, 0}, engine);
    const std::vector<std::string> lines = left_out(rig.bench->world());
    if (engine == "native" || engine == "none") {
      EXPECT_TRUE(lines.empty()) << engine;
      continue;
    }
    ASSERT_EQ(lines.size(), 1u) << engine;
    EXPECT_NE(lines[0].find("'rig.axis'"), std::string::npos) << lines[0];
    EXPECT_NE(lines[0].find(engine), std::string::npos) << lines[0];
    // Where another took over from it, only what it could is lost.
    const physics::EngineInfo same = rig.bench->world().engine_info();
    const physics::EngineInfo native = (*physics::built_in_engines().make("native", {}))->info(),
                              none = (*physics::built_in_engines().make("none", {}))->info();
    EXPECT_TRUE(left_out(rig.bench->world(), &same).empty()) << engine;
    EXPECT_EQ(left_out(rig.bench->world(), &native), lines) << engine;
    EXPECT_EQ(left_out(rig.bench->world(), &none), lines) << engine;
    model::WorldBuilder plain("plain");
    plain.add(share(cube()), Pose{}, "cube");
    Bench bench(plain, TickLength{1, 60}, engine);
    EXPECT_TRUE(left_out(bench.world()).empty()) << engine;
  }
}

// Nor do they keep the friction of the load that native's joints had when they took over.
TEST(Flush, AnEngineThatTakesOverRubsByThePreloadAlone) {
  for (const std::string& engine : physics::built_in_engines().names()) {
    if (engine == "none" || engine == "native") continue;
    Rig rig(model::JointType::revolute, {0.2, 0, 0}, 5);
    rig.start(20);
    rig.bench->tick(10);
    World& world = rig.bench->world();
    auto made = physics::built_in_engines().make(engine, {{0, 0, -g}, 1.0 / 240, nullptr, {}});
    ASSERT_TRUE(made.ok());
    const double before = rig.speed();
    ASSERT_TRUE(world.change_engine(std::move(*made)).ok());
    rig.bench->tick(30);
    Rig born(model::JointType::revolute, {0.2, 0, 0}, 5, {0, 0, -g}, engine);
    born.start(before);
    born.bench->tick(30);
    EXPECT_LT(before - rig.speed(), 1.5) << "5.9 by the load's friction, 0.45 by the preload's";
    EXPECT_NEAR(rig.speed(), born.speed(), 0.02) << engine;
  }
}

}  // namespace
}  // namespace volvox::world
