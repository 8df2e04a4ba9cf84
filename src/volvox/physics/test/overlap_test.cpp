#include "volvox/physics/overlap.h"

#include <gtest/gtest.h>

#include "volvox/base/index.h"

namespace volvox::physics {
namespace {

BodyId add_box(System& system, const Vec3& at, Motion motion = Motion::dynamic) {
  auto geometry = std::make_shared<model::Geometry>();
  geometry->colliders.push_back({"collider", model::Box{{0.1, 0.1, 0.1}}, {}, {}});
  BodyDesc body;
  body.motion = motion;
  body.pose.position = at;
  body.geometry = geometry;
  return system.add(body);
}

}  // namespace

TEST(Overlaps, are_found_with_their_depth_the_deepest_first) {
  System system({});
  const BodyId a = add_box(system, {}), b = add_box(system, {0.095, 0, 0}), c = add_box(system, {0, 0, 0.08});
  add_box(system, {1, 0, 0});
  add_box(system, {1.0995, 0, 0});  // half a millimetre
  const std::vector<Overlap> found = find_overlaps(system, 1e-3);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].a, a);
  EXPECT_EQ(found[0].b, c);
  EXPECT_NEAR(found[0].depth, 0.02, 1e-9);
  EXPECT_NEAR(found[1].depth, 0.005, 1e-9);
  EXPECT_EQ(found[2].a, b);
}

TEST(Overlaps, of_bodies_that_may_not_touch_do_not_count) {
  System system({});
  JointDesc joint;
  joint.type = JointType::fixed;
  joint.a = add_box(system, {}), joint.b = add_box(system, {0.05, 0, 0});
  system.add(joint);
  // Rigidly joined through the second.
  joint.a = joint.b, joint.b = add_box(system, {0.09, 0, 0});
  system.add(joint);
  add_box(system, {2, 0, 0}, Motion::fixed);
  add_box(system, {2, 0, 0.05}, Motion::fixed);
  EXPECT_TRUE(find_overlaps(system, 1e-3).empty());
}

TEST(Overlaps, of_many_in_one_place_are_found) {
  System system({});
  for (int i = 0; i < 50; ++i) add_box(system, {1e-4 * i, 0, 0});
  EXPECT_EQ(find_overlaps(system, 1e-3).size(), 50u * 49 / 2);
}

}  // namespace volvox::physics
