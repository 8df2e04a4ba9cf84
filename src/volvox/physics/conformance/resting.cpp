// Every shape comes to rest at the right height: on a plane, a mesh, a height field, and on other bodies.
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/physics/conformance/suite.h"

namespace volvox::physics::conformance {
namespace {

struct RestingCase {
  std::string name;
  model::Shape shape;
  Quat rotation;
  double height;  // of the centre, at rest
  bool rolls = false;
};

std::vector<RestingCase> resting_cases() {
  const Quat lying = Quat::axis_angle({0, 1, 0}, pi / 2);
  // A round hull with flat ends, like a robot's link.
  std::vector<Vec3> drum;
  for (int i = 0; i < 24; ++i) {
    const double a = 2 * pi * i / 24;
    drum.push_back({0.05 * std::cos(a), 0.05 * std::sin(a), 0.04});
    drum.push_back({0.05 * std::cos(a), 0.05 * std::sin(a), -0.04});
  }
  return {
      {"sphere", model::Sphere{0.06}, {}, 0.06, true},
      {"box", model::Box{{0.1, 0.2, 0.08}}, {}, 0.04},
      {"box_on_its_side", model::Box{{0.1, 0.2, 0.08}}, lying, 0.05},
      {"capsule_lying", model::Capsule{0.03, 0.1}, lying, 0.03, true},
      {"cylinder", model::Cylinder{0.05, 0.08}, {}, 0.04},
      {"cylinder_lying", model::Cylinder{0.05, 0.08}, lying, 0.05, true},
      {"hull_box", box_hull({0.1, 0.12, 0.06}), {}, 0.03},
      {"hull_drum", make_hull(drum), {}, 0.04},
      {"hull_tetrahedron",
       make_hull({{0.1, 0, -0.02}, {-0.05, 0.08, -0.02}, {-0.05, -0.08, -0.02}, {0, 0, 0.06}}),
       {},
       0.02},
  };
}

std::shared_ptr<model::HeightFieldData> make_field(double level) {
  auto field = std::make_shared<model::HeightFieldData>();
  field->columns = 21, field->rows = 31;
  field->size_x = 20, field->size_y = 3;
  // Flat where bodies rest, with walls around, so that the middle of its height range is not at zero.
  for (std::uint32_t r = 0; r < field->rows; ++r) {
    for (std::uint32_t c = 0; c < field->columns; ++c) {
      field->heights.push_back(static_cast<float>(r == 0 || r + 1 == field->rows ? level + 0.7 : level));
    }
  }
  return field;
}

std::shared_ptr<model::MeshData> make_mesh_floor(double level) {
  auto mesh = std::make_shared<model::MeshData>();
  constexpr std::uint32_t columns = 41, rows = 9;
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) mesh->vertices.push_back({-10 + 0.5 * c, -2 + 0.5 * r, level});
  }
  for (std::uint32_t r = 0; r + 1 < rows; ++r) {
    for (std::uint32_t c = 0; c + 1 < columns; ++c) {
      const std::uint32_t i = r * columns + c;
      mesh->triangles.push_back({i, i + 1, i + columns + 1});
      mesh->triangles.push_back({i, i + columns + 1, i + columns});
    }
  }
  return mesh;
}

}  // namespace

class Resting : public Conformance {
 protected:
  // Drops one of each shape from a little above the floor and checks the height at rest.
  void drop_all(const Solid& floor, double level, double allowed) {
    add(floor);
    const auto cases = resting_cases();
    std::vector<BodyId> bodies;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Solid solid{cases[i].shape, 0.5};
      solid.pose = {{-5 + 1.03 * real(i), 0.13, level + cases[i].height + 0.01}, cases[i].rotation};
      bodies.push_back(add(solid));
    }
    run(3);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_NEAR(pose(bodies[i]).position.z - level, cases[i].height, allowed) << cases[i].name;
      const Twist v = velocity(bodies[i]);
      EXPECT_LT(cases[i].rolls ? std::fabs(v.linear.z) : length(v.linear), tolerance("rest_speed")) << cases[i].name;
    }
  }
};

VOLVOX_FOR_EVERY_ENGINE(Resting);

TEST_P(Resting, on_a_plane) {
  VOLVOX_NEEDS_MOTION();
  Solid floor{model::Plane{}};
  floor.motion = Motion::fixed;
  drop_all(floor, 0, tolerance("rest_height_m"));
}

TEST_P(Resting, on_a_box) {
  VOLVOX_NEEDS_MOTION();
  Solid floor{model::Box{{20, 4, 1}}, 1, {{0, 0, -0.5}, {}}};
  floor.motion = Motion::fixed;
  drop_all(floor, 0, tolerance("rest_height_surface_m"));
}

TEST_P(Resting, on_a_mesh) {
  VOLVOX_NEEDS_MOTION();
  VOLVOX_NEEDS("meshes");
  Solid floor{model::Mesh(make_mesh_floor(0.25)), 1, {{0, 0, 0.25}, {}}};
  floor.motion = Motion::fixed;
  drop_all(floor, 0.5, tolerance("rest_height_surface_m"));
}

TEST_P(Resting, on_a_height_field) {
  VOLVOX_NEEDS_MOTION();
  Solid floor{model::HeightField(make_field(0.4)), 1, {{0, 0, -0.2}, {}}};
  floor.motion = Motion::fixed;
  drop_all(floor, 0.2, tolerance("rest_height_surface_m"));
}

TEST_P(Resting, stack_stands) {
  VOLVOX_NEEDS_MOTION();
  add_ground();
  std::vector<BodyId> boxes;
  for (int i = 0; i < 6; ++i) boxes.push_back(add({model::Box{{0.1, 0.1, 0.1}}, 0.5, {{0, 0, 0.05 + 0.1 * i}, {}}}));
  run(4);
  for (int i = 0; i < 6; ++i) {
    const Vec3 p = pose(boxes[i]).position;
    EXPECT_NEAR(p.z, 0.05 + 0.1 * i, 2e-3);
    EXPECT_LT(std::hypot(p.x, p.y), 2e-3);
  }
}

TEST_P(Resting, body_with_its_centre_of_mass_aside_tips_over) {
  VOLVOX_NEEDS_MOTION();
  add_ground();
  BodyDesc desc = describe({model::Box{{0.1, 0.1, 0.3}}, 1, {{0, 0, 0.15}, {}}});
  desc.inertial.position = {0.06, 0, 0};  // beyond its foot
  const BodyId falls = add(desc);
  desc.inertial.position = {0.04, 0, 0};
  desc.pose.position.y = 1;
  const BodyId stands = add(desc);
  run(2);
  EXPECT_LT((pose(falls).rotation * Vec3{0, 0, 1}).z, 0.1);
  EXPECT_GT((pose(stands).rotation * Vec3{0, 0, 1}).z, 0.999);
}

}  // namespace volvox::physics::conformance
