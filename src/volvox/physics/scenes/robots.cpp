#include "volvox/physics/scenes/robots.h"

#include <algorithm>
#include <variant>

#include "volvox/base/index.h"

namespace volvox::physics::scenes {
namespace {

// Centres of the four bodies of a SuperBot, and positions of its three joints, along x, m.
constexpr double body_x[4] = {-0.063, -0.021, 0.021, 0.063};
constexpr double joint_x[3] = {-0.042, 0, 0.042};

constexpr double atron_radius = 0.055, atron_half_mass = 0.425;
constexpr double hemisphere_centre = 3.0 / 8 * atron_radius;  // of mass, above its flat face

model::Hull hull(std::vector<Vec3> points) {
  auto data = std::make_shared<model::HullData>();
  data->points = std::move(points);
  return data;
}

struct Plate {
  bool upright;            // lies in the x-z plane instead of x-y
  double centre, opening;  // of its half circle, and the side to which it bulges
  double radius, back;     // where its straight end is
  double from, to;         // thickness
};

// Half a disc of 37 points with a straight end of 2, twice: 78 points.
model::Hull plate(const Plate& p) {
  std::vector<Vec3> points;
  for (const double depth : {p.from, p.to}) {
    const auto add = [&](double x, double y) { points.push_back(p.upright ? Vec3{x, depth, y} : Vec3{x, y, depth}); };
    for (int i = 0; i < 37; ++i) {
      const double angle = -pi / 2 + pi * i / 36;
      add(p.centre + p.opening * p.radius * volvox::cos(angle), p.radius * volvox::sin(angle));
    }
    add(p.back, -p.radius);
    add(p.back, p.radius);
  }
  return hull(std::move(points));
}

std::shared_ptr<const model::Geometry> superbot_link(int link, double friction) {
  auto geometry = std::make_shared<model::Geometry>();
  const double side = link < 2 ? -1 : 1;
  const Pose shift{{-body_x[link], 0, 0}, {}};
  const auto add = [&](model::Shape shape, const Pose& pose) {
    geometry->colliders.push_back({"collider", std::move(shape), shift * pose, {friction, 0}});
  };
  const bool upright = link >= 2;
  if (link == 0 || link == 3) {
    add(model::Box{{0.012, 0.084, 0.084}}, {{side * 0.078, 0, 0}, {}});
    for (const double s : {-1.0, 1.0})
      add(plate({upright, side * 0.042, -side, 0.038, side * 0.072, s * 0.030, s * 0.042}), {});
  } else {
    add(plate({upright, side * 0.042, side, 0.028, side * 0.002, -0.028, 0}), {});
    add(plate({upright, side * 0.042, side, 0.028, side * 0.002, 0, 0.028}), {});
  }
  return geometry;
}

// A hemisphere of 276 points about its own centre of mass.
std::shared_ptr<const model::Geometry> hemisphere(double side, double friction) {
  constexpr double gap = 0.0005;
  std::vector<Vec3> points;
  for (int ring = 0; ring < 11; ++ring) {
    const double latitude = ring * (pi / 2) / 11.5, across = atron_radius * volvox::cos(latitude);
    const double height = side * (gap + (atron_radius - gap) * volvox::sin(latitude) - hemisphere_centre);
    for (int i = 0; i < 25; ++i) {
      const double longitude = 2 * pi * i / 25;
      points.push_back({across * volvox::cos(longitude), across * volvox::sin(longitude), height});
    }
  }
  points.push_back({0, 0, side * (atron_radius - hemisphere_centre)});
  return geometry_of(hull(std::move(points)), {friction, 0});
}

Vec3 box_moments(double mass, const Vec3& size) {
  const Vec3 squares = multiply(size, size);
  return Vec3{squares.y + squares.z, squares.x + squares.z, squares.x + squares.y} * (mass / 12);
}

SceneJoint joint_between(std::size_t a, const Pose& frame_a, std::size_t b, const Pose& frame_b, JointType type) {
  SceneJoint joint;
  joint.desc.type = type;
  joint.desc.a = {narrow<std::uint32_t>(a), 0};
  joint.desc.b = {narrow<std::uint32_t>(b), 0};
  joint.desc.frame_a = frame_a;
  joint.desc.frame_b = frame_b;
  return joint;
}

BodyDesc link_of(int module, const Pose& pose, double mass, const Vec3& moments,
                 std::shared_ptr<const model::Geometry> geometry) {
  BodyDesc body;
  body.pose = pose;
  body.mass = mass;
  body.moments = moments;
  body.geometry = std::move(geometry);
  body.owner = module + 1;
  body.quiet = true;
  return body;
}

}  // namespace

RobotParts::RobotParts(double friction) {
  for (int i = 0; i < 4; ++i) superbot.push_back(superbot_link(i, friction));
  atron = {hemisphere(-1, friction), hemisphere(1, friction)};
}

std::size_t add_superbot(BenchScene& scene, const RobotParts& parts, const Pose& pose, int module) {
  const std::size_t first = scene.bodies.size();
  constexpr double mass = 0.15;
  for (std::size_t link = 0; link < 4; ++link)
    scene.bodies.push_back(link_of(module, pose * Pose{{body_x[link], 0, 0}, {}}, mass,
                                   box_moments(mass, {0.042, 0.084, 0.084}), parts.superbot[link]));
  const Vec3 axes[3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
  for (int i = 0; i < 3; ++i) {
    // In the module's frame, so that the bits are equal in every module, as from a file.
    const Quat axis = Quat::between({0, 0, 1}, axes[i]);
    SceneJoint joint = joint_between(first + i, {{joint_x[i] - body_x[i], 0, 0}, axis}, first + i + 1,
                                     {{joint_x[i] - body_x[i + 1], 0, 0}, axis}, JointType::revolute);
    joint.desc.lower = -pi / 2, joint.desc.upper = pi / 2;
    joint.module = module, joint.axis = i;
    scene.joints.push_back(joint);
  }
  return first;
}

std::size_t add_atron(BenchScene& scene, const RobotParts& parts, const Pose& pose, int module) {
  const std::size_t first = scene.bodies.size();
  const double along = 0.4 * atron_half_mass * atron_radius * atron_radius;
  const double across = along - atron_half_mass * hemisphere_centre * hemisphere_centre;
  for (int half = 0; half < 2; ++half) {
    const Vec3 centre{0, 0, half == 0 ? -hemisphere_centre : hemisphere_centre};
    scene.bodies.push_back(
        link_of(module, pose * Pose{centre, {}}, atron_half_mass, {across, across, along}, parts.atron[half]));
  }
  SceneJoint joint = joint_between(first, {{0, 0, hemisphere_centre}, {}}, first + 1, {{0, 0, -hemisphere_centre}, {}},
                                   JointType::revolute);
  joint.module = module;
  scene.joints.push_back(joint);
  return first;
}

std::size_t add_solid(BenchScene& scene, std::shared_ptr<const model::Geometry> geometry, const Pose& pose,
                      double mass) {
  BodyDesc body;
  body.pose = pose;
  body.mass = mass;
  const model::Shape& shape = geometry->colliders.front().shape;
  if (const auto* sphere = std::get_if<model::Sphere>(&shape)) {
    const double moment = 0.4 * mass * sphere->radius * sphere->radius;
    body.moments = {moment, moment, moment};
  } else {
    body.moments = box_moments(mass, std::get<model::Box>(shape).size);
  }
  body.geometry = std::move(geometry);
  scene.bodies.push_back(std::move(body));
  return scene.bodies.size() - 1;
}

void add_fixed(BenchScene& scene, const model::Shape& shape, const Pose& pose) {
  BodyDesc body;
  body.motion = Motion::fixed;
  body.pose = pose;
  body.geometry = geometry_of(shape, {scene.friction, 0});
  scene.bodies.push_back(std::move(body));
}

void add_dock(BenchScene& scene, std::size_t a, std::size_t b, const Vec3& point, const Vec3& axis, int module) {
  const Pose world{point, Quat::between({0, 0, 1}, axis)};
  SceneJoint dock = joint_between(a, scene.bodies[a].pose.inverse() * world, b, scene.bodies[b].pose.inverse() * world,
                                  JointType::dock);
  dock.module = module;
  scene.joints.push_back(dock);
}

std::shared_ptr<const model::Geometry> geometry_of(model::Shape shape, const model::Material& material) {
  auto geometry = std::make_shared<model::Geometry>();
  geometry->colliders.push_back({"shape", std::move(shape), {}, material});
  return geometry;
}

}  // namespace volvox::physics::scenes
