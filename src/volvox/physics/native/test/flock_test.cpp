// Trees that move side by side in lanes have the bits that they would have alone.
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
