#include "volvox/rays/ray_caster.h"
#include "volvox/base/index.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "volvox/base/random.h"
#include "volvox/rays/ray_shapes.h"

namespace volvox::rays {
namespace {

Vec3 any_direction(RandomStream& random) { return normalized(Vec3{random.normal(), random.normal(), random.normal()}); }
Vec3 any_place(RandomStream& random, double size) {
  return {random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size)};
}
Pose any_pose(RandomStream& random, double size) {
  return {any_place(random, size), Quat::axis_angle(any_direction(random), random.uniform(0, 3))};
}

// A bumpy square of 2 * n * n triangles, `size` long.
model::Mesh bumps(std::uint32_t n, double size, RandomStream& random) {
  auto mesh = std::make_shared<model::MeshData>();
  for (std::uint32_t j = 0; j <= n; ++j)
    for (std::uint32_t i = 0; i <= n; ++i)
      mesh->vertices.push_back({size * i / n - size / 2, size * j / n - size / 2, random.uniform(0, 2 * size / n)});
  for (std::uint32_t j = 0; j < n; ++j)
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t a = j * (n + 1) + i, b = a + 1, c = b + n + 1, d = a + n + 1;
      mesh->triangles.push_back({a, b, c});
      mesh->triangles.push_back({a, c, d});
    }
  return mesh;
}

model::HeightField hills(RandomStream& random) {
  auto field = std::make_shared<model::HeightFieldData>();
  field->columns = 17, field->rows = 9, field->size_x = 4, field->size_y = 2;
  for (std::uint32_t i = 0; i < field->columns * field->rows; ++i)
    field->heights.push_back(static_cast<float>(random.uniform(0, 0.4)));
  return field;
}

std::vector<model::Shape> every_shape(RandomStream& random) {
  auto hull = std::make_shared<model::HullData>();
  for (int i = 0; i < 30; ++i) hull->points.push_back(any_direction(random) * 0.4);
  return {model::Sphere{0.3}, model::Box{{0.5, 0.3, 0.8}}, model::Capsule{0.2, 0.6}, model::Cylinder{0.25, 0.7},
          model::Plane{},     model::Hull(hull),           bumps(12, 1.5, random),   hills(random)};
}

std::shared_ptr<const model::Geometry> one_shape(const model::Shape& shape, const Pose& pose = {}) {
  auto geometry = std::make_shared<model::Geometry>();
  geometry->colliders.push_back({"shape", shape, pose, {}});
  return geometry;
}

// The oracle: every body in turn, in closed form.
struct Everything {
  std::vector<RayCaster::Body> bodies;
  Hit cast(const Ray& ray) const {
    Hit best;
    double range = ray.range;
    for (std::uint32_t b = 0; b < bodies.size(); ++b) {
      if (bodies[b].owner != 0 && bodies[b].owner == ray.ignore_owner) continue;
      const Pose inverse = bodies[b].pose.inverse();
      const ShapeHit hit =
          RayGeometry(bodies[b].geometry).cast(inverse * ray.origin, inverse.rotation * ray.direction, range);
      if (hit.distance < 0 || (best.hit() && hit.distance >= range)) continue;
      range = hit.distance;
      best = {hit.distance, b, 0, bodies[b].pose.rotation * hit.normal};
    }
    return best;
  }
};

Everything everything(RandomStream& random, int copies) {
  Everything all;
  std::uint32_t owner = 0;
  for (int i = 0; i < copies; ++i)
    for (const model::Shape& shape : every_shape(random)) {
      Pose pose = any_pose(random, 3);
      if (std::holds_alternative<model::Plane>(shape)) pose = {{0, 0, -4}, pose.rotation};
      all.bodies.push_back({one_shape(shape, any_pose(random, 0.2)), pose, ++owner, i % 2 == 1});
    }
  return all;
}

