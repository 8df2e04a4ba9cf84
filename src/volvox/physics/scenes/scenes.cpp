#include "volvox/physics/scenes/scenes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/physics/scenes/robots.h"

namespace volvox::physics::scenes {
namespace {

constexpr double superbot_torque = 6.4, atron_torque = 3.0;  // N m
constexpr double snake_height = 0.047;                       // of its axis above the ground, at the start
constexpr int snake_of_heap = 50, ring = 6, wall_rows = 5;   // modules
constexpr int brawlers = 12;

// The speed that moves a joint to its target, with the target's speed as feed-forward.
double towards(double angle, double target, double target_speed = 0) {
  return clamp(target_speed + 6 * (target - angle), -3, 3);
}

double alternate(const SceneJoint& joint, double time, double angle, double) {
  const bool odd = ((truncated(std::floor(time)) + joint.module + joint.axis) & 1) != 0;
  return towards(angle, odd ? 0.5 : -0.5);
}

double hold(const SceneJoint&, double, double angle, double) { return towards(angle, 0); }

double spin(const SceneJoint&, double, double, double) { return 1.05; }

double snake_angle(const SceneJoint& joint, double time) {
  const double ramp = std::min(1.0, time);
  if (joint.axis == 2) return ramp * 0.30 * volvox::sin(2 * pi * (joint.module / 6.0 - 0.5 * time));
  if (joint.axis == 0) return ramp * 0.10 * volvox::sin(2 * pi * (joint.module / 12.0 - 0.5 * time));
  return 0;
}

double snake_wave(const SceneJoint& joint, double time, double angle, double tick) {
  const double now = snake_angle(joint, time);
  return towards(angle, now, (snake_angle(joint, time + tick) - now) / tick);
}

// A rolling ring: a regular polygon at rest, then an oval whose long axis travels around the ring, so that it leans
// forward and rolls. The second harmonic keeps the ring closed to first order.
double track_angle(const SceneJoint& joint, double time) {
  if (joint.axis != 2) return 0;
  const double ramp = std::min(1.0, time), phase = 2 * pi * joint.module / ring - 1.2 * time + 0.9;
  return -2 * pi / ring - ramp * 0.35 * volvox::cos(2 * phase);  // up is negative
}

double track_wave(const SceneJoint& joint, double time, double angle, double tick) {
  const double now = track_angle(joint, time);
  return towards(angle, now, (track_angle(joint, time + tick) - now) / tick);
}

BenchScene empty_scene(double torque, Drive drive) {
  BenchScene scene;
  scene.motor_torque = torque;
  scene.drive = std::move(drive);
  return scene;
}

void add_ground(BenchScene& scene) { add_fixed(scene, model::Plane{}, {}); }

// Four walls about the origin, as planes.
void add_box(BenchScene& scene, double side) {
  add_ground(scene);
  for (const Vec3& normal : {Vec3{1, 0, 0}, Vec3{-1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, -1, 0}})
    add_fixed(scene, model::Plane{normal}, {normal * (-side / 2), {}});
}

// SuperBots docked front to back, the first one's centre at the pose. Returns the first body.
std::size_t add_snake(BenchScene& scene, const RobotParts& parts, const Pose& start, int count, int first_module) {
  const std::size_t first = scene.bodies.size();
  for (int m = 0; m < count; ++m) {
    const std::size_t front =
        add_superbot(scene, parts, start * Pose{{m * superbot_length, 0, 0}, {}}, first_module + m);
    if (m > 0)
      add_dock(scene, front - 1, front, start * Vec3{(m - 0.5) * superbot_length, 0, 0}, start.rotation * Vec3{1, 0, 0},
               first_module + m);
  }
  return first;
}

int square_side(int count) { return truncated(std::ceil(std::sqrt(count))); }

Quat random_attitude(RandomStream& random) {
  return normalized(Quat{random.normal(), random.normal(), random.normal(), random.normal()});
}

void scatter_superbots(BenchScene& scene, const RobotParts& parts, int modules) {
  const int side = square_side(modules);
  for (int m = 0; m < modules; ++m) add_superbot(scene, parts, {{(m % side) * 0.30, (m / side) * 0.20, 0.062}, {}}, m);
}

BenchScene scattered_superbots(int modules, std::uint64_t) {
  BenchScene scene = empty_scene(superbot_torque, alternate);
  add_ground(scene);
  scatter_superbots(scene, RobotParts(scene.friction), modules);
  return scene;
}

// The same, and far away a few that fall on each other and go on brawling: the others are to cost what they cost alone.
BenchScene superbots_beside_a_brawl(int modules, std::uint64_t seed) {
  BenchScene scene = empty_scene(superbot_torque, alternate);
  add_ground(scene);
  const RobotParts parts(scene.friction);
  scatter_superbots(scene, parts, modules);
  RandomStream random(seed, 0, "attitudes");
  for (int i = 0; i < brawlers; ++i)
    add_superbot(scene, parts, {{-5, 0.02 * (i % 3), 0.12 + 0.21 * i}, random_attitude(random)}, modules + i);
  return scene;
}

BenchScene one_snake(int modules, std::uint64_t) {
  BenchScene scene = empty_scene(superbot_torque, snake_wave);
  add_ground(scene);
  add_snake(scene, RobotParts(scene.friction), {{0, 0, snake_height}, {}}, modules, 0);
  return scene;
}

BenchScene scattered_atrons(int modules, std::uint64_t seed) {
  BenchScene scene = empty_scene(atron_torque, spin);
  add_ground(scene);
  const RobotParts parts(scene.friction);
  const int side = square_side(modules);
  RandomStream random(seed, 0, "attitudes");
  for (int m = 0; m < modules; ++m)
    add_atron(scene, parts, {{(m % side) * 0.16, (m / side) * 0.16, 0.075}, random_attitude(random)}, m);
  return scene;
}

// Layers of SuperBots at random attitudes, too far apart to touch, that fall into a box.
BenchScene pile(int modules, std::uint64_t seed) {
  constexpr double box = 1.2, layer = 0.21;
  constexpr int side = 5;
  BenchScene scene = empty_scene(superbot_torque, alternate);
  scene.settle = 0.8;
  add_box(scene, box);
  const RobotParts parts(scene.friction);
  const double spacing = (box - 0.02) / side;
  RandomStream random(seed, 0, "attitudes");
  for (int m = 0; m < modules; ++m) {
    const Vec3 at{spacing * (m % side - 2), spacing * (m / side % side - 2), 0.12 + layer * (m / (side * side))};
    add_superbot(scene, parts, {at, random_attitude(random)}, m);
  }
  return scene;
}

BenchScene heap(int modules, std::uint64_t seed) {
  BenchScene scene = empty_scene(superbot_torque, snake_wave);
  scene.settle = 0.8;
  add_ground(scene);
  const RobotParts parts(scene.friction);
  RandomStream random(seed, 0, "places");
  for (int m = 0, snake = 0; m < modules; m += snake_of_heap, ++snake) {
    const int count = std::min(snake_of_heap, modules - m);
    const Quat yaw = Quat::axis_angle({0, 0, 1}, 2.4 * snake);
    const Vec3 centre{random.uniform(-0.25, 0.25), random.uniform(-0.25, 0.25), 0.06 + 0.1 * snake};
    add_snake(scene, parts, {centre + yaw * Vec3{-0.5 * (count - 1) * superbot_length, 0, 0}, yaw}, count, m);
  }
  return scene;
}

BenchScene bouncing_spheres(int count, std::uint64_t seed) {
  constexpr double radius = 0.05, mass = 0.5, restitution = 0.8;
  BenchScene scene = empty_scene(0, {});
  scene.keep_awake = true;
  add_box(scene, 3.0);
  const auto ball = geometry_of(model::Sphere{radius}, {scene.friction, restitution});
  RandomStream random(seed, 0, "places");
  constexpr int side = 14;
  for (int i = 0; i < count; ++i) {
    const Vec3 at{(i % side - 6.5) * 0.2 + random.uniform(-0.04, 0.04),
                  (i / side % side - 6.5) * 0.2 + random.uniform(-0.04, 0.04),
                  0.5 + 0.3 * (i / (side * side)) + random.uniform(0, 0.15)};
    add_solid(scene, ball, {at, {}}, mass);
  }
  return scene;
}

BenchScene stack(int count, std::uint64_t) {
  constexpr double edge = 0.1;
  BenchScene scene = empty_scene(0, {});
  scene.keep_awake = true;
  add_ground(scene);
  const auto box = geometry_of(model::Box{{edge, edge, edge}}, {scene.friction, 0});
  for (int i = 0; i < count; ++i) add_solid(scene, box, {{0, 0, (i + 0.5) * edge}, {}}, 1.0);
  return scene;
}

// Rings of six SuperBots, standing; the pitch joints are the corners.
BenchScene rolling_tracks(int modules, std::uint64_t) {
  BenchScene scene = empty_scene(superbot_torque, track_wave);
  add_ground(scene);
  const RobotParts parts(scene.friction);
  constexpr double turn = 2 * pi / ring, corner = 0.042;  // of the pitch joint, ahead of the module's centre
  for (int m = 0; m < modules; m += ring) {
    // The lowest side lies between the corner of the last module and that of the first.
    Pose at{{0, 0.4 * (m / ring), snake_height}, {}};
    std::vector<std::size_t> bodies;
    for (int i = 0; i < ring; ++i) {
      const std::size_t body = add_superbot(scene, parts, at, m + i);
      // The parts ahead of the corner are bent up: the module's last link and all further modules.
      const Pose bent = at * Pose{{corner, 0, 0}, Quat::axis_angle({0, 1, 0}, -turn)} * Pose{{-corner, 0, 0}, {}};
      scene.bodies[body + 3].pose = bent * at.inverse() * scene.bodies[body + 3].pose;
      if (i > 0)
        add_dock(scene, bodies.back() + 3, body, at * Vec3{-superbot_length / 2, 0, 0}, at.rotation * Vec3{1, 0, 0},
                 m + i);
      bodies.push_back(body);
      at = bent * Pose{{superbot_length, 0, 0}, {}};
    }
    add_dock(scene, bodies.back() + 3, bodies.front(), at * Vec3{-superbot_length / 2, 0, 0},
             at.rotation * Vec3{1, 0, 0}, m);
  }
  scene.modules = (modules + ring - 1) / ring * ring;
  return scene;
}

// Cubes, each docked to all its neighbours: many more docks than a tree has.
BenchScene lattice(int modules, std::uint64_t) {
  constexpr double edge = 0.1, mass = 0.5;
  BenchScene scene = empty_scene(0, {});
  scene.keep_awake = true;
  add_ground(scene);
  const auto cube = geometry_of(model::Box{{edge, edge, edge}}, {scene.friction, 0});
  int side = 1;  // the cube root, rounded
  while ((side + 0.5) * (side + 0.5) * (side + 0.5) < modules) ++side;
  const std::size_t first = scene.bodies.size();
  const auto body = [&](int x, int y, int z) { return first + x + side * (y + side * z); };
  for (int z = 0; z < side; ++z)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) add_solid(scene, cube, {{x * edge, y * edge, 0.01 + (z + 0.5) * edge}, {}}, mass);
  const auto dock = [&](std::size_t a, std::size_t b) {
    const Vec3 from = scene.bodies[a].pose.position, to = scene.bodies[b].pose.position;
    add_dock(scene, a, b, (from + to) * 0.5, normalized(to - from), narrow<int>(b - first));
  };
  for (int z = 0; z < side; ++z) {
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        if (x + 1 < side) dock(body(x, y, z), body(x + 1, y, z));
        if (y + 1 < side) dock(body(x, y, z), body(x, y + 1, z));
        if (z + 1 < side) dock(body(x, y, z), body(x, y, z + 1));
      }
    }
  }
  scene.modules = side * side * side;
  return scene;
}

