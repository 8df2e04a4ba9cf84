#include "bench/engines_scenes.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/random.h"

namespace volvox::bench {
namespace {

using physics::BodyDesc;
using physics::JointDesc;
using physics::JointType;

// Centres of the four bodies of a SuperBot along x, and where its three joints are.
constexpr double body_x[4] = {-0.063, -0.021, 0.021, 0.063};
constexpr double joint_x[3] = {-0.042, 0, 0.042};
constexpr double module_length = 0.168;

model::Hull hull(std::vector<Vec3> points) {
  auto data = std::make_shared<model::HullData>();
  data->points = std::move(points);
  return data;
}

struct Plate {
  bool upright;        // lies in the x-z plane instead of x-y
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
  const auto add = [&](model::Shape shape, const Pose& pose) { geometry->colliders.push_back({"collider", std::move(shape), shift * pose, {friction, 0}}); };
  const bool upright = link >= 2;
  if (link == 0 || link == 3) {
    add(model::Box{{0.012, 0.084, 0.084}}, {{side * 0.078, 0, 0}, {}});
    for (const double s : {-1.0, 1.0}) add(plate({upright, side * 0.042, -side, 0.038, side * 0.072, s * 0.030, s * 0.042}), {});
  } else {
    add(plate({upright, side * 0.042, side, 0.028, side * 0.002, -0.028, 0}), {});
    add(plate({upright, side * 0.042, side, 0.028, side * 0.002, 0, 0.028}), {});
  }
  return geometry;
}

Vec3 box_moments(double mass, const Vec3& half) {
  return Vec3{half.y * half.y + half.z * half.z, half.x * half.x + half.z * half.z, half.x * half.x + half.y * half.y} * (mass / 3);
}

SceneJoint joint_between(const std::vector<BodyDesc>& bodies, std::size_t a, std::size_t b, const Vec3& point, const Vec3& axis, JointType type) {
  SceneJoint joint;
  joint.desc.type = type;
  joint.desc.a = {static_cast<std::uint32_t>(a), 0};
  joint.desc.b = {static_cast<std::uint32_t>(b), 0};
  const Pose world{point, Quat::between({0, 0, 1}, axis)};
  joint.desc.frame_a = bodies[a].pose.inverse() * world;
  joint.desc.frame_b = bodies[b].pose.inverse() * world;
  return joint;
}

void add_superbot(BenchScene& scene, const std::vector<std::shared_ptr<const model::Geometry>>& links, const Vec3& at, int module) {
  const std::size_t first = scene.bodies.size();
  for (std::size_t link = 0; link < 4; ++link) {
    BodyDesc body;
    body.pose.position = at + Vec3{body_x[link], 0, 0};
    body.mass = 0.15;
    body.moments = box_moments(body.mass, {0.021, 0.042, 0.042});
    body.geometry = links[link];
    body.owner = static_cast<std::uint32_t>(module + 1);
    body.quiet = true;
    scene.bodies.push_back(body);
  }
  const Vec3 axes[3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
  for (std::size_t i = 0; i < 3; ++i) {
    SceneJoint joint = joint_between(scene.bodies, first + i, first + i + 1, at + Vec3{joint_x[i], 0, 0}, axes[i], JointType::revolute);
    joint.desc.lower = -pi / 2, joint.desc.upper = pi / 2;
    joint.module = module, joint.axis = static_cast<int>(i);
    scene.joints.push_back(joint);
  }
}

BenchScene superbots(const std::string& name, int modules) {
  BenchScene scene;
  scene.name = name;
  scene.motor_torque = 6.4;
  std::vector<std::shared_ptr<const model::Geometry>> links;
  for (int i = 0; i < 4; ++i) links.push_back(superbot_link(i, scene.friction));
  const int side = static_cast<int>(std::ceil(std::sqrt(modules)));
  for (int m = 0; m < modules; ++m) {
    const bool snake = name == "S2";
    add_superbot(scene, links, snake ? Vec3{m * module_length, 0, 0.047} : Vec3{(m % side) * 0.30, (m / side) * 0.20, 0.062}, m);
    if (!snake || m == 0) continue;
    const std::size_t first = scene.bodies.size() - 4;
    SceneJoint dock = joint_between(scene.bodies, first - 1, first, {m * module_length - module_length / 2, 0, 0.047}, {1, 0, 0}, JointType::dock);
    dock.module = m;
    scene.joints.push_back(dock);
  }
  return scene;
}

// A hemisphere of 276 points about its own centre of mass.
std::shared_ptr<const model::Geometry> hemisphere(double side, double radius, double friction) {
  const double centre = 3.0 / 8 * radius, gap = 0.0005;
  std::vector<Vec3> points;
  for (int ring = 0; ring < 11; ++ring) {
    for (int i = 0; i < 25; ++i) {
      const double latitude = ring * (pi / 2) / 11.5, longitude = 2 * pi * i / 25;
      points.push_back({radius * volvox::cos(latitude) * volvox::cos(longitude), radius * volvox::cos(latitude) * volvox::sin(longitude),
                        side * (gap + (radius - gap) * volvox::sin(latitude)) - side * centre});
    }
  }
  points.push_back({0, 0, side * radius - side * centre});
  auto geometry = std::make_shared<model::Geometry>();
  geometry->colliders.push_back({"shell", hull(std::move(points)), {}, {friction, 0}});
  return geometry;
}

BenchScene atrons(int modules) {
  BenchScene scene;
  scene.name = "S3";
  scene.motor_torque = 3.0;
  const double radius = 0.055, mass = 0.425, centre = 3.0 / 8 * radius;
  const double along = 0.4 * mass * radius * radius, across = along - mass * centre * centre;
  const std::shared_ptr<const model::Geometry> halves[2] = {hemisphere(-1, radius, scene.friction), hemisphere(1, radius, scene.friction)};
  const int side = static_cast<int>(std::ceil(std::sqrt(modules)));
  RandomStream random(1, 0, "attitudes");
  for (int m = 0; m < modules; ++m) {
    const Quat q = normalized(Quat{random.normal(), random.normal(), random.normal(), random.normal()});
    const Vec3 at{(m % side) * 0.16, (m / side) * 0.16, radius + 0.02};
    const std::size_t first = scene.bodies.size();
    for (int half = 0; half < 2; ++half) {
      BodyDesc body;
      body.pose = {at + q * Vec3{0, 0, half == 0 ? -centre : centre}, q};
      body.mass = mass;
      body.moments = {across, across, along};
      body.geometry = halves[half];
      body.owner = static_cast<std::uint32_t>(m + 1);
      body.quiet = true;
      scene.bodies.push_back(body);
    }
    SceneJoint joint = joint_between(scene.bodies, first, first + 1, at, q * Vec3{0, 0, 1}, JointType::revolute);
    joint.module = m;
    scene.joints.push_back(joint);
  }
  return scene;
}

}  // namespace

BenchScene make_scene(const std::string& name, int modules) { return name == "S3" ? atrons(modules) : superbots(name, modules); }

SceneRun::SceneRun(const BenchScene& scene, physics::Engine& engine, double tick_seconds)
    : scene_(scene), engine_(engine), tick_{static_cast<std::int64_t>(std::llround(tick_seconds * 1e9))} {
  auto ground = std::make_shared<model::Geometry>();
  ground->colliders.push_back({"ground", model::Plane{}, {}, {scene.friction, 0}});
  BodyDesc plane;
  plane.motion = physics::Motion::fixed;
  plane.geometry = ground;
  (void)*engine.add_body(plane);
  for (const BodyDesc& body : scene.bodies) bodies_.push_back(*engine.add_body(body));
  for (const SceneJoint& joint : scene.joints) {
    JointDesc desc = joint.desc;
    desc.a = bodies_[desc.a.index], desc.b = bodies_[desc.b.index];
    joints_.push_back(engine.add_joint(desc));
  }
}

double SceneRun::target(const SceneJoint& joint, double time) const {
  if (scene_.name == "S1") return ((static_cast<int>(std::floor(time)) + joint.module + joint.axis) & 1) != 0 ? 0.5 : -0.5;
  const double ramp = std::min(1.0, time);
  if (joint.axis == 2) return ramp * 0.30 * volvox::sin(2 * pi * (joint.module / 6.0 - 0.5 * time));
  if (joint.axis == 0) return ramp * 0.10 * volvox::sin(2 * pi * (joint.module / 12.0 - 0.5 * time));
  return 0;
}

// Speeds that lead each joint to its angle, with the wave's own speed fed forward.
void SceneRun::command() {
  const double now = time(), next = now + tick_.seconds();
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const SceneJoint& joint = scene_.joints[i];
    if (joint.desc.type != JointType::revolute) continue;
    double speed = 1.05;
    if (scene_.name != "S3") {
      const double forward = scene_.name == "S2" ? (target(joint, next) - target(joint, now)) / tick_.seconds() : 0;
      speed = clamp(forward + 6 * (target(joint, now) - engine_.joints()[joints_[i].index].position), -3, 3);
    }
    engine_.motors()[joints_[i].index] = {physics::Control::velocity, speed, 0, scene_.motor_gain, 1e300, scene_.motor_torque};
  }
}

physics::StepStatus SceneRun::step() {
  const std::int64_t from = ticks_++ * tick_.ns;
  return engine_.advance(Time{from}, Time{from + tick_.ns});
}

void SceneRun::measure(Metrics& worst, bool penetration) const {
  const auto poses = engine_.poses();
  for (const SceneJoint& joint : scene_.joints) {
    const Pose a = poses[bodies_[joint.desc.a.index].index] * joint.desc.frame_a, b = poses[bodies_[joint.desc.b.index].index] * joint.desc.frame_b;
    const double gap = 1e3 * length(a.position - b.position);
    if (joint.desc.type == JointType::dock) {
      worst.dock_mm = std::max(worst.dock_mm, gap);
      worst.dock_deg = std::max(worst.dock_deg, degrees(angle(a.rotation.conjugate() * b.rotation)));
    } else {
      const Vec3 x = a.rotation * Vec3{0, 0, 1}, y = b.rotation * Vec3{0, 0, 1};
      worst.hinge_mm = std::max(worst.hinge_mm, gap);
      worst.hinge_deg = std::max(worst.hinge_deg, degrees(volvox::atan2(length(cross(x, y)), dot(x, y))));
    }
  }
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Pose& pose = poses[bodies_[i].index];
    worst.finite = worst.finite && finite(pose);
    worst.lift_m = std::max(worst.lift_m, pose.position.z);
    if (!penetration) continue;
    for (const model::Collider& collider : scene_.bodies[i].geometry->colliders) {
      worst.penetration_mm = std::max(worst.penetration_mm, -1e3 * model::bounds(collider.shape, pose * collider.pose).low.z);
    }
  }
}

}  // namespace volvox::bench