void fill(RayCaster& caster, const Everything& all) {
  for (const RayCaster::Body& body : all.bodies) caster.add(body);
  caster.update();
}

std::vector<Ray> some_rays(RandomStream& random, int count) {
  std::vector<Ray> rays;
  for (int i = 0; i < count; ++i) {
    // Fans, and single ones in between.
    const Vec3 origin = i % 16 < 12 && i % 16 > 0 ? rays.back().origin : any_place(random, 4);
    rays.push_back(
        {origin, any_direction(random), random.uniform(1, 12), narrow<std::uint32_t>(i % 5 == 0 ? 1 + i % 7 : 0)});
  }
  return rays;
}

void expect_same(const Hit& hit, const Hit& other, double tolerance, std::size_t i) {
  ASSERT_EQ(hit.hit(), other.hit()) << "ray " << i;
  if (!hit.hit()) return;
  EXPECT_NEAR(hit.distance, other.distance, tolerance) << "ray " << i;
  EXPECT_EQ(hit.body, other.body) << "ray " << i;
  EXPECT_LT(length(hit.normal - other.normal), 1e-6) << "ray " << i;
}

TEST(RayCaster, hits_every_shape_where_the_closed_forms_do) {
  RandomStream random(1, 0, "rays");
  Everything all = everything(random, 4);
  RayCaster caster;
  fill(caster, all);
  const std::vector<Ray> rays = some_rays(random, 4000);
  std::vector<Hit> hits(rays.size());
  caster.cast(rays, hits);
  int hit = 0;
  for (std::size_t i = 0; i < rays.size(); ++i) {
    expect_same(hits[i], all.cast(rays[i]), 1e-9, i);
    hit += hits[i].hit();
  }
  EXPECT_GT(hit, 1000);
}

TEST(RayCaster, follows_what_moves) {
  RandomStream random(2, 0, "rays");
  Everything all = everything(random, 2);
  RayCaster caster;
  fill(caster, all);
  for (int tick = 0; tick < 5; ++tick) {
    for (std::uint32_t b = 0; b < all.bodies.size(); ++b) {
      if (!all.bodies[b].moves && tick != 3) continue;  // and once even what should not
      all.bodies[b].pose = any_pose(random, 3);
      caster.place(b, all.bodies[b].pose);
    }
    caster.update();
    const std::vector<Ray> rays = some_rays(random, 400);
    std::vector<Hit> hits(rays.size());
    caster.cast(rays, hits);
    for (std::size_t i = 0; i < rays.size(); ++i) expect_same(hits[i], all.cast(rays[i]), 1e-9, i);
  }
}

// The same bits, however many threads share the work and whichever rays are packed together.
TEST(RayCaster, gives_the_same_bits_at_any_thread_count_and_in_any_packet) {
  RandomStream random(3, 0, "rays");
  const Everything all = everything(random, 3);
  RayCaster caster;
  fill(caster, all);
  const std::vector<Ray> rays = some_rays(random, 3000);
  std::vector<Hit> alone(rays.size()), together(rays.size());
  for (std::size_t i = 0; i < rays.size(); ++i) caster.cast({&rays[i], 1}, {&alone[i], 1});
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    caster.cast(rays, together, &pool);
    for (std::size_t i = 0; i < rays.size(); ++i) {
      EXPECT_EQ(alone[i].distance, together[i].distance) << i;
      EXPECT_EQ(alone[i].body, together[i].body) << i;
      EXPECT_EQ(alone[i].triangle, together[i].triangle) << i;
      EXPECT_EQ(alone[i].normal, together[i].normal) << i;
    }
  }
}