// A wall of SuperBots, docked front to back in rows and row on row, that spheres are thrown at.
BenchScene wall_hit_by_spheres(int modules, std::uint64_t seed) {
  constexpr double radius = 0.05, mass = 0.5, speed = 5;
  BenchScene scene = empty_scene(superbot_torque, hold);
  scene.settle = 0.1;  // before the first sphere arrives
  add_ground(scene);
  const RobotParts parts(scene.friction);
  const int rows = std::min(wall_rows, modules), columns = (modules + rows - 1) / rows;
  std::vector<std::size_t> below;
  for (int row = 0, m = 0; row < rows; ++row) {
    const int count = std::min(columns, modules - m);
    const double z = superbot_width * (row + 0.5) + 0.002;
    const std::size_t first = add_snake(scene, parts, {{-0.5 * (columns - 1) * superbot_length, 0, z}, {}}, count, m);
    std::vector<std::size_t> bodies;
    for (int i = 0; i < count; ++i) {
      bodies.push_back(first + 4 * i);
      if (row == 0) continue;
      const Vec3 at = scene.bodies[bodies.back()].pose.position - Vec3{0, 0, superbot_width / 2};
      add_dock(scene, below[i], bodies.back(), at, {0, 0, 1}, m + i);
    }
    below = std::move(bodies);
    m += count;
  }
  const auto ball = geometry_of(model::Sphere{radius}, {scene.friction, 0.3});
  RandomStream random(seed, 0, "shots");
  const double width = columns * superbot_length;
  for (int i = 0; i < 20; ++i) {
    const Vec3 at{random.uniform(-0.45, 0.45) * width, -1.0 - 0.25 * i,
                  random.uniform(0.1, 0.1 + superbot_width * (rows - 1))};
    const std::size_t body = add_solid(scene, ball, {at, {}}, mass);
    scene.bodies[body].velocity.linear = {0, speed, 0};
    scene.bodies[body].gravity = false;  // so that every sphere hits the wall where it was aimed
  }
  return scene;
}

