// Trees that move side by side in lanes have the bits that they would have alone.
#include <map>
#include <string>

#include "volvox/base/random.h"
#include "volvox/base/test/shortened.h"
#include "volvox/physics/native/test/scenes.h"

namespace volvox::physics::native {
namespace {

// A walker of three boxes, with motors that swing; its frames are the same wherever it stands.
struct Walker {
  BodyId bodies[3];
  JointId joints[2];
};

Walker add_walker(Bench& bench, const Vec3& at) {
  Walker walker;
  const Vec3 size{0.1, 0.06, 0.05};
  for (int i = 0; i < 3; ++i) walker.bodies[i] = bench.add(box(0.2, size, {at + Vec3{0.1 * i, 0, 0}, {}}, {0.7, 0}));
  for (int i = 0; i < 2; ++i) {
    JointDesc desc;
    desc.type = JointType::revolute;
    desc.a = walker.bodies[i], desc.b = walker.bodies[i + 1];
    const Quat across = Quat::between({0, 0, 1}, {0, 1, 0});
    desc.frame_a = {{0.05, 0, 0}, across}, desc.frame_b = {{-0.05, 0, 0}, across};
    desc.lower = -1, desc.upper = 1;
    walker.joints[i] = bench->add_joint(desc);
  }
  return walker;
}

void swing(Bench& bench, const Walker& walker, int tick) {
  for (int i = 0; i < 2; ++i) {
    MotorCommand& motor = bench->motors()[walker.joints[i].index];
    motor.control = Control::position;
    motor.target = 0.9 * volvox::sin(0.15 * tick + 2.0 * i);
    motor.kp = 40, motor.kd = 2, motor.max_torque = 1.5;
  }
}

// Where the walker at the origin goes, among `others` far away that do the same: contacts are
// looked for again when anybody is hit hard, which all of them then are at once.
std::vector<Pose> way_of_one(int others, ThreadPool* threads = nullptr) {
  EngineSettings settings;
  settings.threads = threads;
  Bench bench(settings);
  bench.add(ground());
  const Walker first = add_walker(bench, {0, 0, 0.08});
  std::vector<Walker> rest;
  for (int i = 0; i < others; ++i) rest.push_back(add_walker(bench, {4.0 * (i + 1), 0, 0.08}));
  std::vector<Pose> way;
  for (int tick = 0; tick < 240; ++tick) {
    swing(bench, first, tick);
    for (const Walker& walker : rest) swing(bench, walker, tick);
    EXPECT_TRUE(bench.tick().ok());
    for (BodyId body : first.bodies) way.push_back(bench.pose(body));
  }
  return way;
}

// A chain with narrow limits in free flight, beside `others` that lie on the ground.
std::vector<Pose> way_of_flier(int others, int seed) {
  constexpr int links = 9;
  Bench bench;
  bench.add(ground());
  std::vector<BodyId> flier;
  for (int robot = 0; robot <= others; ++robot) {
    BodyId last;
    for (int i = 0; i < links; ++i) {
      BodyDesc link = box(0.2, {0.1, 0.06, 0.05}, {{0.1 * i, 4.0 * robot, robot == 0 ? 30 : 0.025}, {}});
      const auto thrown = [&](int k) { return volvox::sin(12.9 * (i + 1) * (k + 1) + 7.7 * seed); };
      if (robot == 0) link.velocity = {{thrown(0), thrown(1), thrown(2)}, Vec3{thrown(3), thrown(4), thrown(5)} * 8};
      const BodyId id = bench.add(link);
      if (robot == 0) flier.push_back(id);
      if (i > 0) {
        JointDesc joint;
        joint.a = last, joint.b = id;
        const Quat across = Quat::between({0, 0, 1}, i % 2 ? Vec3{0, 0, 1} : Vec3{0, 1, 0});
        joint.frame_a = {{0.05, 0, 0}, across}, joint.frame_b = {{-0.05, 0, 0}, across};
        joint.lower = -0.05, joint.upper = 0.05;
        bench->add_joint(joint);
      }
      last = id;
    }
  }
  std::vector<Pose> way;
  for (int tick = 0; tick < 60; ++tick) {
    EXPECT_TRUE(bench.tick().ok());
    for (BodyId id : flier) way.push_back(bench.pose(id));
  }
  return way;
}

TEST(Flock, a_lane_does_not_feel_what_others_touch) {
  for (int seed = 0; seed < 8; ++seed) EXPECT_TRUE(way_of_flier(0, seed) == way_of_flier(4, seed)) << "seed " << seed;
}

TEST(Flock, a_lane_moves_as_the_tree_would_alone) {
  const std::vector<Pose> alone = way_of_one(0);
  EXPECT_TRUE(alone == way_of_one(1)) << "two trees, one by one";
  EXPECT_TRUE(alone == way_of_one(4)) << "a flock with free lanes";
  EXPECT_TRUE(alone == way_of_one(19)) << "several flocks";
}

TEST(Flock, a_lane_moves_the_same_at_any_number_of_threads) {
  ThreadPool two(2), five(5);
  const std::vector<Pose> one = way_of_one(40);
  EXPECT_TRUE(one == way_of_one(40, &two));
  EXPECT_TRUE(one == way_of_one(40, &five));
}

// How often each thing was done, by its name in Engine::work().
std::map<std::string, std::uint64_t> work_of(Bench& bench) {
  std::map<std::string, std::uint64_t> work;
  for (const WorkCount& count : bench->work()) work[count.what] = count.count;
  return work;
}

struct Watched {
  std::vector<Pose> way;       // of all walkers
  std::vector<double> torque;  // of their motors, and what their joints bear
  std::map<std::string, std::uint64_t> work;
};

// Walkers, and 40 m from them boxes that are thrown at each other, so that somebody is alarmed in most substeps. A ball
// may hit the last of the walkers, which is then alarmed itself.
Watched walk_beside_a_brawl(int walkers, int boxes, ThreadPool* threads = nullptr, bool hit = false) {
  EngineSettings settings;
  settings.threads = threads;
  Bench bench(settings);
  bench.add(ground());
  std::vector<Walker> all;
  for (int i = 0; i < walkers; ++i) all.push_back(add_walker(bench, {4.0 * i, 0, 0.08}));
  if (hit) {
    BodyDesc ball;
    ball.mass = 1, ball.moments = {1e-3, 1e-3, 1e-3};
    ball.geometry = geometry_of(model::Sphere{0.05});
    ball.pose.position = {4.0 * (walkers - 1) + 0.1, 1.5, 0.08};
    ball.velocity.linear = {0, -4, 0};
    bench.add(ball);
  }
  RandomStream random(7, 0, "brawl");
  for (int i = 0; i < boxes; ++i) {
    const auto between = [&](double low, double high) { return random.uniform(low, high); };
    BodyDesc desc =
        box(0.3, {0.1, 0.1, 0.1}, {{between(-1, 1), 40 + between(-1, 1), between(0.1, 1.5)}, {}}, {0.5, 0.3});
    desc.velocity.linear = {between(-6, 6), between(-6, 6), between(-2, 2)};
    bench.add(desc);
  }
  Watched watched;
  for (int tick = 0; tick < 60; ++tick) {
    for (const Walker& walker : all) swing(bench, walker, tick);
    EXPECT_TRUE(bench.tick().ok());
    for (const Walker& walker : all) {
      for (const BodyId body : walker.bodies) watched.way.push_back(bench.pose(body));
      for (const JointId joint : walker.joints) {
        watched.torque.push_back(bench->joints()[joint.index].torque);
        watched.torque.push_back(length(bench->loads()[joint.index].force));
      }
    }
  }
  watched.work = work_of(bench);
  return watched;
}

TEST(Flock, what_happens_far_away_changes_no_bit_and_costs_nothing) {
  ThreadPool three(3);
  const Watched walkers = walk_beside_a_brawl(9, 0), brawl = walk_beside_a_brawl(0, 60);
  EXPECT_GT(brawl.work.at("partial_detections"), 60u) << "nobody was alarmed";
  for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &three}) {
    const Watched both = walk_beside_a_brawl(9, 60, threads);
    EXPECT_TRUE(both.way == walkers.way);
    EXPECT_TRUE(both.torque == walkers.torque);
    for (const char* what :
         {"lone_substeps", "lane_substeps", "lane_room", "bytes_moved", "called_back", "group_substeps", "attempts",
          "sweeps", "contact_solves", "gjk_calls", "gjk_iterations", "alarmed_bodies"})
      EXPECT_EQ(both.work.at(what), walkers.work.at(what) + brawl.work.at(what)) << what;
  }
}

