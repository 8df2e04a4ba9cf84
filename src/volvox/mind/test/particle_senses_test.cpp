// Range sensors, cameras and contact sensors meet water, grains and cloth.
#include <gtest/gtest.h>

#include "fixture.h"
#include "volvox/mind/camera.h"
#include "volvox/mind/range_sensors.h"
#include "volvox/model/matter.h"

namespace volvox::mind {
namespace {

model::Volume block(const Vec3& middle, const Vec3& size, const Vec3& velocity = {}) {
  model::Volume volume;
  volume.pose.position = middle;
  volume.size = size;
  volume.velocity = velocity;
  return volume;
}

// A cube in the origin that looks along x, without gravity, among this.
void look_around(Theatre& theatre, const model::Matter& matter) {
  model::ModuleModel model = actor();
  model.sensors.push_back({"ahead", "range", 0, {{0.06, 0, 0}, {}}, {{"max_range", "5"}}, 0});
  model.sensors.push_back({"thing", "obstacle", 0, {{0.06, 0, 0}, {}}, {}, 0});
  model.sensors.push_back({"skin", "contact", 0, {}, {}, 0});
  model.sensors.push_back({"eye", "camera", 0, {{0.06, 0, 0}, {}}, {{"width", "5"}, {"height", "5"}}, 0});
  model::WorldBuilder builder("senses");
  builder.set_gravity({});
  builder.add(world::share(std::move(model)), Pose{}, "m");
  auto built = builder.build();
  ASSERT_TRUE(built.ok());
  built->matter = std::make_shared<const model::Matter>(matter);
  auto engine = physics::built_in_engines().make(physics::default_engine, {built->gravity, 1.0 / 240, nullptr});
  auto made = world::World::create(std::make_shared<const model::WorldModel>(std::move(*built)), std::move(*engine));
  ASSERT_TRUE(made.ok()) << made.error().text();
  theatre.world = std::move(*made);
  auto minds = Minds::create(*theatre.world, theatre.registries, 1);
  ASSERT_TRUE(minds.ok()) << minds.error().text();
  theatre.minds = std::move(*minds);
  ASSERT_TRUE(theatre.minds->start(*theatre.world, theatre.dt.seconds()).ok());
  theatre.ticks(1);
}

double ahead(const Theatre& theatre) { return theatre.minds->agent(0).percept<std::vector<double>>("ahead").at(0); }

TEST(ParticleSenses, RangeSensorsAndCamerasSeeGrains) {
  model::Matter matter;
  model::Debris stones{.radius = 0.02};
  stones.color = {0.9, 0.1, 0.1, 1};
  stones.volumes.push_back(block({1, 0, 0}, {0.4, 0.6, 0.6}));
  matter.debris.push_back(stones);
  Theatre theatre;
  look_around(theatre, matter);
  EXPECT_NEAR(ahead(theatre), 0.8 - 0.06, 0.045);
  const Obstacle thing = theatre.minds->agent(0).percept<Obstacle>("thing");
  EXPECT_TRUE(thing.seen);
  EXPECT_TRUE(thing.moves);
  EXPECT_FALSE(thing.is_module);
  const CameraImage& image = theatre.minds->agent(0).percept<CameraImage>("eye");
  EXPECT_NEAR(image.depth[12], 0.8 - 0.06, 0.045);
  EXPECT_GT(image.rgb[36], 4 * image.rgb[37]);
}

TEST(ParticleSenses, ASurfaceOfWaterIsSeenFromOutsideOnly) {
  model::Matter matter;
  matter.fluid = model::Fluid{.spacing = 0.05};
  matter.fluid->volumes.push_back(block({1, 0, 0}, {0.4, 0.6, 0.6}));
  Theatre outside, within;
  look_around(outside, matter);
  EXPECT_NEAR(ahead(outside), 0.8 - 0.06, 0.03);
  matter.fluid->volumes[0] = block({0.2, 0, 0}, {0.8, 0.6, 0.6});
  look_around(within, matter);
  EXPECT_EQ(ahead(within), 5);
}

TEST(ParticleSenses, ClothHasNoGaps) {
  model::Matter matter;
  model::Cloth curtain{.pose = {{0.7, -0.5, -0.5}, Quat::axis_angle({0, 1, 0}, -pi / 2)}, .columns = 21, .rows = 21};
  curtain.pins = model::Cloth::Pins::edges;
  matter.cloths.push_back(curtain);
  for (const double shift : {0.0, 0.013, 0.025}) {
    matter.cloths[0].pose.position.y = -0.5 + shift;
    Theatre theatre;
    look_around(theatre, matter);
    EXPECT_NEAR(ahead(theatre), 0.7 - 0.06, 0.045) << shift;
  }
}

TEST(ParticleSenses, ContactSensorsFeelAJet) {
  model::Matter matter;
  matter.fluid = model::Fluid{.spacing = 0.02};
  matter.fluid->volumes.push_back(block({0.5, 0, 0}, {0.4, 0.06, 0.06}, {-3, 0, 0}));
  Theatre theatre;
  look_around(theatre, matter);
  EXPECT_FALSE(theatre.minds->agent(0).percept<Contact>("skin").touching);
  theatre.ticks(10);
  const Contact felt = theatre.minds->agent(0).percept<Contact>("skin");
  EXPECT_TRUE(felt.touching);
  // At most what stops the jet: density times section times the square of its speed, and splashes back.
  EXPECT_GT(felt.force, 5);
  EXPECT_LT(felt.force, 2.2 * 1000 * 0.06 * 0.06 * 9);
}

}  // namespace
}  // namespace volvox::mind
