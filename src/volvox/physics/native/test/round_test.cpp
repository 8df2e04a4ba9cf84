// Wheels that spin: turning about its axle moves nothing of a wheel's surface, so neither its
// height nor its way may depend on how fast it turns, or on how fine the ground's triangles are.
#include <tuple>

#include "volvox/physics/native/test/scenes.h"

namespace volvox::physics::native {
namespace {

constexpr double radius = 0.05, width = 0.06, wheel_mass = 0.5;  // m, kg
constexpr model::Material rubber{0.8, 0};
// What rests may do so up to 0.1 mm deep (allowed_overlap); heights are from there to 0.01 mm above.

// Adds a sheet of two triangles a cell, from x = first to last, whose height depends on x.
template <class Height>
void add_sheet(model::MeshData& mesh, double first, double last, double cell, const Height& height) {
  const int columns = static_cast<int>(std::lround((last - first) / cell)),
            rows = static_cast<int>(std::lround(0.8 / cell));
  const auto start = static_cast<std::uint32_t>(mesh.vertices.size());
  for (int row = 0; row <= rows; ++row) {
    for (int column = 0; column <= columns; ++column) {
      const double x = first + column * cell;
      mesh.vertices.push_back({x, row * cell - 0.4, height(x)});
    }
  }
  const auto vertex = [&](int column, int row) {
    return start + static_cast<std::uint32_t>(row * (columns + 1) + column);
  };
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      mesh.triangles.push_back({vertex(column, row), vertex(column + 1, row), vertex(column + 1, row + 1)});
      mesh.triangles.push_back({vertex(column, row), vertex(column + 1, row + 1), vertex(column, row + 1)});
    }
  }
}

BodyDesc fixed_mesh(model::MeshData mesh) {
  BodyDesc desc;
  desc.motion = Motion::fixed;
  desc.geometry = geometry_of(std::make_shared<const model::MeshData>(std::move(mesh)), rubber);
  return desc;
}

// A flat floor as a mesh; no cell: a plane.
BodyDesc floor_of(double cell) {
  if (cell <= 0) return ground();
  model::MeshData mesh;
  add_sheet(mesh, -0.4, 4.4, cell, [](double) { return 0.0; });
  return fixed_mesh(std::move(mesh));
}

// Its axle along y.
BodyDesc wheel_at(const Vec3& position, const model::Material& material = rubber) {
  BodyDesc desc;
  desc.mass = wheel_mass;
  const double across = wheel_mass * (3 * radius * radius + width * width) / 12;
  desc.moments = {across, across, wheel_mass * radius * radius / 2};
  desc.pose = {position, Quat::axis_angle({1, 0, 0}, -pi / 2)};
  desc.geometry = geometry_of(model::Cylinder{radius, width}, material);
  return desc;
}

double energy(const Bench& bench, BodyId wheel) {
  const Twist v = bench.velocity(wheel);
  return wheel_mass * (length_squared(v.linear) / 2 + radius * radius * v.angular.y * v.angular.y / 4 +
                       9.81 * bench.pose(wheel).position.z);
}

// A beam on four driven wheels.
class Car {
 public:
  explicit Car(double cell, double speed, ThreadPool* threads = nullptr, double y = 0) : bench({.threads = threads}) {
    bench.add(floor_of(cell));
    add(speed, y);
  }
  void add(double speed, double y) {
    const Pose middle{{0, y, radius}, {}};
    BodyDesc beam = box(0.5, {0.24, 0.02, 0.02}, middle);
    beam.velocity.linear = {speed * radius, 0, 0};
    const BodyId frame = bench.add(beam);
    beams.push_back(frame);
    for (const Vec3& at : {Vec3{-0.1, -0.08, 0}, Vec3{-0.1, 0.08, 0}, Vec3{0.1, -0.08, 0}, Vec3{0.1, 0.08, 0}}) {
      BodyDesc desc = wheel_at(middle.position + at);
      desc.velocity = {{speed * radius, 0, 0}, {0, speed, 0}};
      const BodyId wheel = bench.add(desc);
      const JointId axle = bench->add_joint(
          joint_at(JointType::revolute, frame, middle, wheel, desc.pose, desc.pose.position, {0, 1, 0}));
      bench->motors()[axle.index] = {Control::velocity, speed, 0, 1, 100, 2};
      wheels.push_back(wheel);
    }
  }

  Bench bench;
  std::vector<BodyId> beams, wheels;
};

class Rolling : public testing::TestWithParam<std::tuple<double, double>> {
 protected:
  double cell() const { return std::get<0>(GetParam()); }
  double speed() const { return std::get<1>(GetParam()); }
};

}  // namespace

