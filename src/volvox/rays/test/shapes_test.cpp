// Rays against every shape, from outside, with the normal of what they hit.
#include <gtest/gtest.h>

#include <cmath>

#include "volvox/rays/ray_caster.h"

namespace volvox::rays {
namespace {

constexpr double exact = 1e-9, on_surface = 1e-6;  // m

class Rays : public testing::Test {
 protected:
  Hit cast(const Vec3& origin, const Vec3& direction, double range = 100, std::uint32_t ignore = 0) {
    caster_.update();
    const Ray ray{origin, normalized(direction), range, ignore};
    Hit hit;
    caster_.cast({&ray, 1}, {&hit, 1});
    return hit;
  }
  void expect_hit(const Hit& hit, std::uint32_t body, double distance, const Vec3& normal, double allowed = exact) {
    ASSERT_TRUE(hit.hit());
    EXPECT_EQ(hit.body, body);
    EXPECT_NEAR(hit.distance, distance, allowed);
    EXPECT_LT(length(hit.normal - normal), 1e-6);
  }
  std::uint32_t add(const model::Shape& shape, const Pose& pose = {}, std::uint32_t owner = 0) {
    auto geometry = std::make_shared<model::Geometry>();
    geometry->colliders.push_back({"shape", shape, {}, {}});
    return caster_.add({geometry, pose, owner, false});
  }
  static model::Hull hull_of(std::vector<Vec3> points) {
    auto hull = std::make_shared<model::HullData>();
    hull->points = std::move(points);
    return hull;
  }

