// Friction, restitution, collisions, tunnelling.
#include <cmath>

#include "volvox/physics/conformance/suite.h"

namespace volvox::physics::conformance {
namespace {

// A plane through the origin that slopes down towards +x by an angle.
Pose incline(double slope) { return {{}, Quat::axis_angle({0, 1, 0}, slope)}; }

}  // namespace

// The pair's friction is the geometric mean: sqrt(0.25 * 1) = 0.5.
TEST_P(Conformance, block_sticks_below_the_friction_cone) {
  VOLVOX_NEEDS_MOTION();
  const double slope = std::atan(0.5) - radians(1);
  add_ground(0.25, 0, incline(slope));
  Solid block{model::Box{{0.2, 0.2, 0.1}}};
  block.pose = incline(slope) * Pose{{0, 0, 0.05}, {}};
  block.material.friction = 1.0;
  const BodyId body = add(block);
  run(0.5);
  const Vec3 start = pose(body).position;
  run(2);
  EXPECT_LT(length(pose(body).position - start), tolerance("friction_creep_m"));
}

TEST_P(Conformance, block_slides_above_the_friction_cone) {
  VOLVOX_NEEDS_MOTION();
  const double slope = std::atan(0.5) + radians(5);
  add_ground(0.25, 0, incline(slope));
  Solid block{model::Box{{0.2, 0.2, 0.1}}};
  block.pose = incline(slope) * Pose{{0, 0, 0.05}, Quat::axis_angle({0, 0, 1}, 0.4)};
  block.material.friction = 1.0;
  const BodyId body = add(block);
  run(0.5);
  const double before = length(velocity(body).linear);
  run(1);
  const double expected = g * (std::sin(slope) - 0.5 * std::cos(slope));
  EXPECT_NEAR(length(velocity(body).linear) - before, expected, tolerance("friction_acceleration") * g);
}

TEST_P(Conformance, sliding_block_stops_where_it_should) {
  VOLVOX_NEEDS_MOTION();
  add_ground(0.4);
  Solid block{model::Box{{0.3, 0.3, 0.04}}};
  block.pose.position = {0, 0, 0.02};
  block.velocity.linear = {2 * std::cos(0.7), 2 * std::sin(0.7), 0};  // not along an axis
  block.material.friction = 0.4;
  const BodyId body = add(block);
  run(2);
  const double expected = 4 / (2 * 0.4 * g);
  const Vec3 p = pose(body).position;
  EXPECT_NEAR(std::hypot(p.x, p.y), expected, tolerance("stopping_distance") * expected);
  EXPECT_NEAR(std::atan2(p.y, p.x), 0.7, 0.02);
  EXPECT_LT(length(velocity(body).linear), tolerance("rest_speed"));
}

// The pair's restitution is the larger of the two.
TEST_P(Conformance, ball_bounces_to_the_right_height) {
  VOLVOX_NEEDS_MOTION();
  VOLVOX_NEEDS("restitution");
  for (const double restitution : {0.4, 0.8}) {
    for (const double drop : {0.93, 1.0, 1.07}) {  // so that the result does not depend on the phase of the step
      make_engine({});
      add_ground(0.5, restitution);
      Solid ball{model::Sphere{0.1}};
      ball.pose.position = {0, 0, 0.1 + drop};
      ball.material.restitution = 0.1;
      const BodyId body = add(ball);
      double highest = 0;
      bool bounced = false, done = false;
      run(1.5, [&](double) {
        const double v = velocity(body).linear.z;
        bounced = bounced || v > 0;
        done = done || (bounced && v < 0);
        if (bounced && !done) highest = std::max(highest, pose(body).position.z - 0.1);
      });
      EXPECT_NEAR(highest, restitution * restitution * drop, tolerance("bounce_height") * drop)
          << restitution << ' ' << drop;
    }
  }
}

TEST_P(Conformance, ball_without_restitution_stays_down) {
  VOLVOX_NEEDS_MOTION();
  add_ground(0.5, 0);
  const BodyId body = add({model::Sphere{0.1}, 1, {{0, 0, 1}, {}}});
  run(1);
  run(0.5, [&](double) { EXPECT_NEAR(pose(body).position.z, 0.1, 2e-3); });
}

TEST_P(Conformance, free_collision_keeps_momentum) {
  VOLVOX_NEEDS_MOTION();
  for (const double restitution : {0.0, 0.5}) {
    make_engine({.gravity = {}});
    Solid box{model::Box{{0.3, 0.2, 0.1}}, 1.5, {{-0.5, 0.05, 0.02}, Quat::rpy(0.2, 0.4, 0.6)}, {{2, 0, 0}, {1, 2, 0}}};
    Solid other{model::Box{{0.2, 0.2, 0.2}}, 0.7, {{0.3, 0, 0}, {}}, {{-1, 0, 0.1}, {0, 0, 3}}};
    box.material.restitution = restitution;
    const std::vector<BodyId> bodies{add(box), add(other)};
    const Totals before = totals(bodies);
    run(1);
    const Totals after = totals(bodies);
    EXPECT_GT(length(velocity(bodies[1]).linear - other.velocity.linear), 0.1) << "they did not meet";
    EXPECT_LT(length(after.momentum - before.momentum), tolerance("momentum") * before.scale);
    EXPECT_LT(length(after.angular - before.angular), tolerance("momentum") * before.angular_scale);
    EXPECT_LT(after.kinetic, before.kinetic);
  }
}

TEST_P(Conformance, elastic_spheres_exchange_their_speeds) {
  VOLVOX_NEEDS_MOTION();
  VOLVOX_NEEDS("restitution");
  make_engine({.gravity = {}});
  Solid ball{model::Sphere{0.05}, 0.2, {{-0.4, 0, 0}, {}}, {{1.5, 0, 0}, {}}};
  ball.material = {0.0, 1.0};
  const BodyId first = add(ball);
  ball.pose.position.x = 0, ball.velocity = {};
  const BodyId second = add(ball);
  run(1);
  EXPECT_NEAR(velocity(first).linear.x, 0, 0.01);
  EXPECT_NEAR(velocity(second).linear.x, 1.5, 0.01);
}

TEST_P(Conformance, contacts_carry_the_weight) {
  VOLVOX_NEEDS_MOTION();
  const BodyId ground = add_ground();
  const BodyId box = add({model::Box{{0.2, 0.2, 0.2}}, 3, {{0, 0, 0.1}, {}}});
  run(1);
  std::vector<Contact> contacts;
  engine().contacts(contacts);
  ASSERT_FALSE(contacts.empty());
  double force = 0;
  for (const Contact& c : contacts) {
    EXPECT_TRUE((c.a == box && c.b == ground) || (c.a == ground && c.b == box));
    const double up = c.a == box ? c.normal.z : -c.normal.z;  // from b to a
    EXPECT_NEAR(up, 1, 1e-6);
    EXPECT_NEAR(c.point.z, 0, 1e-3);
    EXPECT_LE(std::fabs(c.point.x), 0.101);
    EXPECT_LT(c.depth, 1e-3);
    force += c.force;
  }
  EXPECT_NEAR(force, 3 * g, tolerance("contact_force") * 3 * g);
}

TEST_P(Conformance, fast_bodies_do_not_tunnel) {
  VOLVOX_NEEDS_MOTION();
  auto wall_mesh = std::make_shared<model::MeshData>();
  wall_mesh->vertices = {{0, -1, -1}, {0, 1, -1}, {0, 1, 1}, {0, -1, 1}};
  wall_mesh->triangles = {{0, 1, 2}, {0, 2, 3}};
  for (const model::Shape& wall : {model::Shape{model::Box{{0.005, 2, 2}}}, model::Shape{model::Mesh(wall_mesh)}}) {
    if (std::holds_alternative<model::Mesh>(wall) && !can("meshes")) continue;
    for (const bool compound : {false, true}) {
      for (const double speed : {20.0, 47.0, 100.0}) {
        make_engine({.gravity = {}});
        Solid solid{wall};
        solid.motion = Motion::fixed;
        add(solid);
        BodyDesc bullet = describe({model::Sphere{0.01}, 0.01, {{-1, 0.03, 0.05}, {}}, {{speed, 0, 0}, {}}});
        if (compound) {
          auto geometry = std::make_shared<model::Geometry>();
          geometry->colliders = {{"a", model::Sphere{0.01}, {{0, 0.01, 0}, {}}, {}},
                                 {"b", model::Box{{0.02, 0.02, 0.02}}, {{0, -0.01, 0}, {}}, {}}};
          bullet.geometry = geometry;
        }
        const BodyId body = add(bullet);
        run(0.5);
        EXPECT_LT(pose(body).position.x, 0.005) << "speed " << speed << ", compound " << compound;
      }
    }
  }
}

TEST_P(Conformance, fast_box_does_not_tunnel_through_a_moving_one) {
  VOLVOX_NEEDS_MOTION();
  make_engine({.gravity = {}});
  const BodyId wall = add({model::Box{{0.01, 0.5, 0.5}}, 5});
  const BodyId box =
      add({model::Box{{0.03, 0.03, 0.03}}, 0.1, {{-0.7, 0, 0}, Quat::rpy(0.3, 0.2, 0)}, {{40, 0, 0}, {}}});
  run(0.5);
  EXPECT_LT(pose(box).position.x, pose(wall).position.x);
}

TEST_P(Conformance, colliders_of_one_body_have_their_own_friction) {
  VOLVOX_NEEDS_MOTION();
  add_ground(1.0);
  BodyDesc sled = describe({model::Box{{0.2, 0.2, 0.1}}});
  auto geometry = std::make_shared<model::Geometry>();
  geometry->colliders = {{"rough", model::Box{{0.2, 0.2, 0.02}}, {{0, 0, 0.04}, {}}, {1.0, 0}},
                         {"slick", model::Box{{0.2, 0.2, 0.02}}, {{0, 0, -0.04}, {}}, {0.01, 0}}};
  sled.geometry = geometry;
  sled.pose.position = {0, 0, 0.05};
  sled.velocity.linear = {1, 0, 0};
  const BodyId slick_down = add(sled);
  sled.pose = {{0, 2, 0.05}, Quat::axis_angle({1, 0, 0}, pi)};
  const BodyId rough_down = add(sled);
  run(0.5);
  EXPECT_NEAR(velocity(slick_down).linear.x, 1 - 0.1 * g * 0.5, 0.03);
  EXPECT_LT(velocity(rough_down).linear.x, 0.01);
}

TEST_P(Conformance, owners_and_joints_keep_bodies_from_colliding) {
  VOLVOX_NEEDS_MOTION();
  make_engine({.gravity = {}});
  const auto overlapping = [&](double y, std::uint32_t owner_a, std::uint32_t owner_b, bool quiet) {
    BodyDesc desc = describe({model::Box{{0.2, 0.2, 0.2}}, 1, {{0, y, 0}, {}}});
    desc.quiet = quiet;
    desc.owner = owner_a;
    const BodyId a = add(desc);
    desc.owner = owner_b;
    desc.pose.position.x = 0.15;
    return std::pair{a, add(desc)};
  };
  const auto quiet = overlapping(0, 7, 7, true);
  const auto loud = overlapping(2, 7, 7, false);
  const auto strangers = overlapping(4, 7, 8, true);
  const auto nobody = overlapping(6, 0, 0, true);
  const auto jointed = overlapping(8, 1, 2, false);
  JointDesc hinge;
  hinge.type = JointType::ball;
  hinge.a = jointed.first, hinge.b = jointed.second;
  hinge.frame_a.position = {0.075, 0, 0}, hinge.frame_b.position = {-0.075, 0, 0};
  const JointId joint = engine().add_joint(hinge);
  run(1);
  const auto gap = [&](auto pair) { return pose(pair.second).position.x - pose(pair.first).position.x; };
  EXPECT_NEAR(gap(quiet), 0.15, 1e-9);
  EXPECT_NEAR(gap(jointed), 0.15, 1e-9);
  EXPECT_GT(gap(loud), 0.18);
  EXPECT_GT(gap(strangers), 0.18);
  EXPECT_GT(gap(nobody), 0.18);
  engine().remove_joint(joint);  // now they collide
  run(1);
  EXPECT_GT(gap(jointed), 0.18);
}

TEST_P(Conformance, joining_bodies_that_touch_ends_their_contact) {
  VOLVOX_NEEDS_MOTION();
  make_engine({.gravity = {}});
  const BodyId a = add({model::Box{{0.2, 0.2, 0.2}}});
  const BodyId b = add({model::Box{{0.2, 0.2, 0.2}}, 1, {{0.199, 0, 0}, {}}});
  run(1.0 / 30);
  JointDesc slide;
  slide.type = JointType::prismatic;
  slide.a = a, slide.b = b;
  slide.frame_a.rotation = slide.frame_b.rotation = Quat::between({0, 0, 1}, {1, 0, 0});
  engine().add_joint(slide);
  engine().set_body(a, {}, {});
  engine().set_body(b, {{0.15, 0, 0}, {}}, {});
  run(0.5);
  EXPECT_NEAR(pose(b).position.x - pose(a).position.x, 0.15, 1e-6);
}

TEST_P(Conformance, moving_platform_carries_and_pushes) {
  VOLVOX_NEEDS_MOTION();
  Solid platform{model::Box{{2, 2, 0.1}}, 1, {{0, 0, -0.05}, {}}, {{0.3, 0, 0}, {}}, Motion::kinematic};
  add(platform);
  const BodyId rider = add({model::Box{{0.1, 0.1, 0.1}}, 1, {{0, 0, 0.05}, {}}});
  run(2);
  EXPECT_NEAR(velocity(rider).linear.x, 0.3, 5e-3);
  EXPECT_NEAR(pose(rider).position.x, 0.6, 0.03);
}

}  // namespace volvox::physics::conformance