// Trees that share a flock stop where one of them is alarmed: which ones these are depends on the instruction set.
TEST(Flock, a_lane_that_is_stopped_by_another_has_the_same_bits) {
  constexpr int walkers = 4, joints = 4, bodies = 3;
  const Watched calm = walk_beside_a_brawl(walkers, 0), hit = walk_beside_a_brawl(walkers, 0, nullptr, true);
  EXPECT_GT(hit.work.at("partial_detections"), calm.work.at("partial_detections"));
  for (std::size_t tick = 0; tick < 60; ++tick) {
    for (std::size_t i = 0; i < (walkers - 1) * joints; ++i)
      ASSERT_EQ(hit.torque[tick * walkers * joints + i], calm.torque[tick * walkers * joints + i]) << "tick " << tick;
    for (std::size_t i = 0; i < (walkers - 1) * bodies; ++i)
      ASSERT_TRUE(hit.way[tick * walkers * bodies + i] == calm.way[tick * walkers * bodies + i]) << "tick " << tick;
  }
  EXPECT_FALSE(hit.way == calm.way) << "nobody was hit";
}

// A ball that is thrown hits the first of a row of balls, which hits the next within the same tick, and so on: each is
// alone, and has gone ahead, when the one before it is alarmed. In ticks of one substep nobody goes ahead.
std::vector<double> places_of_row(std::uint64_t seed, TickLength tick, std::uint64_t* called_back = nullptr) {
  Bench bench;
  BodyDesc table = ground();
  table.geometry = geometry_of(model::Plane{}, {0, 0});
  bench.add(table);
  RandomStream random(seed, 0, "row");
  std::vector<BodyId> row;
  double x = 0;
  for (int i = 0; i < 6; ++i) {
    BodyDesc ball;
    ball.mass = 0.2, ball.moments = {1e-4, 1e-4, 1e-4};
    ball.geometry = geometry_of(model::Sphere{0.03}, {0, 0});
    ball.pose.position = {x, 0, 0.03};
    if (i == 0) ball.velocity.linear = {3 + 2 * random.uniform(), 0, 0};
    x += 0.061 + (i == 0 ? 0.2 : 0.01 + 0.03 * random.uniform());
    row.push_back(bench.add(ball));
  }
  for (std::int64_t i = 0; tick.start_of(i + 1).seconds() <= 0.501; ++i)
    EXPECT_TRUE(bench->advance(tick.start_of(i), tick.start_of(i + 1)).ok());
  if (called_back) *called_back += work_of(bench).at("called_back");
  std::vector<double> places;
  for (const BodyId ball : row) places.push_back(bench.pose(ball).position.x);
  return places;
}