TEST_P(Rolling, wheel_goes_as_far_as_it_turns_and_keeps_its_height) {
  Bench bench;
  bench.add(floor_of(cell()));
  BodyDesc desc = wheel_at({0, 0, radius});
  desc.velocity = {{speed() * radius, 0, 0}, {0, speed(), 0}};
  const BodyId wheel = bench.add(desc);
  const double before = energy(bench, wheel);
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(bench.tick().ok());
    ASSERT_NEAR(bench.pose(wheel).position.z, radius - 5e-5, 6e-5) << "tick " << i;
    ASSERT_NEAR(bench.velocity(wheel).linear.x, radius * bench.velocity(wheel).angular.y, 1e-3 * speed() * radius)
        << "tick " << i;
  }
  EXPECT_NEAR(bench.pose(wheel).position.x, speed() * radius, 2e-3 * speed() * radius);
  EXPECT_NEAR(bench.pose(wheel).position.y, 0, 1e-4);
  EXPECT_NEAR(energy(bench, wheel), before, 4e-3 * before);
}

TEST_P(Rolling, wheel_spins_on_ice_where_it_stands) {
  Bench bench;
  BodyDesc floor = floor_of(cell());
  floor.geometry = geometry_of(floor.geometry->colliders[0].shape, {0, 0});
  bench.add(floor);
  BodyDesc desc = wheel_at({0, 0, radius}, {0, 0});
  desc.velocity.angular = {0, speed(), 0};
  const BodyId wheel = bench.add(desc);
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(bench.tick().ok());
    ASSERT_NEAR(bench.pose(wheel).position.z, radius - 5e-5, 6e-5) << "tick " << i;
  }
  EXPECT_NEAR(bench.pose(wheel).position.x, 0, 1e-4);
  EXPECT_NEAR(bench.velocity(wheel).angular.y, speed(), 1e-6 * speed());
}

// A disc that lies on its face turns about its axle, too: nothing may lift or tip it.
TEST_P(Rolling, disc_spins_on_its_face) {
  Bench bench;
  bench.add(floor_of(cell()));
  BodyDesc desc = wheel_at({0.011, 0.013, width / 2});
  desc.pose.rotation = {};
  desc.velocity.angular = {0, 0, speed()};
  const BodyId disc = bench.add(desc);
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(bench.tick().ok());
    ASSERT_NEAR(bench.pose(disc).position.z, width / 2 - 5e-5, 6e-5) << "tick " << i;
    ASSERT_GT((bench.pose(disc).rotation * Vec3{0, 0, 1}).z, 1 - 1e-6) << "tick " << i;
  }
  EXPECT_LT(bench.velocity(disc).angular.z, speed());
}

TEST_P(Rolling, driven_wheels_carry_a_car) {
  Car car(cell(), speed());
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(car.bench.tick().ok());
    for (const BodyId wheel : car.wheels)
      ASSERT_NEAR(car.bench.pose(wheel).position.z, radius - 5e-5, 6e-5) << "tick " << i;
  }
  const Pose at = car.bench.pose(car.beams[0]);
  EXPECT_NEAR(at.position.x, speed() * radius, 2e-3 * speed() * radius);
  EXPECT_NEAR(at.position.y, 0, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Ground, Rolling,
                         testing::Combine(testing::Values(0.0, 0.8, 0.04), testing::Values(1.0, 10.0, 60.0)),
                         [](const auto& test) {
                           const double cell = std::get<0>(test.param);
                           return std::string(cell <= 0    ? "plane"
                                              : cell > 0.1 ? "coarse_mesh"
                                                           : "fine_mesh") +
                                  "_" + std::to_string(static_cast<int>(std::get<1>(test.param)));
                         });

// Hollows and crests, whose edges stick out by up to 1.4 degrees: some count as part of a face, some
// as edges, and the wheel shall feel no difference.
TEST(Round, wheel_follows_hills_of_facets) {
  constexpr double cell = 0.02;
  const auto height = [](double x) { return 0.02 * (1 - volvox::cos(2 * pi * x / 0.8)); };
  model::MeshData mesh;
  add_sheet(mesh, -0.4, 4.4, cell, height);
  Bench bench;
  bench.add(fixed_mesh(std::move(mesh)));
  BodyDesc desc = wheel_at({0, 0, radius});
  desc.velocity = {{0.8, 0, 0}, {0, 0.8 / radius, 0}};
  const BodyId wheel = bench.add(desc);
  // How far the axle is from the facets, seen along it.
  const auto clearance = [&](const Vec3& axle) {
    double least = 1e300;
    for (int i = -10; i <= 10; ++i) {
      const double x = (std::floor(axle.x / cell) + i) * cell;
      const Vec3 from{x, 0, height(x)}, along = Vec3{x + cell, 0, height(x + cell)} - from,
                                        to{axle.x - from.x, 0, axle.z - from.z};
      least = std::min(least, length(to - along * clamp(dot(to, along) / length_squared(along), 0, 1)));
    }
    return least;
  };
  const double before = energy(bench, wheel);
  for (int i = 0; i < 240; ++i) {
    ASSERT_TRUE(bench.tick().ok());
    ASSERT_NEAR(clearance(bench.pose(wheel).position), radius, 2e-4) << "tick " << i;
  }
  EXPECT_GT(bench.pose(wheel).position.x, 1.6);
  EXPECT_NEAR(bench.pose(wheel).position.y, 0, 1e-3);
  EXPECT_NEAR(energy(bench, wheel), before, 0.08 * before);
}

