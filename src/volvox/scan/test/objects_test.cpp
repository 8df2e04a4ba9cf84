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

ArenaOptions hall(std::uint64_t seed) { return {.seed = seed, .length = 5, .width = 4, .boxes = 2}; }

Cloud scan_of(const TriangleMesh& mesh, std::uint64_t seed) {
  return sample_cloud(mesh, {.seed = seed, .points = truncated<std::size_t>(3000 * area(mesh))});
}

std::vector<FoundObject> found_in(const Cloud& cloud, std::span<const KnownObject> objects) {
  const auto prepared = prepare(cloud, true);
  EXPECT_TRUE(prepared.ok());
  return find_objects(prepared->cloud, find_planes(prepared->cloud.points, {}), objects);
}

KnownObject box_of(const std::string& name, const Vec3& size) {
  auto model = std::make_shared<model::ModuleModel>();
  model->name = name;
  auto geometry = std::make_shared<model::Geometry>();
  geometry->colliders.push_back({"box", model::Box{size}, {{0, 0, size.z / 2}, {}}, {}});
  model->links.emplace_back();
  model->links[0].geometry = geometry;
  return *KnownObject::from(model);
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
    const auto arena = make_arena(hall(seed), objects);
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
    EXPECT_TRUE(found_in(scan_of(make_arena(hall(seed))->mesh, seed), objects).empty()) << seed;
}

// The crate is 0.5 x 0.3 x 0.26 m.
TEST(FindObjects, ThingsOfAnotherSizeAreOtherThings) {
  const std::vector<KnownObject> all = library();
  const std::span<const KnownObject> crate(all.data(), 1);
  for (const Vec3& more : {Vec3{0.03, 0, 0}, Vec3{-0.03, 0, 0}, Vec3{0, 0.03, 0}, Vec3{0, -0.03, 0}, Vec3{0, 0, 0.03},
                           Vec3{0, 0, -0.03}, Vec3{0.3, 0, 0}, Vec3{0, 0.2, 0}, Vec3{0, 0, 0.2}}) {
    const std::vector<KnownObject> other = {box_of("other", Vec3{0.5, 0.3, 0.26} + more)};
    const Cloud cloud = scan_of(make_arena(hall(31), other)->mesh, 31);
    EXPECT_TRUE(found_in(cloud, crate).empty()) << more.x << " " << more.y << " " << more.z;
    EXPECT_EQ(found_in(cloud, other).size(), 1u);
  }
}

TEST(Build, PutsObjectsIn) {
  const std::vector<KnownObject> objects = library();
  const auto arena = make_arena(hall(14), objects);
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