TEST(Flock, one_that_is_alarmed_meets_those_that_went_ahead) {
  std::uint64_t called_back = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const std::vector<double> ahead = places_of_row(seed, {1, 10}, &called_back),
                              together = places_of_row(seed, {1, 240});
    for (std::size_t i = 0; i < ahead.size(); ++i) {
      EXPECT_NEAR(ahead[i], together[i], 0.01) << "seed " << seed << ", ball " << i;
      if (i == 0) continue;
      EXPECT_GT(ahead[i] - ahead[i - 1], 0.0598) << "seed " << seed << ": they overlap";
    }
  }
  EXPECT_GT(called_back, 20u);
}

// A walker that swings, and beside its end, `gap` away, a ball that bounces off a wall and flies past.
struct Passed {
  std::vector<Pose> way;
  std::uint64_t called_back = 0;
};
Passed walk_past(double gap, double start, TickLength tick, bool thrown) {
  Bench bench;
  bench.add(ground());
  const Walker walker = add_walker(bench, {0, 0, 0.026});
  const double x = 0.25 + 0.03 + gap;
  BodyDesc wall = box(1, {0.06, 0.1, 0.2}, {{x, -0.2, 0.1}, {}}, {0, 0.9});
  wall.motion = Motion::fixed;
  bench.add(wall);
  if (thrown) {
    BodyDesc ball;
    ball.mass = 0.1, ball.moments = {1e-4, 1e-4, 1e-4};
    ball.geometry = geometry_of(model::Sphere{0.03}, {0, 0.9});
    ball.pose.position = {x, start, 0.1};
    ball.velocity.linear = {0, -4, 0.2};
    bench.add(ball);
  }
  Passed passed;
  for (std::int64_t i = 0; tick.start_of(i + 1).seconds() <= 0.301; ++i) {
    swing(bench, walker, static_cast<int>(i));
    EXPECT_TRUE(bench->advance(tick.start_of(i), tick.start_of(i + 1)).ok());
    for (const BodyId body : walker.bodies) passed.way.push_back(bench.pose(body));
  }
  passed.called_back = work_of(bench).at("called_back");
  return passed;
}

