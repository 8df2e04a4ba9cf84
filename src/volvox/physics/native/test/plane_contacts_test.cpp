// Contacts of lone robots with planes: what is kept for them is what everybody else is told, and is never seen in the
// bits.
#include "volvox/physics/native/plane_contacts.h"

#include <gtest/gtest.h>

#include "volvox/base/random.h"
#include "volvox/physics/native/flock_rows.h"
#include "volvox/physics/native/test/scenes.h"

namespace volvox::physics::native {
namespace {

// Links of two boxes or of a box and a wheel, thrown at random onto a plane: they tumble, come near each other and part
// again, and some come to rest.
struct Crowd {
  explicit Crowd(std::uint64_t seed) : random(seed, 0, "crowd") {
    bench.add(ground());
    for (int i = 0; i < 24; ++i) add_robot(i);
  }
  void add_robot(int number) {
    const auto any = [&](double size) { return size * (2 * random.uniform() - 1); };
    const Vec3 at{0.6 * (number % 6) + any(0.1), 0.6 * (number / 6) + any(0.1), 0.3 + any(0.1)};
    const Quat turn = Quat::axis_angle(normalized(Vec3{any(1), any(1), 1}), any(3));
    BodyDesc first = box(0.2, {0.1, 0.06, 0.05}, {at, turn}, {0.6, number % 5 == 0 ? 0.4 : 0.0});
    BodyDesc second = box(0.2, {0.1, 0.06, 0.05}, {at + turn * Vec3{0.11, 0, 0}, turn});
    if (number % 2 == 1) second.geometry = geometry_of(model::Cylinder{0.05, 0.03});
    first.velocity.linear = second.velocity.linear = {any(1), any(1), 0};
    JointDesc joint;
    joint.type = JointType::revolute;
    joint.a = bench.add(first), joint.b = bench.add(second);
    joint.frame_a = {{0.055, 0, 0}, {}}, joint.frame_b = {{-0.055, 0, 0}, {}};
    joints.push_back(bench->add_joint(joint));
  }
  void tick(int number) {
    for (std::size_t i = 0; i < joints.size(); i += 3) {
      MotorCommand& motor = bench->motors()[joints[i].index];
      motor.control = Control::velocity, motor.target = number < 40 ? 2 : 0, motor.kd = 0.5, motor.max_torque = 0.5;
    }
    ASSERT_TRUE(bench.tick().ok());
  }
  Bench bench;
  RandomStream random;
  std::vector<JointId> joints;
};

bool same(const std::vector<Contact>& x, const std::vector<Contact>& y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Contact& a, const Contact& b) {
    return a.a == b.a && a.b == b.b && a.point == b.point && a.normal == b.normal && a.depth == b.depth &&
           a.force == b.force;
  });
}

// A snapshot writes them all out as others are, and from there the next detection takes them up again.
TEST(PlaneContacts, who_asks_changes_nothing_and_is_told_the_same) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Crowd asked(seed), left_alone(seed);
    std::size_t told = 0;
    for (int tick = 0; tick < 90; ++tick) {
      asked.tick(tick), left_alone.tick(tick);
      std::vector<Contact> here, written;
      left_alone.bench->contacts(here);
      (void)asked.bench.hash();
      asked.bench->contacts(written);
      ASSERT_TRUE(same(here, written)) << "seed " << seed << ", tick " << tick;
      told += here.size();
    }
    EXPECT_GT(told, 1000u);
    EXPECT_EQ(asked.bench.hash(), left_alone.bench.hash()) << "seed " << seed;
  }
}

template <class T>
void check_rows(std::uint64_t seed) {
  constexpr int lanes = lane_count<T>;
  RandomStream random(seed, 0, "rows");
  double rows[lanes][24], back[lanes][24] = {};
  const double* from[lanes];
  double* to[lanes];
  for (int i = 0; i < lanes; ++i) {
    for (double& x : rows[i]) x = random.uniform() - 0.5;
    from[i] = rows[i], to[i] = back[i];
  }
  alignas(64) Exact<T> all[24], expected[24];
  rows_to_lanes<T>(from, 24, all);
  for (int i = 0; i < lanes; ++i) {
    for (int k = 0; k < 24; ++k) {
      put(expected[k], i, rows[i][k]);
      EXPECT_EQ(take(all[k], i), rows[i][k]);
    }
  }
  lanes_to_rows<T>(all, 24, to);
  for (int i = 0; i < lanes; ++i)
    for (int k = 0; k < 24; ++k) EXPECT_EQ(back[i][k], rows[i][k]);
}

TEST(FlockRows, rows_become_lanes_and_rows_again) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    check_rows<double>(seed), check_rows<FourLanes>(seed), check_rows<Floats<1>>(seed), check_rows<Floats<4>>(seed);
}

// Lane by lane or all at once, a contact is the same.
template <class T>
void check_contact(std::uint64_t seed) {
  constexpr int lanes = lane_count<T>;
  RandomStream random(seed, 0, "contact");
  const auto any = [&] { return 2 * random.uniform() - 1; };
  Body plane;
  plane.position = {any(), any(), any()};
  plane.axes = rotation_matrix(native::lane(Quat::axis_angle(normalized(Vec3{any(), any(), any()}), 3 * any())));
  PlanePoint points[lanes];
  const double* rows[lanes];
  FlockContact<T> one, all;
  clear(one, 0), clear(all, 0);
  for (int i = 0; i < lanes; ++i) {
    PlanePoint& p = points[i];
    p.impulse = {any(), any(), any()}, p.rebound = any(), p.on_b = {any(), any(), any()},
    p.on_a = {any(), any(), any()};
    p.normal = normalized(Vec3{any(), any(), any()}), p.radius = 0.1 * i, p.friction = 0.5;
    if (seed % 2 == 1) p.rim = 0.01 * (i + 1), p.outward = normalized(Vec3{any(), any(), any()});
    rows[i] = &p.impulse.x;
    load_contact(one, i, p, plane);
    put(all.there, i, true);
  }
  set_frames(one);
  load_plane_contact(all, rows, {native::lane(plane.position), plane.axes});
  EXPECT_EQ(one.rolls, all.rolls);
  for (int i = 0; i < lanes; ++i) {
    EXPECT_TRUE(take(one.on_a, i) == take(all.on_a, i) && take(one.on_b, i) == take(all.on_b, i));
    EXPECT_TRUE(take(one.normal, i) == take(all.normal, i) && take(one.impulse, i) == take(all.impulse, i));
    for (int k = 0; k < 3; ++k) EXPECT_TRUE(take(one.frame[k], i) == take(all.frame[k], i)) << "axis " << k;
    EXPECT_TRUE(take(one.outward, i) == take(all.outward, i));
    EXPECT_EQ(take(one.rebound, i), take(all.rebound, i));
    EXPECT_EQ(take(one.radius, i), take(all.radius, i));
    EXPECT_EQ(take(one.radius_a, i), take(all.radius_a, i));
    EXPECT_EQ(take(one.rim, i), take(all.rim, i));
    EXPECT_EQ(take(one.friction, i), take(all.friction, i));
  }
}

TEST(FlockRows, a_contact_is_loaded_as_lane_by_lane) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    check_contact<double>(seed), check_contact<FourLanes>(seed);
    check_contact<Floats<1>>(seed), check_contact<Floats<4>>(seed);
  }
}

}  // namespace
}  // namespace volvox::physics::native
