// What flocks read, choose and tell in lanes, against the same written out body by body.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "volvox/base/random.h"
#include "volvox/physics/native/body.h"
#include "volvox/physics/native/flock_rows.h"
#include "volvox/physics/native/plane_kernel.h"

namespace volvox::physics::native {
namespace {

class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : random_(seed, 0, "lanes") {}
  double any() { return 2 * random_.uniform() - 1; }
  int whole(int most) { return static_cast<int>(random_.uniform() * (most + 1)); }
  // Often zero, and zeros have signs.
  double coarse() { return whole(2) == 0 ? (whole(1) == 0 ? -0.0 : 0.0) : any(); }
  Vec3 vector() { return {any(), any(), any()}; }
  Quat turn() {
    // About axes of the frame, too: angles of half a turn, and products that are zero.
    const Vec3 axis = whole(1) == 0 ? normalized(vector()) : Vec3{0, 0, whole(1) == 0 ? -1.0 : 1.0};
    return Quat::axis_angle(axis, whole(1) == 0 ? pi / 2 * whole(4) : 4 * any());
  }
  Pose pose() { return {Vec3{coarse(), coarse(), coarse()}, turn()}; }

 private:
  RandomStream random_;
};

bool same(const void* a, const void* b, std::size_t size) { return std::memcmp(a, b, size) == 0; }

// One tree of two links in every lane.
template <class T>
void check_end(std::uint64_t seed, JointType type) {
  constexpr int lanes = lane_count<T>;
  constexpr double tick = 1.0 / 60;
  Numbers numbers(seed);
  NodeShape shapes[2];
  LinkPlan links[2];
  for (NodeShape& shape : shapes) shape.moments = {0.1 + numbers.whole(9), 0.2, 0.3};
  shapes[1].parent = 0, shapes[1].type = type, shapes[1].flipped = numbers.whole(1) == 1;
  for (LinkPlan& link : links) link = {numbers.pose(), numbers.pose(), numbers.pose(), numbers.turn()};
  LaneVector<FlockBody<T>> bodies(2);
  LaneVector<FlockJoint<T>> joints(2);
  Body body[lanes][2];
  double before[lanes];
  for (int lane = 0; lane < lanes; ++lane) {
    for (int i = 0; i < 2; ++i) {
      Body& b = body[lane][i];
      b.dynamic = true, b.moments = shapes[i].moments, b.from_link = links[i].from_link;
      b.position = numbers.vector(), b.rotation = numbers.turn();
      b.linear = numbers.vector(), b.spin = {numbers.coarse(), numbers.coarse(), numbers.any()};
      FlockBody<T>& to = bodies[static_cast<std::size_t>(i)];
      put(to.x, lane, b.position), put(to.q, lane, b.rotation), put(to.v.l, lane, b.linear), put(to.spin, lane, b.spin);
    }
    FlockJoint<T>& to = joints[1];
    before[lane] = 40 * numbers.coarse();
    put(to.position, lane, before[lane]), put(to.velocity, lane, numbers.coarse()), put(to.motor, lane, numbers.any());
    put(to.load.l, lane, numbers.vector()), put(to.load.a, lane, numbers.vector());
  }
  Pose poses[2][lanes];
  Twist twists[2][lanes];
  JointState states[lanes];
  Wrench loads[lanes];
  double *pose_rows[2 * lanes], *twist_rows[2 * lanes], *joint_rows[2 * lanes], *load_rows[2 * lanes];
  for (int i = 0; i < 2; ++i) {
    for (int lane = 0; lane < lanes; ++lane) {
      const int row = i * lanes + lane;
      pose_rows[row] = &poses[i][lane].position.x, twist_rows[row] = &twists[i][lane].linear.x;
      joint_rows[row] = &states[lane].position, load_rows[row] = &loads[lane].force.x;
    }
  }
  const FlockEnd<T> flock{{shapes, 2}, {links, 2}, {bodies.data(), 2}, {joints.data(), 2}};
  end_tick<T>(flock, tick, {pose_rows, twist_rows, joint_rows, load_rows});
  JointDesc desc;
  desc.type = type, desc.a = {0, 0}, desc.b = {1, 0};
  desc.frame_a = links[1].frame_a, desc.frame_b = links[1].frame_b;
  for (int lane = 0; lane < lanes; ++lane) {
    for (int i = 0; i < 2; ++i) {
      const Pose pose = body[lane][i].link_pose();
      EXPECT_TRUE(same(&pose, &poses[i][lane], sizeof pose));
      const Twist twist = body[lane][i].velocity();
      EXPECT_TRUE(same(&twist, &twists[i][lane], sizeof twist));
    }
    const int a = shapes[1].flipped ? 1 : 0;
    const JointState state{joint_position(desc, poses[a][lane], poses[1 - a][lane], before[lane]),
                           take(joints[1].velocity, lane), take(joints[1].motor, lane) / tick};
    EXPECT_TRUE(same(&state, &states[lane], sizeof state)) << state.position << " and " << states[lane].position;
    const Wrench load =
        Wrench{links[1].to_frame * take(joints[1].load.l, lane), links[1].to_frame * take(joints[1].load.a, lane)} *
        (1 / tick);
    EXPECT_TRUE(same(&load, &loads[lane], sizeof load));
  }
}

TEST(FlockEnd, tells_of_links_and_joints_what_others_say_to_the_bit) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    for (const JointType type : {JointType::revolute, JointType::prismatic, JointType::ball, JointType::dock}) {
      check_end<double>(seed, type), check_end<FourLanes>(seed, type);
      check_end<Floats<1>>(seed, type), check_end<Floats<4>>(seed, type);
    }
  }
}