// What was written over is put back, of bodies, joints, drives and contacts: who is called back and then not met goes
// on to the bit as if nobody had come. (Some share a group with the ball for a while, and are solved another way.)
TEST(Flock, one_that_is_called_back_for_nothing_has_the_same_bits) {
  for (const TickLength tick : {TickLength{1, 20}, TickLength{1, 10}}) {
    RandomStream random(3, 0, "pass");
    int called_for_nothing = 0, called = 0;
    for (int i = 0; i < 60; ++i) {
      const double gap = random.uniform(0.012, 0.04), start = random.uniform(0.1, 0.3);
      const Passed calm = walk_past(gap, start, tick, false), passed = walk_past(gap, start, tick, true);
      EXPECT_EQ(calm.called_back, 0u);
      if (passed.called_back == 0) continue;
      ++called;
      if (passed.way == calm.way) ++called_for_nothing;
    }
    EXPECT_GT(called, 10) << "ticks of " << tick.start_of(1).seconds() << " s";
    EXPECT_GT(3 * called_for_nothing, called) << "ticks of " << tick.start_of(1).seconds() << " s";
  }
}

// Tops afloat in a row across the axes of the world, each turning against its neighbours.
std::vector<BodyId> add_tops(Bench& bench, double spacing, double spin) {
  std::vector<BodyId> tops;
  for (int i = 0; i < 8; ++i) {
    BodyDesc desc = box(0.3, {0.1, 0.1, 0.1}, {Vec3{1, 1, 0} * (spacing * i / std::sqrt(2)), {}}, {0, 0});
    desc.velocity.angular = {0, 0, i % 2 == 0 ? spin : -spin};
    tops.push_back(bench.add(desc));
  }
  return tops;
}

// Their boxes along the axes of the world and the balls around them overlap, but they do not meet.
TEST(Flock, who_turns_beside_another_goes_ahead_alone) {
  EngineSettings settings;
  settings.gravity = {};
  Bench apart(settings), close(settings);
  add_tops(apart, 0.172, 2), add_tops(close, 0.148, 2);
  apart.run(1), close.run(1);
  EXPECT_EQ(work_of(apart).at("group_substeps"), 0u);
  EXPECT_EQ(work_of(apart).at("lone_substeps"), 8u * 240u);
  EXPECT_EQ(work_of(apart).at("called_back"), 0u);
  EXPECT_GT(work_of(close).at("group_substeps"), 60u) << "these might touch within a tick, so each substep looks";
}

