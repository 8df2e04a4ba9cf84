#include "volvox/mind/range_sensors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fixture.h"
#include "volvox/rays/ray_shapes.h"

namespace volvox::mind {
namespace {

model::ModuleModel with_sensor(const std::string& type, std::map<std::string, std::string> parameters) {
  model::ModuleModel model = actor();
  model.sensors.push_back({"eye", type, 0, {}, std::move(parameters), 0});
  return model;
}

// A module at the origin, in no gravity, that looks along x.
template <class Reading>
Reading read(const std::string& type, std::map<std::string, std::string> parameters,
             const std::function<void(model::WorldBuilder&)>& furnish) {
  Theatre theatre;
  model::WorldBuilder builder("range");
  builder.set_gravity({});
  builder.add(world::share(with_sensor(type, std::move(parameters))), Pose{}, "m");
  furnish(builder);
  const auto opened = theatre.open(builder);
  EXPECT_TRUE(opened.ok());
  theatre.ticks(1);
  return theatre.minds->agent(0).percept<Reading>("eye");
}

void wall(model::WorldBuilder& builder, double x, double y_from, double y_to) {
  builder.add_obstacle(model::Box{{0.2, y_to - y_from, 2}}, {{x + 0.1, (y_from + y_to) / 2, 0}, {}});
}

// Every shape, still and moving, around a module that looks in all directions.
void furnish_with_everything(model::WorldBuilder& builder, bool meshes) {
  const auto at = [](int i, double tilt) {
    return Pose{{1.5 * volvox::cos(0.9 * i), 1.5 * volvox::sin(0.9 * i), 0.1 * i - 0.3},
                Quat::axis_angle(normalized(Vec3{1, 0.3, -0.4}), tilt)};
  };
  auto hull = std::make_shared<model::HullData>();
  for (int i = 0; i < 24; ++i)
    hull->points.push_back(Vec3{volvox::cos(2.4 * i), volvox::sin(2.4 * i), 0.09 * i - 1} * 0.3);
  builder.add_ground();
  builder.add_obstacle(model::Box{{0.4, 0.3, 0.5}}, at(0, 0.4));
  builder.add_obstacle(model::Sphere{0.25}, at(1, 0.2), 1);
  builder.add_obstacle(model::Cylinder{0.2, 0.5}, at(2, 0.7), 1);
  builder.add_obstacle(model::Capsule{0.15, 0.4}, at(3, 1.1));
  builder.add_obstacle(model::Hull(hull), at(4, 0.9), 1);
  if (!meshes) return;
  auto tent = std::make_shared<model::MeshData>();
  tent->vertices = {{-0.3, -0.3, -0.3}, {0.3, -0.3, -0.3}, {0.3, 0.3, -0.3}, {-0.3, 0.3, -0.3}, {0.05, 0.02, 0.4}};
  tent->triangles = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
  builder.add_obstacle(model::Mesh(tent), at(5, 0.3));
  auto field = std::make_shared<model::HeightFieldData>();
  field->columns = field->rows = 9;
  field->size_x = field->size_y = 1;
  for (int i = 0; i < 81; ++i) field->heights.push_back(static_cast<float>(0.1 * (1 + volvox::sin(1.3 * i))));
  builder.add_terrain(field, {{1.2, -1.2, -0.4}, {}});
}

// The reference: every link in turn, in closed form.
RayHit nearest(const world::World& world, const Ray& ray) {
  RayHit best;
  double range = ray.range;
  for (world::LinkIndex link = 0; link < world.links(); ++link) {
    if (!world.link_model(link).geometry || world.placement_of_link(link) + 1 == ray.ignore_owner) continue;
    const Pose inverse = world.link_pose(link).inverse();
    const rays::ShapeHit hit = rays::RayGeometry(world.link_model(link).geometry)
                                   .cast(inverse * ray.origin, inverse.rotation * ray.direction, range);
    if (hit.distance < 0 || (best.hit() && hit.distance >= range)) continue;
    range = hit.distance;
    best = {hit.distance, link, 0, {}};
  }
  return best;
}

TEST(RangeSensors, hits_are_where_every_physics_engine_has_the_links) {
  for (const std::string& name : physics::built_in_engines().names()) {
    Theatre theatre;
    model::WorldBuilder builder("everything");
    builder.add(world::share(with_sensor("laser", {{"rays", "121"},
                                                   {"field_of_view", "6.2"},
                                                   {"rows", "9"},
                                                   {"vertical_field_of_view", "1.6"},
                                                   {"max_range", "4"}})),
                Pose{{0, 0, 0.6}, {}}, "m");
    auto probe = physics::built_in_engines().make(name, {});
    ASSERT_TRUE(probe.ok());
    const auto& cannot = (*probe)->info().cannot;
    furnish_with_everything(builder, std::find(cannot.begin(), cannot.end(), "meshes") == cannot.end());
    ASSERT_TRUE(theatre.open(builder, 1, name).ok()) << name;
    for (int tick = 0; tick < 3; ++tick) {
      theatre.ticks(5);  // objects fall, and are seen at their new positions
      ASSERT_TRUE(theatre.minds->sense(*theatre.world, theatre.dt.seconds(), theatre.threads).ok());
      const auto rays = theatre.minds->rays();
      const auto hits = theatre.minds->ray_hits();
      int seen = 0;
      for (std::size_t i = 0; i < rays.size(); ++i) {
        const RayHit expected = nearest(*theatre.world, rays[i]);
        ASSERT_EQ(hits[i].hit(), expected.hit()) << name << ", ray " << i;
        if (!hits[i].hit()) continue;
        EXPECT_NEAR(hits[i].distance, expected.distance, 1e-9) << name << ", ray " << i;
        EXPECT_EQ(hits[i].body, expected.body) << name << ", ray " << i;
        ++seen;
      }
      EXPECT_GT(seen, 300) << name;
    }
  }
}

TEST(RangeSensors, a_laser_mixes_what_its_beam_meets_at_a_rim) {
  const auto furnish = [](double behind) {
    return [behind](model::WorldBuilder& builder) {
      wall(builder, 1, 0, 3);  // on the left, its rim straight ahead
      wall(builder, behind, -3, 3);
    };
  };
  const std::map<std::string, std::string> thin{{"rays", "9"}, {"field_of_view", "0.4"}};
  auto wide = thin;
  wide["divergence"] = "0.02";
  const auto sharp = read<std::vector<double>>("laser", thin, furnish(1.3));
  const auto mixed = read<std::vector<double>>("laser", wide, furnish(1.3));
  for (int i : {0, 1, 2}) EXPECT_NEAR(sharp[i], 1.3 / std::cos(0.05 * (i - 4)), 1e-9);
  for (int i : {6, 7, 8}) EXPECT_NEAR(sharp[i], 1 / std::cos(0.05 * (i - 4)), 1e-9);
  for (int i : {0, 1, 2, 6, 7, 8}) EXPECT_NEAR(mixed[i], sharp[i], 1e-3) << i;  // away from the rim
  EXPECT_GT(mixed[4], 1.05);                                                    // at the rim: between the two surfaces
  EXPECT_LT(mixed[4], 1.25);
  // Too far apart for a mixed pixel: the nearest hit counts.
  EXPECT_NEAR(read<std::vector<double>>("laser", wide, furnish(3))[4], 1, 1e-3);
}

TEST(RangeSensors, a_laser_has_rows_and_a_least_range) {
  const auto rows = read<std::vector<double>>(
      "laser", {{"rays", "1"}, {"rows", "3"}, {"vertical_field_of_view", "1"}, {"min_range", "1.1"}},
      [](model::WorldBuilder& builder) { wall(builder, 1, -3, 3); });
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_NEAR(rows[0], 1 / std::cos(0.5), 1e-9);
  EXPECT_EQ(rows[1], 1.1);
  EXPECT_NEAR(rows[2], 1 / std::cos(0.5), 1e-9);
  const auto nothing = read<std::vector<double>>("laser", {{"rays", "5"}}, [](model::WorldBuilder&) {});
  EXPECT_EQ(nothing, std::vector<double>(5, 8.0));
}

TEST(RangeSensors, a_sonar_hears_the_nearest_in_its_cone_unless_it_sends_the_sound_elsewhere) {
  const auto off_axis = [](model::WorldBuilder& builder) {
    builder.add_obstacle(model::Sphere{0.1}, {{1, 0.2, 0}, {}});
    wall(builder, 2, -3, 3);
  };
  EXPECT_NEAR(read<double>("sonar", {{"cone", "0.6"}, {"rings", "12"}}, off_axis), std::hypot(1, 0.2) - 0.1, 0.01);
  EXPECT_NEAR(read<double>("sonar", {{"cone", "0.02"}}, off_axis), 2, 1e-3);
  EXPECT_EQ(read<double>("sonar", {{"max_range", "0.7"}}, off_axis), 0.7);
  const auto slanted = [](model::WorldBuilder& builder) {
    builder.add_obstacle(model::Box{{0.1, 5, 5}}, {{1.5, 0, 0}, Quat::axis_angle({0, 0, 1}, radians(60))});
  };
  EXPECT_LT(read<double>("sonar", {{"cone", "0.1"}}, slanted), 1.5);
  EXPECT_EQ(read<double>("sonar", {{"cone", "0.1"}, {"largest_incidence", "0.5"}}, slanted), 3);
}

TEST(RangeSensors, infrared_falls_with_distance_and_slant) {
  const auto at = [](double distance, double slant) {
    return read<Proximity>("proximity", {{"max_range", "2"}, {"cone", "0.01"}}, [=](model::WorldBuilder& builder) {
      builder.add_obstacle(model::Box{{0.002, 5, 5}}, {{distance, 0, 0}, Quat::axis_angle({0, 0, 1}, slant)});
    });
  };
  const Proximity near = at(0.2, 0), far = at(0.4, 0), slanted = at(0.2, radians(60)), none = at(3, 0);
  EXPECT_TRUE(near.seen && far.seen && slanted.seen && !none.seen);
  EXPECT_NEAR(near.distance, 0.199, 1e-4);
  EXPECT_NEAR(near.strength / far.strength, 4, 0.1);
  EXPECT_NEAR(slanted.strength / near.strength, 0.5, 0.02);
  EXPECT_EQ(none.strength, 0);
  EXPECT_EQ(none.distance, 2);
}

TEST(RangeSensors, a_module_that_drives_by_is_seen_where_it_is) {
  Theatre theatre;
  model::WorldBuilder builder("passing");
  builder.set_gravity({});
  builder.add(world::share(with_sensor("range", {{"max_range", "3"}})), Pose{}, "watcher");
  model::PlacementOptions passing;
  passing.velocity.linear = {0.5, 0, 0};
  builder.add(world::share(actor()), Pose{{1, 0, 0}, {}}, "passer", passing);
  ASSERT_TRUE(theatre.open(builder).ok());
  const double first = theatre.minds->agent(0).percept<std::vector<double>>("eye")[0];
  theatre.ticks(61);
  EXPECT_NEAR(theatre.minds->agent(0).percept<std::vector<double>>("eye")[0] - first, 0.5, 1e-3);
}

TEST(RangeSensors, ranging_noise_leaves_alone_what_saw_nothing) {
  Registries registries;
  auto chain = NoiseChain::make({{"ranging", {{"deviation", "0.1"}, {"max_range", "2"}}, 0}}, registries.noise,
                                &type_of<std::vector<double>>(), RandomStream(1, 2, "noise"), "");
  ASSERT_TRUE(chain.ok());
  Value value = Value::of(type_of<std::vector<double>>());
  double sum = 0, squares = 0;
  for (int i = 0; i < 2000; ++i) {
    *value.get<std::vector<double>>() = {1.0, 2.0, 1.99};
    chain->apply(value);
    const auto& noisy = *value.get<std::vector<double>>();
    sum += noisy[0] - 1, squares += (noisy[0] - 1) * (noisy[0] - 1);
    EXPECT_EQ(noisy[1], 2.0);
    EXPECT_LE(noisy[2], 2.0);
  }
  EXPECT_NEAR(sum / 2000, 0, 0.01);
  EXPECT_NEAR(std::sqrt(squares / 2000), 0.1, 0.01);
}

}  // namespace
}  // namespace volvox::mind