template <class T>
void check_drive(std::uint64_t seed) {
  constexpr int lanes = lane_count<T>;
  Numbers numbers(seed);
  Drive<double> drives[lanes + 1];  // rows are read beyond their end, as those of a joint's three drives
  const double* rows[lanes];
  LaneVector<Drive<T>> expected(1), loaded(1);
  for (int lane = 0; lane < lanes; ++lane) {
    MotorCommand command;
    command.control = static_cast<Control>(numbers.whole(3));
    command.target = numbers.coarse(), command.kp = numbers.coarse(), command.kd = numbers.any();
    if (numbers.whole(1) == 1) command.max_torque = 5;
    JointDesc desc;
    if (numbers.whole(1) == 1) desc.lower = -1, desc.upper = 1;
    Drive<double>& drive = drives[lane];
    const DriveOrder order(desc, command, 1.0 / 240);
    drive.order(0, order);
    drive.slip = numbers.whole(2) - 1, drive.limit = numbers.whole(2) - 1;
    if (numbers.whole(1) == 1) drive.cap = numbers.any();
    rows[lane] = &drive.gain;
    expected[0].order(lane, order);
    put(expected[0].slip, lane, drive.slip), put(expected[0].limit, lane, drive.limit);
    put(expected[0].cap, lane, drive.cap);
  }
  load_drive(loaded[0], rows);
  EXPECT_TRUE(same(&expected[0], &loaded[0], sizeof(Drive<T>)));
}

TEST(FlockEnd, drives_are_loaded_as_lane_by_lane) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed)
    check_drive<double>(seed), check_drive<FourLanes>(seed), check_drive<Floats<1>>(seed), check_drive<Floats<4>>(seed);
}

TEST(FlockEnd, points_on_a_plane_are_spread_as_others_are) {
  Numbers numbers(1);
  for (int i = 0; i < 3000; ++i) {
    constexpr int most = 11;
    const int count = 1 + numbers.whole(most - 1);
    Vec3 points[most];
    double lowest[most];
    Manifold manifold;
    manifold.normal = normalized(numbers.vector());
    for (int k = 0; k < count; ++k) {
      // Some lie as far and as deep as others.
      points[k] = {0.1 * numbers.whole(3), 0.1 * numbers.whole(3), 0.1 * numbers.whole(1)};
      lowest[k] = 0.001 * numbers.whole(3);
      manifold.add({points[k], points[k], lowest[k], static_cast<std::uint32_t>(k)});
    }
    manifold.reduce();
    int order[most];
    ASSERT_EQ(spread_points(points, lowest, count, manifold.normal, order), manifold.count);
    for (int k = 0; k < manifold.count; ++k) EXPECT_EQ(order[k], static_cast<int>(manifold.points[k].id));
  }
}

template <class Mask>
void check_any() {
  constexpr int lanes = sizeof(Mask) / sizeof(MaskElement<Mask>);
  Mask mask{};
  EXPECT_FALSE(any(mask));
  for (int i = 0; i < lanes; ++i) {
    mask = Mask{};
    put(mask, i, true);
    EXPECT_TRUE(any(mask)) << "lane " << i << " of " << lanes;
  }
}

TEST(FlockEnd, any_lane_counts) {
  check_any<MaskOf<FourLanes>>(), check_any<MaskOf<EightLanes>>(), check_any<MaskOf<Floats<4>>>();
  check_any<MaskOf<Floats<8>>>(), check_any<MaskOf<Floats<16>>>();
}

}  // namespace
}  // namespace volvox::physics::native