// How deep two boxes lie in each other: the least way out along the normals of their sides and what is square to two of
// their edges. Negative: they are apart.
double overlap_of_boxes(const Pose& a, const Pose& b, const Vec3& size) {
  const Vec3 edges[3] = {{size.x / 2, 0, 0}, {0, size.y / 2, 0}, {0, 0, size.z / 2}};
  Vec3 axes[15];
  int count = 0;
  for (const Pose& pose : {a, b})
    for (const Vec3& edge : edges) axes[count++] = pose.rotation * edge;
  for (int i = 0; i < 3; ++i)
    for (int k = 3; k < 6; ++k) axes[count++] = cross(axes[i], axes[k]);
  double least = 1;
  for (const Vec3& axis : axes) {
    if (length(axis) < 1e-9) continue;
    const Vec3 n = normalized(axis);
    double reach = 0;
    for (int i = 0; i < 6; ++i) reach += std::fabs(dot(axes[i], n));
    least = std::min(least, reach - std::fabs(dot(a.position - b.position, n)));
  }
  return least;
}

// Boxes afloat that drift together and turn, so that most ticks have some that are beside each other and do not meet,
// and some that do. The deepest that two lie in each other at the end of a tick of 1/60 s.
double deepest_of_drifting(std::uint64_t seed, TickLength tick, std::uint64_t& ahead) {
  EngineSettings settings;
  settings.gravity = {};
  Bench bench(settings);
  RandomStream random(seed, 0, "drift");
  const auto between = [&](double low, double high) { return random.uniform(low, high); };
  const Vec3 size{0.1, 0.08, 0.06};
  std::vector<BodyId> boxes;
  for (int i = 0; i < 27; ++i) {
    const Vec3 at = Vec3{i % 3 - 1.0, i / 3 % 3 - 1.0, i / 9 - 1.0} * 0.22;
    BodyDesc desc = box(0.3, size, {at, Quat::rpy(between(-3, 3), between(-1, 1), 0)}, {0.5, 0.2});
    desc.velocity.linear = at * -between(0.5, 2) + Vec3{between(-0.3, 0.3), between(-0.3, 0.3), between(-0.3, 0.3)};
    desc.velocity.angular = Vec3{between(-1, 1), between(-1, 1), between(-1, 1)} * 12;
    boxes.push_back(bench.add(desc));
  }
  double deepest = 0;
  for (std::int64_t i = 0; tick.start_of(i + 1).seconds() <= 0.801; ++i) {
    EXPECT_TRUE(bench->advance(tick.start_of(i), tick.start_of(i + 1)).ok());
    if ((i + 1) * 60 % tick.denominator != 0) continue;
    for (std::size_t k = 0; k < boxes.size(); ++k)
      for (std::size_t j = 0; j < k; ++j)
        deepest = std::max(deepest, overlap_of_boxes(bench.pose(boxes[j]), bench.pose(boxes[k]), size));
  }
  ahead += work_of(bench).at("lone_substeps");
  return deepest;
}

// In ticks of one substep everything is looked at in every substep.
TEST(Flock, who_goes_ahead_beside_others_meets_them_as_in_short_ticks) {
  std::uint64_t ahead = 0, of_short_ticks = 0;
  double deepest = 0, in_short_ticks = 0;
  for (const std::uint64_t seed : seeds(1, 40)) {
    deepest = std::max(deepest, deepest_of_drifting(seed, {1, 60}, ahead));
    in_short_ticks = std::max(in_short_ticks, deepest_of_drifting(seed, {1, 240}, of_short_ticks));
  }
  EXPECT_GT(ahead, seeds(1, 40).size() * 1000u);
  EXPECT_LT(in_short_ticks, 2.5e-3);
  EXPECT_LT(deepest, 2.5e-3);
}