// Aimed at corners and edges, where single precision cannot tell the neighbours apart.
TEST(RayCaster, no_ray_slips_between_two_triangles) {
  RandomStream random(4, 0, "rays");
  const model::Mesh mesh = bumps(40, 4, random);
  const Everything all{{{one_shape(mesh), any_pose(random, 5), 0, false}}};
  RayCaster caster;
  fill(caster, all);
  std::vector<Ray> rays;
  for (const auto& [i, j, k] : mesh->triangles) {
    const Vec3 a = mesh->vertices[i], b = mesh->vertices[j], inner = a + (b - a) * random.uniform();
    for (const Vec3& target : {a, inner}) {
      if (std::fabs(target.x) > 1.99 || std::fabs(target.y) > 1.99) continue;  // the border may be missed
      const Vec3 from = all.bodies[0].pose * (Vec3{random.uniform(-1, 1), random.uniform(-1, 1), 2} + target);
      rays.push_back({from, normalized(all.bodies[0].pose * target - from), 10, 0});
    }
  }
  std::vector<Hit> packed(rays.size());
  caster.cast(rays, packed);
  for (std::size_t i = 0; i < rays.size(); ++i) {
    Hit alone;
    caster.cast({&rays[i], 1}, {&alone, 1});
    EXPECT_EQ(alone.distance, packed[i].distance);
    const Hit expected = all.cast(rays[i]);
    ASSERT_TRUE(packed[i].hit()) << i;
    EXPECT_NEAR(packed[i].distance, expected.distance, 1e-9) << i;
  }
}

TEST(RayCaster, a_ray_from_the_very_surface_of_a_mesh_hits_it) {
  RandomStream random(5, 0, "rays");
  auto flat = std::make_shared<model::MeshData>();
  flat->vertices = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
  flat->triangles = {{0, 1, 2}, {0, 2, 3}};
  RayCaster caster;
  caster.add({one_shape(model::Mesh(flat)), {{0.3, 0.2, 0.7}, {}}, 0, false});
  caster.update();
  for (const double height : {0.0, 1e-9, 1e-7, 1e-5}) {
    const Ray down{{0.4, 0.1, 0.7 + height}, {0, 0, -1}, 1, 0}, up{{0.4, 0.1, 0.7 + height}, {0, 0, 1}, 1, 0};
    Hit hit;
    caster.cast({&down, 1}, {&hit, 1});
    EXPECT_NEAR(hit.distance, height, 1e-9);
    caster.cast({&up, 1}, {&hit, 1});
    EXPECT_EQ(hit.hit(), height == 0) << height;
  }
}

