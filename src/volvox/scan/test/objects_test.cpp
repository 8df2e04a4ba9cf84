#include <gtest/gtest.h>

#include <filesystem>

#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/base/text.h"
#include "volvox/scan/arena.h"
#include "volvox/scan/build.h"
#include "volvox/scan/clean.h"
#include "volvox/scan/evaluate.h"
#include "volvox/scan/files.h"
#include "volvox/scan/recognize.h"

namespace volvox::scan {
namespace {

std::vector<KnownObject> library() {
  model::ModelLibrary models;
  auto objects = read_objects({"arenas/objects"}, models);
  EXPECT_TRUE(objects.ok());
  return objects.ok() ? *objects : std::vector<KnownObject>{};
}

ArenaOptions hall_with_objects(std::uint64_t seed) { return {.seed = seed, .length = 5, .width = 4, .boxes = 2}; }

Cloud scan_of(const TriangleMesh& mesh, std::uint64_t seed) {
  return sample_cloud(mesh, {.seed = seed, .points = truncated<std::size_t>(3000 * area(mesh))});
}

std::vector<FoundObject> found_in(const Cloud& cloud, std::span<const KnownObject> objects) {
  const auto prepared = prepare(cloud, true);
  EXPECT_TRUE(prepared.ok());
  return find_objects(prepared->cloud, find_planes(prepared->cloud.points, {}), objects);
}

using Colliders = std::vector<std::pair<model::Shape, Vec3>>;  // and where their middles are

Result<KnownObject> object_of(const std::string& name, const Colliders& colliders) {
  auto model = std::make_shared<model::ModuleModel>();
  model->name = name;
  auto geometry = std::make_shared<model::Geometry>();
  for (const auto& [shape, at] : colliders) geometry->colliders.push_back({"part", shape, {at, {}}, {}});
  model->links.emplace_back();
  model->links[0].geometry = geometry;
  return KnownObject::from(model);
}

KnownObject box_of(const std::string& name, const Vec3& size) {
  return *object_of(name, {{model::Box{size}, {0, 0, size.z / 2}}});
}

// All that is found is where it stands.
void expect_found(const KnownObject& object, std::uint64_t seed) {
  const std::vector<KnownObject> objects = {object};
  const auto arena = make_arena(hall_with_objects(seed), objects);
  ASSERT_TRUE(arena.ok());
  const auto found = found_in(scan_of(arena->mesh, seed), objects);
  ASSERT_EQ(found.size(), 1u) << object.name() << " " << seed;
  const PoseError error = pose_error(object, found[0].pose, arena->objects[0].pose);
  EXPECT_LT(error.distance, 0.006) << object.name() << " " << seed;
  EXPECT_LT(error.turn, radians(1.5)) << object.name() << " " << seed;
}

TEST(KnownObject, KnowsItsShape) {
  const std::vector<KnownObject> objects = library();
  ASSERT_EQ(objects.size(), 5u);  // crate, plug, post, ramp, slab
  const double turns[] = {pi, 2 * pi, 0, 2 * pi, pi};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(objects[i].symmetry(), turns[i], 1e-12) << objects[i].name();
  const KnownObject& plug = objects[1];
  EXPECT_NEAR(plug.outside({0, 0, 0.16}), 0.05, 1e-9) << "above the foot, beside the tower";
  EXPECT_LT(plug.outside({0.1, 0, 0.2}), -0.04);
  for (const auto& sample : plug.samples(0.02)) {
    EXPECT_NEAR(plug.outside(sample.point), 0, 1e-6);
    EXPECT_GT(plug.outside(sample.point + sample.normal * 0.01), 0) << "on the outside, not where parts meet";
  }
}

TEST(FindObjects, FindsAllAndNothingElse) {
  const std::vector<KnownObject> objects = library();
  // 8022: the fits of two candidates end at the same ramp.
  for (const std::uint64_t seed : {11, 12, 8022}) {
    const auto arena = make_arena(hall_with_objects(seed), objects);
    ASSERT_TRUE(arena.ok());
    const auto found = found_in(scan_of(arena->mesh, seed), objects);
    ASSERT_EQ(found.size(), objects.size()) << seed;
    for (const FoundObject& one : found) {
      const PoseError error = pose_error(objects[one.object], one.pose, arena->objects[one.object].pose);
      EXPECT_LT(error.distance, 0.005) << objects[one.object].name() << " " << seed;
      EXPECT_LT(error.turn, radians(1.5)) << objects[one.object].name() << " " << seed;
      EXPECT_GT(one.covered, 0.8);
    }
  }
}

TEST(FindObjects, FindsNothingWhereThereIsNothing) {
  const std::vector<KnownObject> objects = library();
  for (const std::uint64_t seed : {21, 22})
    EXPECT_TRUE(found_in(scan_of(make_arena(hall_with_objects(seed))->mesh, seed), objects).empty()) << seed;
}

// The crate is 0.5 x 0.3 x 0.26 m.
TEST(FindObjects, ThingsOfAnotherSizeAreOtherThings) {
  const std::vector<KnownObject> all = library();
  const std::span<const KnownObject> crate(all.data(), 1);
  for (const Vec3& more : {Vec3{0.03, 0, 0}, Vec3{-0.03, 0, 0}, Vec3{0, 0.03, 0}, Vec3{0, -0.03, 0}, Vec3{0, 0, 0.03},
                           Vec3{0, 0, -0.03}, Vec3{0.3, 0, 0}, Vec3{0, 0.2, 0}, Vec3{0, 0, 0.2}}) {
    const std::vector<KnownObject> other = {box_of("other", Vec3{0.5, 0.3, 0.26} + more)};
    const Cloud cloud = scan_of(make_arena(hall_with_objects(31), other)->mesh, 31);
    EXPECT_TRUE(found_in(cloud, crate).empty()) << more.x << " " << more.y << " " << more.z;
    EXPECT_EQ(found_in(cloud, other).size(), 1u);
  }
}

TEST(FindObjects, FindsWhatIsWiderAbove) {
  auto stump = std::make_shared<model::HullData>();
  for (int i = 0; i < 4; ++i) {
    const double x = i & 1 ? 0.5 : -0.5, y = i & 2 ? 0.5 : -0.5;
    stump->points.push_back({0.3 * x, 0.2 * y, 0});
    stump->points.push_back({0.6 * x, 0.5 * y, 0.25});
  }
  const auto object = object_of("stump", {{model::Hull(stump), {}}});
  ASSERT_TRUE(object.ok());
  for (const std::uint64_t seed : {41, 42}) expect_found(*object, seed);
}

TEST(FindObjects, FindsWhatHasOnePartTwice) {
  const model::Box box{{0.5, 0.3, 0.26}};
  const auto object = object_of("twice", {{box, {0, 0, 0.13}}, {box, {0, 0, 0.13}}});
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(object->samples(0.02).size(), box_of("once", box.size).samples(0.02).size());
  expect_found(*object, 43);
}

TEST(FindObjects, SeesTheFloorBetweenLegs) {
  Colliders parts = {{model::Box{{0.6, 0.4, 0.04}}, {0, 0, 0.32}}};
  for (const double x : {-0.26, 0.26})
    for (const double y : {-0.16, 0.16}) parts.push_back({model::Box{{0.08, 0.08, 0.3}}, {x, y, 0.15}});
  const auto table = object_of("table", parts);
  ASSERT_TRUE(table.ok());
  for (const std::uint64_t seed : {44, 45}) {
    const Vec3 at{0.5, -0.4, 0};
    const Quat turn = Quat::axis_angle({0, 0, 1}, 0.1 * real(seed));
    TriangleMesh mesh = make_arena({.seed = seed, .length = 5, .width = 4, .pit = false, .boxes = 0})->mesh;
    const auto first = narrow<std::uint32_t>(mesh.vertices.size());
    for (const Vec3& p : table->surface().vertices) mesh.vertices.push_back(at + turn * p);
    for (const Triangle& t : table->surface().triangles)
      mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
    const auto found = found_in(scan_of(mesh, seed), std::span(&*table, 1));
    ASSERT_EQ(found.size(), 1u) << seed;
    EXPECT_LT(pose_error(*table, found[0].pose, {at, turn}).distance, 0.006);
  }
}

TEST(FindObjects, LeavesNothingBetweenObjectsOnOneAnother) {
  const std::vector<KnownObject> objects = {box_of("low", {0.6, 0.5, 0.2}), box_of("high", {0.3, 0.3, 0.2})};
  TriangleMesh mesh = make_arena({.seed = 3, .length = 5, .width = 4, .pit = false, .boxes = 0})->mesh;
  std::vector<FoundObject> there(2);
  there[1].object = 1, there[1].pose.position.z = 0.2;
  for (const FoundObject& one : there) {
    const TriangleMesh& surface = objects[one.object].surface();
    const auto first = narrow<std::uint32_t>(mesh.vertices.size());
    for (const Vec3& p : surface.vertices) mesh.vertices.push_back(one.pose * p);
    for (const Triangle& t : surface.triangles) mesh.triangles.push_back({first + t[0], first + t[1], first + t[2]});
  }
  const Cloud cloud = sample_cloud(mesh, {.seed = 3, .points = 90'000, .outliers = 0});
  const Cloud rest = without_objects(cloud, find_planes(cloud.points, {}), objects, there);
  std::size_t below = 0, between = 0;
  for (const Vec3& p : rest.points)
    if (std::fabs(p.x) < 0.2 && std::fabs(p.y) < 0.2) below += std::fabs(p.z)<0.03, between += p.z> 0.03;
  EXPECT_GT(below, 100u);
  EXPECT_EQ(between, 0u);
}

// A cloud of little but known objects has no points left for a surface.
TEST(Build, OfObjectsAlone) {
  const std::vector<KnownObject> objects = {box_of("crate", {0.5, 0.3, 0.26})};
  const Cloud cloud = sample_cloud(objects[0].surface(), {.seed = 5, .points = 3000, .outliers = 0});
  for (const Method method : {Method::plane_fitting, Method::gsrm, Method::growing_grid, Method::mixed}) {
    const auto built = build(cloud, {.method = method, .objects = objects});
    ASSERT_TRUE(built.ok()) << name(method) << built.error().text();
    ASSERT_EQ(built->objects.size(), 1u) << name(method);
    EXPECT_EQ(built->mesh.triangles.size(), objects[0].surface().triangles.size()) << name(method);
    EXPECT_TRUE(built->remaining().triangles.empty()) << name(method);
    EXPECT_FALSE(built->notes.empty()) << name(method);
  }
}

TEST(Build, LooksForNothingInMuchNoise) {
  const std::vector<KnownObject> objects = {box_of("crate", {0.5, 0.3, 0.26})};
  const Cloud cloud = scan_of(make_arena(hall_with_objects(14), objects)->mesh, 14);
  const auto built = build(cloud, {.method = Method::plane_fitting, .noise = 0.2, .objects = objects});
  ASSERT_FALSE(built.ok());
  EXPECT_NE(built.error().text().find("200 mm"), std::string::npos) << built.error().text();
}

TEST(KnownObject, RefusesWhatHasNoInside) {
  const auto complaint = [](const model::Shape& shape) {
    const auto object = object_of("thing", {{shape, {}}});
    return object.ok() ? "" : object.error().text();
  };
  auto mesh = std::make_shared<model::MeshData>();
  mesh->vertices = {{0, 0, 0}, {0.3, 0, 0}, {0, 0.3, 0}, {0, 0, 0.3}};
  mesh->triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  EXPECT_EQ(complaint(model::Mesh(mesh)), "");
  for (auto& t : mesh->triangles) std::swap(t[1], t[2]);
  EXPECT_NE(complaint(model::Mesh(mesh)).find("inside out"), std::string::npos);
  mesh->triangles = {{0, 1, 2}, {0, 2, 1}};
  EXPECT_NE(complaint(model::Mesh(mesh)).find("flat"), std::string::npos);
  mesh->triangles = {{0, 1, 2}};
  const std::string open = complaint(model::Mesh(mesh));
  EXPECT_NE(open.find("not closed"), std::string::npos);
  EXPECT_EQ(open.find("not closed"), open.rfind("not closed"));
  auto hull = std::make_shared<model::HullData>();
  hull->points = {{0, 0, 0}, {0.3, 0, 0}, {0, 0.3, 0}, {0.3, 0.3, 0}};
  EXPECT_NE(complaint(model::Hull(hull)).find("is flat"), std::string::npos);
}

TEST(Build, PutsObjectsIn) {
  const std::vector<KnownObject> objects = library();
  const auto arena = make_arena(hall_with_objects(14), objects);
  const Cloud cloud = scan_of(arena->mesh, 14);
  for (const Method method : {Method::plane_fitting, Method::gsrm, Method::mixed}) {
    const auto built = build(cloud, {.method = method, .objects = objects});
    ASSERT_TRUE(built.ok());
    EXPECT_EQ(built->objects.size(), objects.size());
    EXPECT_LT(built->remaining().triangles.size(), built->mesh.triangles.size());
    const Evaluation whole = evaluate(built->mesh, arena->mesh, 1000);
    EXPECT_LT(whole.completeness_mean, 0.002);
    // The floor goes on below the objects, and nothing else is left of them.
    for (const FoundObject& found : built->objects) {
      if (built->remaining().triangles.empty()) break;  // all the rest is boxes
      const TriangleTree rest(built->remaining());
      const model::Bounds box = objects[found.object].bounds();
      const Vec3 middle = (box.low + box.high) / 2;
      EXPECT_LT(rest.nearest(found.pose * Vec3{middle.x, middle.y, box.low.z}).distance, 0.01);
      EXPECT_GT(rest.nearest(found.pose * Vec3{box.high.x - 0.02, middle.y, box.high.z}).distance, 0.03)
          << objects[found.object].name();
    }
    const std::string file = testing::TempDir() + "objects.sdf";
    ASSERT_TRUE(write_arena(*built, file, objects).ok());
    model::ModelLibrary models;
    const auto world = model::read_world(file, {}, models);
    ASSERT_TRUE(world.ok()) << world.error().text();
    std::size_t docks = 0;
    for (const model::Placement& placed : world->placements) docks += placed.model->docks.size();
    EXPECT_EQ(world->placements.size(), 1 + objects.size());
    EXPECT_EQ(docks, 1u) << "the plug's socket";
  }
}

TEST(ReadObjects, SaysWhatIsWrong) {
  const auto complaint = [](const std::vector<std::string>& libraries) {
    model::ModelLibrary models;
    const auto read = read_objects(libraries, models);
    return read.ok() ? "" : read.error().text();
  };
  const std::string folder = testing::TempDir() + "library";
  std::filesystem::create_directories(folder);
  EXPECT_NE(complaint({folder}).find("has no objects"), std::string::npos);
  EXPECT_NE(complaint({folder + "/none.sdf"}).find("none.sdf"), std::string::npos);
  EXPECT_NE(complaint({"arenas/objects", "arenas/objects"}).find("crate"), std::string::npos);
  const auto with = [&](const std::string& inside) {
    EXPECT_TRUE(write_file(folder + "/thing.sdf",
                           "<?xml version=\"1.0\"?>\n<sdf version=\"1.9\"><model name=\"thing\">"
                           "<static>true</static><link name=\"a\">" +
                               inside + "</link></model></sdf>")
                    .ok());
    return complaint({folder});
  };
  EXPECT_NE(with("").find("no <collision>"), std::string::npos);
  EXPECT_NE(with("<collision name=\"c\"><geometry><box><size>0.01 0.01 0.01</size></box></geometry></collision>")
                .find("its size is 0.010 m"),
            std::string::npos);
  EXPECT_NE(with("<collision name=\"c\"><geometry><plane><normal>0 0 1</normal></plane></geometry></collision>")
                .find("has no end"),
            std::string::npos);
  EXPECT_NE(with("<collision>").find("thing.sdf"), std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace volvox::scan
