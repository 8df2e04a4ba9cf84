// Rays: against every shape, from outside, with the normal of what they hit.
#include <cmath>

#include "volvox/physics/conformance/suite.h"

namespace volvox::physics::conformance {

class Rays : public Conformance {
 protected:
  RayHit cast(const Vec3& origin, const Vec3& direction, double range = 100, std::uint32_t ignore = 0) {
    const Ray ray{origin, normalized(direction), range, ignore};
    RayHit hit;
    engine().cast_rays({&ray, 1}, {&hit, 1});
    return hit;
  }
  void expect_hit(const RayHit& hit, BodyId body, double distance, const Vec3& normal, double allowed) {
    ASSERT_TRUE(hit.hit());
    EXPECT_EQ(hit.body, body);
    EXPECT_NEAR(hit.distance, distance, allowed);
    EXPECT_LT(length(hit.normal - normal), 1e-4);
  }
  BodyId add_fixed(const model::Shape& shape, const Pose& pose = {}) {
    Solid solid{shape};
    solid.pose = pose;
    solid.motion = Motion::fixed;
    return add(solid);
  }
};

VOLVOX_FOR_EVERY_ENGINE(Rays);

TEST_P(Rays, hit_a_sphere) {
  const BodyId body = add_fixed(model::Sphere{0.5}, {{2, 0, 0}, {}});
  expect_hit(cast({}, {1, 0, 0}), body, 1.5, {-1, 0, 0}, tolerance("ray_m"));
  const double away = 2 - std::sqrt(0.25 - 0.09);
  expect_hit(cast({0, 0.3, 0}, {1, 0, 0}), body, away, normalized(Vec3{away - 2, 0.3, 0}), tolerance("ray_m"));
  EXPECT_FALSE(cast({0, 0.51, 0}, {1, 0, 0}).hit());
  EXPECT_FALSE(cast({}, {-1, 0, 0}).hit());
  EXPECT_FALSE(cast({}, {1, 0, 0}, 1.4).hit());
  EXPECT_FALSE(cast({2, 0, 0}, {1, 0, 0}).hit()) << "it starts inside";
}

TEST_P(Rays, hit_a_box) {
  const BodyId body = add_fixed(model::Box{{0.4, 0.6, 0.8}}, {{1, 2, 3}, Quat::axis_angle({0, 0, 1}, pi / 4)});
  const Vec3 face = Quat::axis_angle({0, 0, 1}, pi / 4) * Vec3{1, 0, 0};
  expect_hit(cast(Vec3{1, 2, 3} + face * 5, -face), body, 4.8, face, tolerance("ray_m"));
  expect_hit(cast({1, 2, 9}, {0, 0, -1}), body, 5.6, {0, 0, 1}, tolerance("ray_m"));
  EXPECT_FALSE(cast({1, 2, 9}, {0, 0.1, -1}).hit());
}

TEST_P(Rays, hit_a_capsule) {
  const BodyId body = add_fixed(model::Capsule{0.2, 0.6});
  expect_hit(cast({3, 0, 0.1}, {-1, 0, 0}), body, 2.8, {1, 0, 0}, tolerance("ray_m"));
  expect_hit(cast({0, 0, 3}, {0, 0, -1}), body, 2.5, {0, 0, 1}, tolerance("ray_m"));
  const double half = std::sqrt(0.04 - 0.01);  // 0.1 above the centre of the cap
  expect_hit(cast({3, 0, 0.4}, {-1, 0, 0}), body, 3 - half, normalized(Vec3{half, 0, 0.1}), tolerance("ray_m"));
}

TEST_P(Rays, hit_a_cylinder) {
  const BodyId body = add_fixed(model::Cylinder{0.2, 0.6});
  expect_hit(cast({3, 0.1, 0.1}, {-1, 0, 0}), body, 3 - std::sqrt(0.03), normalized(Vec3{std::sqrt(0.03), 0.1, 0}),
             tolerance("ray_m"));
  expect_hit(cast({0.1, 0.1, 3}, {0, 0, -1}), body, 2.7, {0, 0, 1}, tolerance("ray_m"));
  EXPECT_FALSE(cast({0.15, 0.15, 3}, {0, 0, -1}).hit());
  EXPECT_FALSE(cast({3, 0, 0.31}, {-1, 0, 0}).hit());
}

TEST_P(Rays, hit_a_hull) {
  const BodyId body = add_fixed(make_hull({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}}));
  const Vec3 n = normalized(Vec3{1, 1, 1});
  expect_hit(cast({2, 2, 2}, {-1, -1, -1}), body, length(Vec3{2, 2, 2}) - 1 / std::sqrt(3.0), n, tolerance("ray_m"));
  expect_hit(cast({0.2, 0.3, -4}, {0, 0, 1}), body, 4, {0, 0, -1}, tolerance("ray_m"));
  EXPECT_FALSE(cast({0.6, 0.6, -4}, {0, 0, 1}).hit());
}

TEST_P(Rays, hit_a_hull_of_many_points) {
  std::vector<Vec3> points;
  for (int i = 0; i < 24; ++i) {
    const double a = 2 * pi * i / 24;
    for (const double z : {-0.1, 0.0, 0.1}) points.push_back({0.3 * std::cos(a), 0.3 * std::sin(a), z});
  }
  points.push_back({});  // inside
  const BodyId body = add_fixed(make_hull(points), {{0, 0, 1}, {}});
  expect_hit(cast({0.05, 0.02, 5}, {0, 0, -1}), body, 3.9, {0, 0, 1}, tolerance("ray_m"));
  const double middle = pi / 24, flat = 0.3 * std::cos(middle);
  const Vec3 out{std::cos(middle), std::sin(middle), 0};
  expect_hit(cast(out * 2 + Vec3{0, 0, 1.05}, -out), body, 2 - flat, out, tolerance("ray_m"));
}