// A box that stands, and on it a rotor that a motor turns about the upright axis.
struct Turner {
  BodyId base, rotor;
};
constexpr Vec3 rotor_size{0.1, 0.1, 0.05}, along_row{0.7071, 0.7071, 0};

Turner add_turner(Bench& bench, double place, double speed) {
  Turner turner;
  const auto at = [&](double height) { return Pose{along_row * place + Vec3{0, 0, height}, {}}; };
  turner.base = bench.add(box(0.5, {0.06, 0.06, 0.05}, at(0.0251), {0.4, 0.2}));
  turner.rotor = bench.add(box(0.1, rotor_size, at(0.0761), {0.4, 0.2}));
  JointDesc axle;
  axle.a = turner.base, axle.b = turner.rotor;
  axle.frame_a = {{0, 0, 0.0255}, {}}, axle.frame_b = {{0, 0, -0.0255}, {}};
  const JointId joint = bench->add_joint(axle);
  MotorCommand& motor = bench->motors()[joint.index];
  motor.control = Control::velocity, motor.target = speed, motor.kd = 0.5, motor.max_torque = 0.05;
  return turner;
}

double deepest_of(const Bench& bench, const std::vector<Turner>& row) {
  double deepest = 0;
  for (std::size_t k = 0; k < row.size(); ++k)
    for (std::size_t j = 0; j < k; ++j)
      deepest = std::max(deepest, overlap_of_boxes(bench.pose(row[j].rotor), bench.pose(row[k].rotor), rotor_size));
  return deepest;
}

// Turners in a row that do not meet, until a plate that nothing stops comes and pushes the first of them into the next.
// The deepest that two lie in each other at the end of a tick of 1/30 s.
double deepest_of_pushed(std::uint64_t seed, TickLength tick, std::uint64_t& ahead) {
  Bench bench;
  bench.add(ground());
  RandomStream random(seed, 0, "pushed");
  const auto between = [&](double low, double high) { return random.uniform(low, high); };
  std::vector<Turner> row;
  double place = 0;
  for (int i = 0; i < 3; ++i, place += between(0.145, 0.177))
    row.push_back(add_turner(bench, place, (i % 2 == 0 ? 1 : -1) * between(1, 3)));
  const Quat across = Quat::between({1, 0, 0}, along_row);
  BodyDesc plate = box(1, {0.02, 0.3, 0.04}, {along_row * -between(0.15, 0.3) + Vec3{0, 0, 0.03}, across}, {0.4, 0.2});
  plate.motion = Motion::kinematic, plate.velocity.linear = along_row * between(0.3, 1);
  bench.add(plate);
  double deepest = 0;
  for (std::int64_t i = 0; tick.start_of(i + 1).seconds() <= 0.701; ++i) {
    EXPECT_TRUE(bench->advance(tick.start_of(i), tick.start_of(i + 1)).ok());
    if ((i + 1) * 30 % tick.denominator == 0) deepest = std::max(deepest, deepest_of(bench, row));
  }
  ahead += work_of(bench).at("lone_substeps");
  return deepest;
}