// A straight snake that floats at rest, so that steps differ only by the event: one dock at a time opens and closes.
BenchScene docking_snake(int modules, std::uint64_t) {
  BenchScene scene = empty_scene(superbot_torque, hold);
  scene.keep_awake = true;
  add_ground(scene);
  add_snake(scene, RobotParts(scene.friction), {{0, 0, 1}, {}}, modules, 0);
  for (BodyDesc& body : scene.bodies) body.gravity = false;
  scene.events.count = 1;
  return scene;
}

// Pairs of docked SuperBots: a tenth of them undocks and docks again in every cycle of events.
BenchScene docking_pairs(int modules, std::uint64_t) {
  BenchScene scene = empty_scene(superbot_torque, hold);
  scene.keep_awake = true;
  add_ground(scene);
  const RobotParts parts(scene.friction);
  const int side = square_side((modules + 1) / 2);
  for (int m = 0; m < modules; m += 2) {
    const Pose at{{(m / 2 % side) * 0.45, (m / 2 / side) * 0.20, 0.0425}, {}};
    add_snake(scene, parts, at, std::min(2, modules - m), m);
  }
  scene.events.count = std::max(1, modules / 20);
  return scene;
}

struct Entry {
  SceneInfo info;
  BenchScene (*make)(int modules, std::uint64_t seed);
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {{"S1", "disconnected SuperBots on a plane, every joint alternating between two angles each second", 1000, 1, 3},
       scattered_superbots},
      {{"S2", "SuperBots docked front to back: one snake with a travelling wave", 1000, 2, 4}, one_snake},
      {{"S3", "disconnected ATRONs at random attitudes, each spinning its joint", 1500, 1, 3}, scattered_atrons},
      {{"S4", "random organisms of 1 to 20 SuperBots, some with loops, on each other and on a height field", 1000, 1,
        3},
       random_organisms},
      {{"pile", "SuperBots dropped into a box of 1.2 m, every joint alternating", 500, 1, 3}, pile},
      {{"heap", "wriggling snakes of 50 SuperBots dropped on each other", 1000, 2, 3}, heap},
      {{"spheres", "spheres that bounce in a box", 666, 1, 3}, bouncing_spheres},
      {{"stack", "boxes stacked on each other", 20, 1, 4}, stack},
      {{"track", "rings of six SuperBots that roll", 6, 6, 6}, rolling_tracks},
      {{"lattice", "cubes docked to all their neighbours, on a plane", 1000, 1, 2}, lattice},
      {{"hit", "a wall of docked SuperBots hit by twenty spheres", 45, 2, 2}, wall_hit_by_spheres},
      {{"beside", "S1, and twelve more SuperBots far away that have fallen on each other", 1000, 1, 3},
       superbots_beside_a_brawl},
      {{"dock", "a snake afloat, of which one dock at a time opens and closes: what an event costs", 1000, 2, 6},
       docking_snake},
      {{"events", "docked pairs of SuperBots on a plane, of which 50 open or close in a tick: 1500 events a second",
        1000, 2, 3},
       docking_pairs},
  };
  return all;
}

}  // namespace

const std::vector<SceneInfo>& all_scenes() {
  static const std::vector<SceneInfo> infos = [] {
    std::vector<SceneInfo> list;
    for (const Entry& entry : entries()) list.push_back(entry.info);
    return list;
  }();
  return infos;
}

Result<BenchScene> make_scene(const std::string& name, int modules, std::uint64_t seed) {
  std::vector<std::string> names;
  for (const Entry& entry : entries()) {
    names.push_back(entry.info.name);
    if (entry.info.name != name) continue;
    if (modules != 0 && modules < entry.info.fewest)
      return Error(fmt::format("the scene '{}' cannot have {} modules", name, modules),
                   fmt::format("give it at least {}", entry.info.fewest));
    const int count = modules == 0 ? entry.info.modules : modules;
    BenchScene scene = entry.make(count, seed);
    scene.name = name;
    if (scene.modules == 0) scene.modules = count;
    return scene;
  }
  const std::string near = nearest_name(name, names);
  return Error(fmt::format("there is no scene '{}'", name),
               near.empty() ? fmt::format("choose one of: {}", fmt::join(names, ", "))
                            : fmt::format("did you mean '{}'?", near));
}

}  // namespace volvox::physics::scenes