TEST_P(Rays, hit_a_plane) {
  const BodyId body = add_fixed(model::Plane{{0, 0, 1}}, {{0, 0, 0.5}, {}});
  expect_hit(cast({3, 4, 2.5}, {1, 0, -1}), body, 2 * std::sqrt(2.0), {0, 0, 1}, tolerance("ray_m"));
  EXPECT_FALSE(cast({0, 0, 2}, {0, 0, 1}).hit());
  EXPECT_FALSE(cast({0, 0, 0}, {0, 0, 1}).hit()) << "it starts below";
}

TEST_P(Rays, hit_a_mesh_from_both_sides) {
  VOLVOX_NEEDS("meshes");
  auto mesh = std::make_shared<model::MeshData>();
  mesh->vertices = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
  mesh->triangles = {{0, 1, 2}, {0, 2, 3}};
  const BodyId body = add_fixed(model::Mesh(mesh), {{0, 0, 1}, {}});
  expect_hit(cast({0.3, -0.2, 4}, {0, 0, -1}), body, 3, {0, 0, 1}, tolerance("ray_surface_m"));
  expect_hit(cast({0.3, -0.2, -4}, {0, 0, 1}), body, 5, {0, 0, -1}, tolerance("ray_surface_m"));
  expect_hit(cast({0.5, 0.5, 4}, {0, 0, -1}), body, 3, {0, 0, 1}, tolerance("ray_surface_m"));  // on the seam
  EXPECT_FALSE(cast({1.1, 0, 4}, {0, 0, -1}).hit());
}

TEST_P(Rays, hit_a_height_field_where_its_surface_is) {
  auto field = std::make_shared<model::HeightFieldData>();
  field->columns = 9, field->rows = 6;
  field->size_x = 4, field->size_y = 5;
  for (std::uint32_t i = 0; i < field->columns * field->rows; ++i) {
    field->heights.push_back(static_cast<float>(0.3 + 0.25 * std::sin(i * 1.7)));
  }
  const BodyId body = add_fixed(model::HeightField(field), {{1, 2, 0.5}, {}});
  for (int i = 0; i < 400; ++i) {
    // Over the whole field, none on a seam.
    const double x = -1.95 + 3.9 * std::fmod(i * 0.61803398875, 1), y = -2.45 + 4.9 * std::fmod(i * 0.7548776662, 1);
    const RayHit hit = cast({x + 1, y + 2, 5}, {0, 0, -1});
    ASSERT_TRUE(hit.hit()) << x << ' ' << y;
    EXPECT_EQ(hit.body, body);
    EXPECT_NEAR(5 - hit.distance, field->height_at(x, y) + 0.5, tolerance("ray_surface_m")) << x << ' ' << y;
    EXPECT_GT(hit.normal.z, 0);
  }
  EXPECT_FALSE(cast({3.1, 2, 5}, {0, 0, -1}).hit());
  const RayHit slanted = cast({-6, 2.1, 1}, {1, 0.02, -0.02});
  ASSERT_TRUE(slanted.hit());
  const Vec3 p = Vec3{-6, 2.1, 1} + normalized(Vec3{1, 0.02, -0.02}) * slanted.distance;
  EXPECT_NEAR(p.z - 0.5, field->height_at(p.x - 1, p.y - 2), 1e-4);
}

TEST_P(Rays, see_the_nearest_and_ignore_an_owner) {
  Solid solid{model::Sphere{0.2}};
  solid.motion = Motion::fixed;
  solid.pose.position = {1, 0, 0}, solid.owner = 5;
  const BodyId near = add(solid);
  solid.pose.position = {2, 0, 0}, solid.owner = 6;
  const BodyId far = add(solid);
  EXPECT_EQ(cast({}, {1, 0, 0}).body, near);
  EXPECT_EQ(cast({}, {1, 0, 0}, 100, 5).body, far);
  EXPECT_EQ(cast({}, {1, 0, 0}, 100, 7).body, near);
  EXPECT_FALSE(cast({}, {1, 0, 0}, 1.5, 5).hit());
  engine().remove_body(near);
  EXPECT_EQ(cast({}, {1, 0, 0}).body, far);
}

TEST_P(Rays, follow_bodies_that_are_placed) {
  BodyDesc desc = describe({model::Box{{0.2, 0.2, 0.2}}});
  desc.inertial = {{0.3, 0, 0}, Quat::rpy(1, 0, 0)};  // the shape stays with the link's frame
  const BodyId body = add(desc);
  engine().set_body(body, {{0, 0, 4}, {}}, {});
  expect_hit(cast({0, 0, 9}, {0, 0, -1}), body, 4.9, {0, 0, 1}, tolerance("ray_m"));
  EXPECT_FALSE(cast({2, 0, 0}, {-1, 0, 0}).hit());
}

TEST_P(Rays, come_in_batches) {
  add_fixed(model::Plane{});
  std::vector<Ray> rays(500);
  std::vector<RayHit> hits(rays.size());
  for (std::size_t i = 0; i < rays.size(); ++i) rays[i] = {{0, 0, 1 + 0.01 * static_cast<double>(i)}, {0, 0, -1}, 4};
  engine().cast_rays(rays, hits);
  for (std::size_t i = 0; i < rays.size(); ++i) {
    const double height = 1 + 0.01 * static_cast<double>(i);
    if (std::fabs(height - 4) < 1e-6) continue;
    EXPECT_EQ(hits[i].hit(), height < 4);
    if (hits[i].hit()) {
      EXPECT_NEAR(hits[i].distance, height, tolerance("ray_m"));
    }
  }
}

}  // namespace volvox::physics::conformance