// Two turners that stand still and then are pulled together, not so hard that anybody is alarmed.
double deepest_of_pulled(std::uint64_t seed, TickLength tick, std::uint64_t& ahead) {
  Bench bench;
  bench.add(ground());
  RandomStream random(seed, 0, "pulled");
  const auto between = [&](double low, double high) { return random.uniform(low, high); };
  std::vector<Turner> row = {add_turner(bench, 0, between(1.6, 2.5)), add_turner(bench, between(0.12, 0.17), 0)};
  const double pull = between(3, 7), begin = between(0.2, 0.8);
  double deepest = 0;
  for (std::int64_t i = 0; tick.start_of(i + 1).seconds() <= begin + 0.1; ++i) {
    if (tick.start_of(i).seconds() > begin) {
      for (std::size_t k = 0; k < 2; ++k) {
        const Vec3 acceleration = along_row * (k == 0 ? pull : -pull);
        bench->forces()[row[k].base.index].force =
            acceleration * 0.5 + along_row * ((k == 0 ? 1 : -1) * 0.4 * 0.6 * 9.81);
        bench->forces()[row[k].rotor.index].force = acceleration * 0.1;
      }
    }
    EXPECT_TRUE(bench->advance(tick.start_of(i), tick.start_of(i + 1)).ok());
    if ((i + 1) * 30 % tick.denominator == 0) deepest = std::max(deepest, deepest_of(bench, row));
  }
  ahead += work_of(bench).at("lone_substeps");
  return deepest;
}

struct Compared {
  double deepest = 0, in_short_ticks = 0;
  std::uint64_t ahead = 0;
};
Compared compare(double (&deepest_of)(std::uint64_t, TickLength, std::uint64_t&)) {
  Compared all;
  std::uint64_t of_short_ticks = 0;
  for (const std::uint64_t seed : seeds(1, 40)) {
    all.deepest = std::max(all.deepest, deepest_of(seed, {1, 30}, all.ahead));
    all.in_short_ticks = std::max(all.in_short_ticks, deepest_of(seed, {1, 240}, of_short_ticks));
  }
  return all;
}

TEST(Flock, who_is_alarmed_in_mid_look_is_pushed_into_the_next_as_in_short_ticks) {
  const Compared pushed = compare(deepest_of_pushed);
  EXPECT_LT(pushed.in_short_ticks, 6e-3) << "wedged between the plate and two others";
  EXPECT_LT(pushed.deepest, pushed.in_short_ticks + 3e-4);
}

// Those who go ahead beside each other are so far apart that they do not come to each other as they stray.
TEST(Flock, who_strays_without_alarm_is_met_as_in_short_ticks) {
  const Compared pulled = compare(deepest_of_pulled);
  EXPECT_GT(pulled.ahead, sanitized ? 740u : 3700u) << "they went together all the way";
  EXPECT_LT(pulled.in_short_ticks, 5e-4);
  EXPECT_LT(pulled.deepest, 5e-4);
}

// Falls, bounces, rolls, and lies: the lanes of a flock do different things at a time.
TEST(Flock, spheres_bounce_to_the_height_that_restitution_says) {
  Bench bench;
  bench.add([] {
    BodyDesc g = ground();
    g.geometry = geometry_of(model::Plane{}, {0.5, 0.5});
    return g;
  }());
  std::vector<BodyId> spheres;
  for (int i = 0; i < 11; ++i) {
    BodyDesc desc;
    desc.mass = 1, desc.moments = {0.004, 0.004, 0.004};
    desc.geometry = geometry_of(model::Sphere{0.1}, {0.5, 0.5});
    desc.pose.position = {2.0 * i, 0, 0.1 + 0.2 * (i + 1)};
    spheres.push_back(bench.add(desc));
  }
  std::vector<double> highest(spheres.size(), 0);
  std::vector<bool> fell(spheres.size(), false);
  for (int tick = 0; tick < 180; ++tick) {
    EXPECT_TRUE(bench.tick().ok());
    for (std::size_t i = 0; i < spheres.size(); ++i) {
      const double height = bench.pose(spheres[i]).position.z - 0.1;
      if (bench.velocity(spheres[i]).linear.z > 0) fell[i] = true;
      if (fell[i]) highest[i] = std::max(highest[i], height);
    }
  }
  for (std::size_t i = 0; i < spheres.size(); ++i) {
    const double drop = 0.2 * static_cast<double>(i + 1);
    EXPECT_NEAR(highest[i], 0.25 * drop, 0.03 * drop + 0.002) << "dropped from " << drop << " m";
  }
}

}  // namespace
}  // namespace volvox::physics::native
