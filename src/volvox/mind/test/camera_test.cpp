#include "volvox/mind/camera.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fixture.h"
#include "volvox/base/index.h"
#include "volvox/model/reader.h"

namespace volvox::mind {
namespace {

using Settings = std::map<std::string, std::string>;

model::ModuleModel with_camera(const Settings& settings, const Pose& mount = {}) {
  model::ModuleModel model = actor();
  model.sensors.push_back({"eye", "camera", 0, mount, settings, 0});
  return model;
}

class CameraTest : public testing::Test {
 protected:
  const CameraImage& look(model::WorldBuilder& builder) {
    builder.set_gravity({});
    const auto opened = theatre.open(builder);
    EXPECT_TRUE(opened.ok()) << opened.error().text();
    theatre.ticks(1);
    return theatre.minds->agent(0).percept<CameraImage>("eye");
  }
  Theatre theatre;
};

std::size_t pixel(const CameraImage& image, int column, int row) { return row * image.width + column; }

// The front of the wall is 1 m ahead: the depth along the axis is 1 m in every pixel that sees it.
TEST_F(CameraTest, AWallAheadHasOneDepthAndItsColour) {
  model::WorldBuilder builder;
  builder.add(
      world::share(with_camera({{"width", "20"}, {"height", "10"}, {"field_of_view", "1.2"}, {"max_range", "5"}})),
      Pose{}, "m");
  builder.add_obstacle(model::Box{{0.2, 10, 10}}, {{1.1, 0, 0}, {}}, 0, {}, {0.8, 0.4, 0.2, 1});
  const CameraImage& image = look(builder);
  ASSERT_EQ(image.width, 20);
  ASSERT_EQ(image.height, 10);
  ASSERT_EQ(image.depth.size(), 200u);
  ASSERT_EQ(image.rgb.size(), 600u);
  for (const float depth : image.depth) EXPECT_NEAR(depth, 1, 1e-6);
  const Vec3 sun = normalized(Vec3{-0.42, -0.48, 0.77});
  const double light = 0.45 + 0.55 * -sun.x;  // the wall faces -x
  EXPECT_EQ(image.rgb[0], truncated(255 * 0.8 * light + 0.5));
  EXPECT_EQ(image.rgb[1], truncated(255 * 0.4 * light + 0.5));
  EXPECT_EQ(image.rgb[2], truncated(255 * 0.2 * light + 0.5));
}

// On a sphere of radius r whose centre lies d ahead, the ray along the unit vector u hits at
// t = d u_x - sqrt(r^2 - d^2 (1 - u_x^2)), and the depth is t u_x.
TEST_F(CameraTest, ASphereHasTheDepthsOfItsEquation) {
  const double d = 2, r = 0.5, tangent = std::tan(0.5);
  model::WorldBuilder builder;
  builder.add(
      world::share(with_camera({{"width", "31"}, {"height", "21"}, {"field_of_view", "1.0"}, {"max_range", "4"}})),
      Pose{}, "m");
  builder.add_obstacle(model::Sphere{r}, {{d, 0, 0}, {}});
  const CameraImage& image = look(builder);
  int seen = 0;
  for (int row = 0; row < 21; ++row)
    for (int column = 0; column < 31; ++column) {
      const double y = (2 * column + 1 - 31) / 31.0 * tangent, z = (2 * row + 1 - 21) / 31.0 * tangent;
      const double ux = 1 / std::sqrt(1 + y * y + z * z), inside = r * r - d * d * (1 - ux * ux);
      const double depth = image.depth[pixel(image, column, row)];
      if (std::fabs(inside) < 1e-6) continue;
      EXPECT_NEAR(depth, inside > 0 ? (d * ux - std::sqrt(inside)) * ux : 4, 1e-5) << column << " " << row;
      seen += inside > 0;
    }
  EXPECT_GT(seen, 50);
}

TEST_F(CameraTest, RowsGoDownAndColumnsGoRight) {
  model::WorldBuilder builder;
  builder.add(
      world::share(with_camera({{"width", "3"}, {"height", "3"}, {"field_of_view", "1.0"}, {"max_range", "4"}})),
      Pose{}, "m");
  builder.add_obstacle(model::Sphere{0.2}, {{2, 0.7, 0}, {}});  // left
  builder.add_obstacle(model::Sphere{0.2}, {{2, 0, 0.7}, {}});  // above
  const CameraImage& image = look(builder);
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 3; ++column)
      EXPECT_EQ(image.depth[pixel(image, column, row)] < 4, (row == 1 && column == 0) || (row == 0 && column == 1))
          << column << " " << row;
}

TEST_F(CameraTest, SeesNothingNearerThanNearAndNotItself) {
  model::WorldBuilder builder;
  builder.add(world::share(
                  with_camera({{"width", "4"}, {"height", "4"}, {"near", "0.5"}, {"max_range", "3"}}, {{0, 0, 0}, {}})),
              Pose{}, "m");
  builder.add_obstacle(model::Box{{0.1, 1, 1}}, {{0.3, 0, 0}, {}});
  builder.add_obstacle(model::Box{{0.1, 9, 9}}, {{2.05, 0, 0}, {}});
  for (const float depth : look(builder).depth) EXPECT_NEAR(depth, 2, 1e-6);
}

TEST_F(CameraTest, IsPartOfTheHashAndComesBackFromASnapshot) {
  model::WorldBuilder builder;
  builder.add(world::share(with_camera({{"width", "8"}, {"height", "6"}})), Pose{}, "m");
  builder.add_obstacle(model::Sphere{0.5}, {{2, 0, 0}, {}});
  look(builder);
  SaveArchive saved;
  theatre.minds->archive(saved);
  HashArchive before;
  theatre.minds->archive(before);
  const std::vector<std::byte> bytes = saved.take();
  EXPECT_GT(bytes.size(), 8u * 6 * 7);
  LoadArchive loading(bytes);
  theatre.minds->archive(loading);
  EXPECT_TRUE(loading.ok());
  HashArchive after;
  theatre.minds->archive(after);
  EXPECT_EQ(before.value(), after.value());
}

TEST_F(CameraTest, BadParametersAreNamed) {
  for (const Settings& bad : {Settings{{"width", "0"}},
                              {{"width", "5000"}},
                              {{"width", "1024"}, {"height", "1024"}},
                              {{"field_of_view", "3.1"}},
                              {{"near", "-1"}},
                              {{"max_range", "nan"}},
                              {{"widht", "3"}}}) {
    model::WorldBuilder builder;
    builder.add(world::share(with_camera(bad)), Pose{}, "m");
    const auto opened = Theatre().open(builder);
    ASSERT_FALSE(opened.ok()) << bad.begin()->first;
    EXPECT_NE(opened.error().text().find("eye"), std::string::npos) << opened.error().text();
  }
}

TEST(CameraModel, IsReadFromSdf) {
  model::ModelLibrary library(std::vector<std::filesystem::path>{});
  const auto world = model::read_world_text(
      R"(<sdf version="1.9"><world name="w"><model name="m"><static>true</static><link name="body">
    <sensor name="eye" type="rgbd_camera"><pose>0.1 0 0 0 0 0</pose>
      <camera><horizontal_fov>0.9</horizontal_fov><image><width>12</width><height>8</height></image><clip><near>0.02</near><far>7</far></clip></camera></sensor>
    </link></model></world></sdf>)",
      "camera.sdf", {}, library);
  ASSERT_TRUE(world.ok()) << world.error().text();
  const model::Sensor& sensor = world->placements.at(0).model->sensors.at(0);
  EXPECT_EQ(sensor.type, "camera");
  EXPECT_EQ(sensor.parameters.at("width"), "12");
  EXPECT_EQ(sensor.parameters.at("height"), "8");
  EXPECT_NEAR(std::stod(sensor.parameters.at("field_of_view")), 0.9, 1e-9);
  EXPECT_NEAR(std::stod(sensor.parameters.at("near")), 0.02, 1e-9);
  EXPECT_NEAR(std::stod(sensor.parameters.at("max_range")), 7, 1e-9);
  EXPECT_NEAR(sensor.pose.position.x, 0.1, 1e-12);
}

}  // namespace
}  // namespace volvox::mind