// Of few triangles, of many in one place, and of ones that shrink towards a point: no tree suits them.
TEST(RayCaster, meshes_of_any_kind_are_hit) {
  RandomStream random(6, 0, "rays");
  std::vector<model::Mesh> meshes;
  const auto fan_of = [&](int count, const auto& place_and_size) {
    auto mesh = std::make_shared<model::MeshData>();
    for (int i = 0; i < count; ++i) {
      const auto [place, size] = place_and_size(i);
      const auto first = narrow<std::uint32_t>(mesh->vertices.size());
      for (int corner = 0; corner < 3; ++corner) mesh->vertices.push_back(place + any_place(random, size));
      mesh->triangles.push_back({first, first + 1, first + 2});
    }
    meshes.push_back(mesh);
  };
  for (int count = 1; count < 18; ++count) fan_of(count, [&](int) { return std::pair(any_place(random, 1), 0.7); });
  fan_of(3000, [&](int i) { return std::pair(any_place(random, 1) * std::pow(0.9, i), std::pow(0.9, i)); });
  fan_of(1, [&](int) { return std::pair(Vec3{}, 1.0); });
  auto copies = std::make_shared<model::MeshData>(*meshes.back());
  for (int i = 0; i < 20'000; ++i) copies->triangles.push_back(copies->triangles.front());
  meshes.push_back(copies);
  int hit = 0;
  for (const model::Mesh& mesh : meshes) {
    const Everything all{{{one_shape(mesh), any_pose(random, 1), 0, false}}};
    RayCaster caster;
    fill(caster, all);
    std::vector<Ray> rays = some_rays(random, 64);
    for (Ray& ray : rays) {  // at some triangle
      const auto& [a, b, c] = mesh->triangles[truncated<std::size_t>(random.uniform() * real(mesh->triangles.size()))];
      const Vec3 target = (mesh->vertices[a] + mesh->vertices[b] + mesh->vertices[c]) / 3;
      ray.direction = normalized(all.bodies[0].pose * target - ray.origin);
    }
    std::vector<Hit> hits(rays.size());
    caster.cast(rays, hits);
    for (std::size_t i = 0; i < rays.size(); ++i) {
      expect_same(hits[i], all.cast(rays[i]), 1e-9, i);
      hit += hits[i].hit();
      EXPECT_TRUE(mesh != copies || !hits[i].hit() || hits[i].triangle == 0) << "of several at one distance the first";
    }
  }
  EXPECT_GT(hit, 500);
}

// The nearest of all triangles, by the arithmetic that decision 0080 fixes.
Hit exact_hit(const model::MeshData& mesh, const Ray& ray) {
  Hit best;
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto& [i, j, k] = mesh.triangles[t];
    const Vec3 a = mesh.vertices[i], ab = mesh.vertices[j] - a, ac = mesh.vertices[k] - a;
    const Vec3 p = cross(ray.direction, ac), s = ray.origin - a, q = cross(s, ab);
    const double inverse = 1 / dot(ab, p);
    const TriangleMeeting met{dot(ac, q) * inverse, dot(s, p) * inverse, dot(ray.direction, q) * inverse};
    if (!met.inside() || !(met.distance >= 0) || met.distance > ray.range) continue;
    if (!best.hit() || met.distance < best.distance) best = {met.distance, 0, t, {}};
  }
  return best;
}

// Rays that stay together, that part, and whose origins differ; on trees of all sizes, alone and among other bodies.
TEST(RayCaster, packets_hit_exactly_what_every_triangle_tried_in_turn_gives) {
  RandomStream random(7, 0, "rays");
  for (const std::uint32_t n : {1u, 4u, 40u, 300u}) {
    const model::Mesh mesh = bumps(n, 4, random);
    for (const bool crowded : {false, true}) {
      RayCaster caster;
      caster.add({one_shape(mesh), {}, 0, false});
      for (int i = 0; crowded && i < 5; ++i)
        caster.add({one_shape(model::Sphere{0.1}), {{100.0 + i, 0, 0}, {}}, 0, false});
      caster.update();
      std::vector<Ray> rays;
      for (int fan = 0; fan < (n > 100 ? 4 : 40); ++fan) {
        const Vec3 origin{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(0.5, 20)}, down{0, 0, -1};
        const double spread = fan % 4 == 0 ? 0.001 : fan % 4 == 1 ? 0.1 : 1.5;
        for (int i = 0; i < 8; ++i) {
          const Vec3 apart = fan % 4 == 3 ? any_place(random, 0.2) : Vec3{};
          rays.push_back({origin + apart, normalized(down + any_place(random, spread)), random.uniform(1, 40), 0});
        }
      }
      std::vector<Hit> hits(rays.size());
      caster.cast(rays, hits);
      for (std::size_t i = 0; i < rays.size(); ++i) {
        const Hit expected = exact_hit(*mesh, rays[i]);
        EXPECT_EQ(hits[i].distance, expected.distance) << n << " " << i;
        EXPECT_EQ(hits[i].triangle, expected.triangle) << n << " " << i;
      }
    }
  }
}

TEST(RayCaster, an_empty_world_and_no_rays_are_no_trouble) {
  RayCaster caster;
  caster.add({nullptr, {}, 0, true});
  caster.update();
  caster.cast({}, {});
  const Ray ray{{}, {1, 0, 0}, 5, 0};
  Hit hit;
  caster.cast({&ray, 1}, {&hit, 1});
  EXPECT_FALSE(hit.hit());
}

}  // namespace
}  // namespace volvox::rays