 private:
  RayCaster caster_;
};

TEST_F(Rays, hit_a_sphere) {
  const std::uint32_t body = add(model::Sphere{0.5}, {{2, 0, 0}, {}});
  expect_hit(cast({}, {1, 0, 0}), body, 1.5, {-1, 0, 0});
  const double away = 2 - std::sqrt(0.25 - 0.09);
  expect_hit(cast({0, 0.3, 0}, {1, 0, 0}), body, away, normalized(Vec3{away - 2, 0.3, 0}));
  EXPECT_FALSE(cast({0, 0.51, 0}, {1, 0, 0}).hit());
  EXPECT_FALSE(cast({}, {-1, 0, 0}).hit());
  EXPECT_FALSE(cast({}, {1, 0, 0}, 1.4).hit());
  EXPECT_FALSE(cast({2, 0, 0}, {1, 0, 0}).hit()) << "it starts inside";
}

TEST_F(Rays, hit_a_box) {
  const std::uint32_t body = add(model::Box{{0.4, 0.6, 0.8}}, {{1, 2, 3}, Quat::axis_angle({0, 0, 1}, pi / 4)});
  const Vec3 face = Quat::axis_angle({0, 0, 1}, pi / 4) * Vec3{1, 0, 0};
  expect_hit(cast(Vec3{1, 2, 3} + face * 5, -face), body, 4.8, face);
  expect_hit(cast({1, 2, 9}, {0, 0, -1}), body, 5.6, {0, 0, 1});
  EXPECT_FALSE(cast({1, 2, 9}, {0, 0.1, -1}).hit());
}

TEST_F(Rays, hit_a_capsule) {
  const std::uint32_t body = add(model::Capsule{0.2, 0.6});
  expect_hit(cast({3, 0, 0.1}, {-1, 0, 0}), body, 2.8, {1, 0, 0});
  expect_hit(cast({0, 0, 3}, {0, 0, -1}), body, 2.5, {0, 0, 1});
  const double half = std::sqrt(0.04 - 0.01);  // 0.1 above the centre of the cap
  expect_hit(cast({3, 0, 0.4}, {-1, 0, 0}), body, 3 - half, normalized(Vec3{half, 0, 0.1}));
}

TEST_F(Rays, hit_a_cylinder) {
  const std::uint32_t body = add(model::Cylinder{0.2, 0.6});
  expect_hit(cast({3, 0.1, 0.1}, {-1, 0, 0}), body, 3 - std::sqrt(0.03), normalized(Vec3{std::sqrt(0.03), 0.1, 0}));
  expect_hit(cast({0.1, 0.1, 3}, {0, 0, -1}), body, 2.7, {0, 0, 1});
  EXPECT_FALSE(cast({0.15, 0.15, 3}, {0, 0, -1}).hit());
  EXPECT_FALSE(cast({3, 0, 0.31}, {-1, 0, 0}).hit());
}

TEST_F(Rays, hit_a_hull) {
  const std::uint32_t body = add(hull_of({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}}));
  const Vec3 n = normalized(Vec3{1, 1, 1});
  expect_hit(cast({2, 2, 2}, {-1, -1, -1}), body, length(Vec3{2, 2, 2}) - 1 / std::sqrt(3.0), n);
  expect_hit(cast({0.2, 0.3, -4}, {0, 0, 1}), body, 4, {0, 0, -1});
  EXPECT_FALSE(cast({0.6, 0.6, -4}, {0, 0, 1}).hit());
}

TEST_F(Rays, hit_a_hull_of_many_points) {
  std::vector<Vec3> points;
  for (int i = 0; i < 24; ++i) {
    const double a = 2 * pi * i / 24;
    for (const double z : {-0.1, 0.0, 0.1}) points.push_back({0.3 * std::cos(a), 0.3 * std::sin(a), z});
  }
  points.push_back({});  // inside
  const std::uint32_t body = add(hull_of(points), {{0, 0, 1}, {}});
  expect_hit(cast({0.05, 0.02, 5}, {0, 0, -1}), body, 3.9, {0, 0, 1});
  const double middle = pi / 24, flat = 0.3 * std::cos(middle);
  const Vec3 out{std::cos(middle), std::sin(middle), 0};
  expect_hit(cast(out * 2 + Vec3{0, 0, 1.05}, -out), body, 2 - flat, out);
}

TEST_F(Rays, hit_a_plane) {
  const std::uint32_t body = add(model::Plane{{0, 0, 1}}, {{0, 0, 0.5}, {}});
  expect_hit(cast({3, 4, 2.5}, {1, 0, -1}), body, 2 * std::sqrt(2.0), {0, 0, 1});
  EXPECT_FALSE(cast({0, 0, 2}, {0, 0, 1}).hit());
  EXPECT_FALSE(cast({0, 0, 0}, {0, 0, 1}).hit()) << "it starts below";
}

TEST_F(Rays, hit_a_mesh_from_both_sides) {
  auto mesh = std::make_shared<model::MeshData>();
  mesh->vertices = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
  mesh->triangles = {{0, 1, 2}, {0, 2, 3}};
  const std::uint32_t body = add(model::Mesh(mesh), {{0, 0, 1}, {}});
  expect_hit(cast({0.3, -0.2, 4}, {0, 0, -1}), body, 3, {0, 0, 1}, on_surface);
  expect_hit(cast({0.3, -0.2, -4}, {0, 0, 1}), body, 5, {0, 0, -1}, on_surface);
  expect_hit(cast({0.5, 0.5, 4}, {0, 0, -1}), body, 3, {0, 0, 1}, on_surface);  // on the seam
  EXPECT_FALSE(cast({1.1, 0, 4}, {0, 0, -1}).hit());
}

TEST_F(Rays, hit_a_height_field_where_its_surface_is) {
  auto field = std::make_shared<model::HeightFieldData>();
  field->columns = 9, field->rows = 6;
  field->size_x = 4, field->size_y = 5;
  for (std::uint32_t i = 0; i < field->columns * field->rows; ++i) {
    field->heights.push_back(static_cast<float>(0.3 + 0.25 * std::sin(i * 1.7)));
  }
  const std::uint32_t body = add(model::HeightField(field), {{1, 2, 0.5}, {}});
  for (int i = 0; i < 400; ++i) {
    // Over the whole field, none on a seam.
    const double x = -1.95 + 3.9 * std::fmod(i * 0.61803398875, 1), y = -2.45 + 4.9 * std::fmod(i * 0.7548776662, 1);
    const Hit hit = cast({x + 1, y + 2, 5}, {0, 0, -1});
    ASSERT_TRUE(hit.hit()) << x << ' ' << y;
    EXPECT_EQ(hit.body, body);
    EXPECT_NEAR(5 - hit.distance, field->height_at(x, y) + 0.5, on_surface) << x << ' ' << y;
    EXPECT_GT(hit.normal.z, 0);
  }
  EXPECT_FALSE(cast({3.1, 2, 5}, {0, 0, -1}).hit());
  const Hit slanted = cast({-6, 2.1, 1}, {1, 0.02, -0.02});
  ASSERT_TRUE(slanted.hit());
  const Vec3 p = Vec3{-6, 2.1, 1} + normalized(Vec3{1, 0.02, -0.02}) * slanted.distance;
  EXPECT_NEAR(p.z - 0.5, field->height_at(p.x - 1, p.y - 2), 1e-4);
}

TEST_F(Rays, see_the_nearest_and_ignore_an_owner) {
  const std::uint32_t near = add(model::Sphere{0.2}, {{1, 0, 0}, {}}, 5);
  const std::uint32_t far = add(model::Sphere{0.2}, {{2, 0, 0}, {}}, 6);
  EXPECT_EQ(cast({}, {1, 0, 0}).body, near);
  EXPECT_EQ(cast({}, {1, 0, 0}, 100, 5).body, far);
  EXPECT_EQ(cast({}, {1, 0, 0}, 100, 7).body, near);
  EXPECT_FALSE(cast({}, {1, 0, 0}, 1.5, 5).hit());
}

TEST_F(Rays, end_at_their_range) {
  add(model::Plane{});
  for (const double height : {1.0, 3.99, 4.01, 6.0}) EXPECT_EQ(cast({0, 0, height}, {0, 0, -1}, 4).hit(), height < 4);
}

}  // namespace
}  // namespace volvox::rays
