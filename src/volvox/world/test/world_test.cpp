#include "volvox/world/world.h"

#include <gtest/gtest.h>

#include "cubes.h"

namespace volvox::world {
namespace {

model::HeightField slope() {
  auto field = std::make_shared<model::HeightFieldData>();
  field->columns = field->rows = 5;
  field->size_x = field->size_y = 4;
  for (int i = 0; i < 25; ++i) field->heights.push_back(static_cast<float>(0.1 * (i % 5)));
  return field;
}

TEST(World, ObstaclesOfEveryShapeAreBuilt) {
  model::WorldBuilder builder("shapes");
  builder.add_ground();
  auto hull = std::make_shared<model::HullData>();
  hull->points = {{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}};
  auto mesh = std::make_shared<model::MeshData>();
  mesh->vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  mesh->triangles = {{0, 1, 2}};
  const model::Shape shapes[] = {model::Sphere{0.1}, model::Box{{0.1, 0.2, 0.3}}, model::Capsule{0.05, 0.1},
                                 model::Cylinder{0.05, 0.1}, model::Hull(hull)};
  int i = 0;
  for (const model::Shape& shape : shapes)
    for (const double mass : {0.0, 1.0}) builder.add_obstacle(shape, {{0.5 * ++i, 0, 0.5}, {}}, mass);
  builder.add_obstacle(model::Mesh(mesh), {{0, 3, 0.2}, {}});
  builder.add_terrain(slope(), {{0, -5, 0}, {}});
  Bench bench(builder);
  bench.tick(30);
  EXPECT_EQ(bench.world().placements(), 13u);
  EXPECT_TRUE(bench.world().modules().empty());
}

TEST(World, AMovingMeshIsRefusedWithAReason) {
  model::WorldBuilder builder("mesh");
  auto mesh = std::make_shared<model::MeshData>();
  mesh->vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  mesh->triangles = {{0, 1, 2}, {0, 1, 3}};
  model::ModuleModel moving = cube();
  moving.links[0].geometry = std::make_shared<model::Geometry>(model::Geometry{{{"mesh", model::Mesh(mesh), {}, {}}}});
  builder.add(share(moving), Pose{}, "m");
  const auto world = make_world(builder);
  ASSERT_FALSE(world.ok());
  EXPECT_NE(world.error().text().find("'body' of 'm'"), std::string::npos) << world.error().text();
}

TEST(World, ModulesLandOnTerrain) {
  model::WorldBuilder builder("terrain");
  builder.add_terrain(slope(), {}, {1.0, 0.0});
  builder.add(share(cube()), Pose{{0.0, 0, 0.30}, {}}, "m");
  Bench bench(builder);
  bench.tick(180);
  const Vec3 p = bench.world().link_pose(1).position;
  const double ground = slope()->height_at(p.x, p.y);
  EXPECT_GT(p.z, ground + 0.03);
  EXPECT_LT(p.z, ground + 0.08);
}

TEST(World, ASnapshotWithChangedDocksGoesOnAlike) {
  const auto make = [] {
    model::WorldBuilder builder("snapshot");
    builder.set_gravity({});
    const auto model = share(cube());
    builder.add_chain(model, 3, "east", "west", 0, Pose{}, "m");
    model::PlacementOptions options;
    options.velocity.linear = {-0.2, 0, 0};
    builder.add(model, Pose{{0.34, 0, 0}, {}}, "late", options);
    return Bench(builder);
  };
  const auto hash = [](World& world) {
    HashArchive ar;
    world.archive(ar);
    return ar.value();
  };
  Bench one = make();
  one.world().enable_dock(one.dock("m0", "east"), false);  // one dock lets go ...
  one.tick(20);                                            // ... and another one forms
  ASSERT_EQ(one.world().docks_released(), 1);
  ASSERT_EQ(one.world().docks_formed(), 1);
  SaveArchive save;
  one.world().archive(save);

  Bench two = make();
  LoadArchive load(save.bytes());
  two.world().archive(load);
  two.start_at(20);
  ASSERT_TRUE(load.ok()) << load.failure();
  EXPECT_EQ(load.remaining(), 0u);
  EXPECT_EQ(hash(one.world()), hash(two.world()));
  one.tick(60);
  two.tick(60);
  EXPECT_EQ(hash(one.world()), hash(two.world()));
  EXPECT_EQ(two.world().graph().connections(), one.world().graph().connections());
}

}  // namespace
}  // namespace volvox::world