// Between two edges what is round lies as deep as the slit is wide, whatever it is.
TEST(Round, what_is_round_lies_in_a_slit) {
  constexpr double slit = 0.02;  // half of it
  for (const double cell : {0.4, 0.04}) {
    model::MeshData mesh;
    add_sheet(mesh, -0.4 - slit, -slit, cell, [](double) { return 0.0; });
    add_sheet(mesh, slit, 0.4 + slit, cell, [](double) { return 0.0; });
    Bench bench;
    bench.add(fixed_mesh(std::move(mesh)));
    const double deep = std::sqrt(radius * radius - slit * slit);
    std::vector<BodyId> bodies;
    for (const model::Shape& shape :
         {model::Shape{model::Cylinder{radius, width}}, model::Shape{model::Capsule{radius, width}},
          model::Shape{model::Sphere{radius}}}) {
      BodyDesc desc = wheel_at({0.001, 0.2 * static_cast<double>(bodies.size()) - 0.21, deep + 0.002});
      desc.geometry = geometry_of(shape, rubber);
      bodies.push_back(bench.add(desc));
    }
    bench.run(2);
    for (const BodyId id : bodies) {
      EXPECT_NEAR(bench.pose(id).position.z, deep, 1.5e-4) << "body " << id.index << ", cell " << cell;
      EXPECT_NEAR(bench.pose(id).position.x, 0, 5e-4) << "body " << id.index << ", cell " << cell;
    }
  }
}

// Across it a capsule lies on the two edges, as high as on a floor, at whatever angle.
TEST(Round, a_capsule_lies_across_a_slit) {
  constexpr double slit = 0.02;  // half of it
  for (const double cell : {0.4, 0.04}) {
    for (const double angle : {0.3, 0.8, 1.3, pi / 2}) {  // from the slit's direction
      model::MeshData mesh;
      add_sheet(mesh, -0.4 - slit, -slit, cell, [](double) { return 0.0; });
      add_sheet(mesh, slit, 0.4 + slit, cell, [](double) { return 0.0; });
      Bench bench;
      bench.add(fixed_mesh(std::move(mesh)));
      BodyDesc desc = wheel_at({0.001, 0, radius + 0.002});
      desc.pose.rotation = Quat::axis_angle({0, 0, 1}, angle) * desc.pose.rotation;
      desc.geometry = geometry_of(model::Capsule{radius, 0.16}, rubber);
      const BodyId capsule = bench.add(desc);
      bench.run(2);
      EXPECT_NEAR(bench.pose(capsule).position.z, radius, 1.5e-4) << "angle " << angle << ", cell " << cell;
      EXPECT_LT(length(bench.velocity(capsule).linear), 1e-6) << "angle " << angle << ", cell " << cell;
    }
  }
}

// What a body's contacts cost must not grow with the triangles under it.
TEST(Round, a_fine_mesh_gives_no_more_contacts_than_a_coarse_one) {
  const auto contacts = [](double cell) {
    Bench bench;
    bench.add(floor_of(cell));
    bench.add(wheel_at({0.013, -0.2, radius}));
    bench.add(box(1, {0.2, 0.15, 0.05}, {{0.3, 0.1, 0.025}, Quat::axis_angle({0, 0, 1}, 0.3)}, rubber));
    bench.run(0.3);
    std::vector<Contact> found;
    bench->contacts(found);
    return found.size();
  };
  EXPECT_EQ(contacts(0.8), 6u);  // the ends of a line and the corners of a face
  EXPECT_EQ(contacts(0.02), 6u);
}

TEST(Round, cars_move_alike_at_any_number_of_threads_and_after_a_restore) {
  const auto field = [](ThreadPool* threads) {
    auto car = std::make_unique<Car>(0.04, 12, threads, -0.25);
    car->add(5, 0);
    car->add(-1, 0.25);
    return car;
  };
  auto alone = field(nullptr);
  alone->bench.run(0.5);
  SaveArchive saved;
  alone->bench->archive(saved);
  alone->bench.run(0.5);
  ThreadPool pool(2);
  auto shared = field(&pool);
  shared->bench.run(1);
  EXPECT_EQ(shared->bench.hash(), alone->bench.hash());
  auto restored = field(nullptr);
  LoadArchive loaded(saved.bytes());
  restored->bench->archive(loaded);
  ASSERT_TRUE(loaded.ok()) << loaded.failure();
  restored->bench.set_clock(30);
  restored->bench.run(0.5);
  EXPECT_EQ(restored->bench.hash(), alone->bench.hash());
}

}  // namespace volvox::physics::native
