#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "volvox/base/index.h"
#include "volvox/base/random.h"
#include "volvox/physics/scenes/robots.h"
#include "volvox/physics/scenes/scenes.h"

namespace volvox::physics::scenes {
namespace {

// Organisms grow on a lattice of cubes of half a SuperBot: a module takes two of them, its back
// (link 0) and its front (link 3). Two docks that meet between neighbouring cubes may close.
struct Cell {
  int x = 0, y = 0, z = 0;
  friend constexpr auto operator<=>(const Cell&, const Cell&) = default;
  friend constexpr Cell operator+(const Cell& a, const Cell& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend constexpr Cell operator-(const Cell& a, const Cell& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  constexpr Cell operator-() const { return {-x, -y, -z}; }
  Vec3 centre() const { return Vec3{double(x), double(y), double(z)} * superbot_width; }
};

constexpr Cell cross(const Cell& a, const Cell& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

constexpr std::array<Cell, 6> directions = {{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}}};

struct GridModule {
  Cell back;       // where its back half is
  Cell ahead, up;  // its x and z axes
  Cell front() const { return back + ahead; }
};

struct GridDock {
  int module = 0;
  int link = 0;  // 0 or 3
  Cell cell, faces;
};

// The six docks of a SuperBot: three on each end link.
std::array<GridDock, 6> docks_of(int number, const GridModule& m) {
  const Cell left = cross(m.up, m.ahead);
  return {{{number, 0, m.back, -m.ahead},
           {number, 0, m.back, m.up},
           {number, 0, m.back, -m.up},
           {number, 3, m.front(), m.ahead},
           {number, 3, m.front(), left},
           {number, 3, m.front(), -left}}};
}

struct Organism {
  std::vector<GridModule> modules;
  std::vector<std::pair<GridDock, GridDock>> docks;
  std::vector<Cell> cells;
  bool loops = false;
};

class Growth {
 public:
  Growth(std::size_t size, bool loops, RandomStream& random) : random_(random) {
    organism_.loops = loops;
    take({{0, 0, 0}, {1, 0, 0}, {0, 0, 1}});
    // A place may be occupied: then another is tried.
    for (int tries = 0; organism_.modules.size() < size && tries < 2000; ++tries) grow();
    if (loops) close_loops();
    for (const auto& [cell, module] : taken_) organism_.cells.push_back(cell);
  }
  Organism take_organism() { return std::move(organism_); }

 private:
  void take(const GridModule& m) {
    const int number = narrow<int>(organism_.modules.size());
    taken_[m.back] = taken_[m.front()] = number;
    organism_.modules.push_back(m);
  }

  // Docks a new module to a free dock of the organism. Organisms are at most two cubes high, because they lie on the
  // ground.
  void grow() {
    const auto host_number = narrow<int>(random_.below(organism_.modules.size()));
    const GridDock host = docks_of(host_number, organism_.modules[host_number])[random_.below(6)];
    const Cell at = host.cell + host.faces;
    GridModule guest{at, directions[random_.below(6)], directions[random_.below(6)]};
    if (guest.up == guest.ahead || guest.up == -guest.ahead) return;
    if (random_.chance(0.5)) guest.back = at - guest.ahead;  // it docks with its front half
    for (const Cell& cell : {guest.back, guest.front()})
      if (taken_.contains(cell) || cell.z < 0 || cell.z > 1) return;
    for (const GridDock& dock : docks_of(narrow<int>(organism_.modules.size()), guest)) {
      if (dock.cell != at || dock.faces != -host.faces) continue;
      organism_.docks.emplace_back(host, dock);
      closed_.insert({host.cell, host.faces});
      take(guest);
      return;
    }
  }

  void close_loops() {
    std::map<std::pair<Cell, Cell>, GridDock> open;  // by cell and direction
    for (std::size_t m = 0; m < organism_.modules.size(); ++m) {
      for (const GridDock& dock : docks_of(narrow<int>(m), organism_.modules[m])) {
        const auto other = open.find({dock.cell + dock.faces, -dock.faces});
        const bool docked =
            closed_.contains({dock.cell, dock.faces}) || closed_.contains({dock.cell + dock.faces, -dock.faces});
        if (other != open.end() && !docked) organism_.docks.emplace_back(other->second, dock);
        open[{dock.cell, dock.faces}] = dock;
      }
    }
  }

  RandomStream& random_;
  Organism organism_;
  std::map<Cell, int> taken_;
  std::set<std::pair<Cell, Cell>> closed_;
};

Vec3 vector(const Cell& c) { return {double(c.x), double(c.y), double(c.z)}; }

void build(BenchScene& scene, const RobotParts& parts, const Organism& organism, const Pose& pose, int first_module) {
  std::vector<std::size_t> bodies;
  for (std::size_t m = 0; m < organism.modules.size(); ++m) {
    const GridModule& module = organism.modules[m];
    const Pose at{(module.back.centre() + module.front().centre()) * 0.5,
                  Quat::from_axes(vector(module.ahead), vector(module.up))};
    bodies.push_back(add_superbot(scene, parts, pose * at, first_module + narrow<int>(m)));
  }
  for (const auto& [a, b] : organism.docks) {
    const auto body = [&](const GridDock& dock) { return bodies[dock.module] + dock.link; };
    const Vec3 point = a.cell.centre() + vector(a.faces) * (superbot_width / 2);
    add_dock(scene, body(a), body(b), pose * point, pose.rotation * vector(a.faces), first_module + b.module);
  }
}

std::shared_ptr<const model::HeightFieldData> hills(double size, RandomStream& random) {
  auto field = std::make_shared<model::HeightFieldData>();
  field->columns = field->rows = truncated<std::uint32_t>(std::ceil(size / 0.1)) + 1;
  field->size_x = field->size_y = 0.1 * (field->columns - 1);
  struct Wave {
    double x, y, phase, height;
  };
  std::vector<Wave> waves;
  for (const double length : {2.4, 1.7, 1.1, 0.8}) {
    const double heading = random.uniform(0, 2 * pi), k = 2 * pi / length;
    waves.push_back({k * volvox::cos(heading), k * volvox::sin(heading), random.uniform(0, 2 * pi), 0.012 * length});
  }
  for (std::uint32_t row = 0; row < field->rows; ++row) {
    for (std::uint32_t column = 0; column < field->columns; ++column) {
      double height = 0;
      for (const Wave& w : waves) height += w.height * volvox::sin(w.x * 0.1 * column + w.y * 0.1 * row + w.phase);
      field->heights.push_back(to_float(height));
    }
  }
  return field;
}

// Lowers organisms one after the other until a ball around one of their cubes would touch the ground or a ball of
// another organism: none overlap at the start, and they touch soon after they start to fall.
class Letdown {
 public:
  Letdown(const model::HeightFieldData& ground) : ground_(ground) {}

  Pose place(const Organism& organism, Pose pose) {
    double height = -1e300;
    for (const Cell& cell : organism.cells) {
      const Vec3 c = pose * cell.centre();
      double highest = -1e300;
      for (const double dx : {-radius, 0.0, radius})
        for (const double dy : {-radius, 0.0, radius})
          highest = std::max(highest, ground_.height_at(c.x + dx, c.y + dy));
      height = std::max(height, highest + radius - (c.z - pose.position.z));
      for (const Vec3& ball : balls_) {
        const double across = (ball.x - c.x) * (ball.x - c.x) + (ball.y - c.y) * (ball.y - c.y);
        if (across >= 4 * radius * radius) continue;
        height = std::max(height, ball.z + std::sqrt(4 * radius * radius - across) - (c.z - pose.position.z));
      }
    }
    pose.position.z = height;
    for (const Cell& cell : organism.cells) balls_.push_back(pose * cell.centre());
    return pose;
  }

 private:
  static constexpr double radius = 0.0735;  // m, of a ball around a cube of half a SuperBot
  const model::HeightFieldData& ground_;
  std::vector<Vec3> balls_;
};

}  // namespace

BenchScene random_organisms(int modules, std::uint64_t seed) {
  BenchScene scene;
  scene.motor_torque = 6.4;
  // The area is too small for all of them side by side, so that some lie on others.
  const double side = std::max(0.5, 0.12 * std::sqrt(modules));
  RandomStream random(seed, 0, "organisms");
  const auto ground = hills(side + 4, random);
  add_fixed(scene, model::HeightField{ground}, {});
  const RobotParts parts(scene.friction);
  Letdown letdown(*ground);
  std::vector<double> phases, swings;  // by module
  for (int m = 0; m < modules;) {
    const auto size = std::min<std::size_t>(1 + random.below(20), modules - m);
    const bool loops = random.chance(0.6);
    const Organism organism = Growth(size, loops, random).take_organism();
    const Vec3 at{random.uniform(-0.5, 0.5) * side, random.uniform(-0.5, 0.5) * side, 0};
    build(scene, parts, organism, letdown.place(organism, {at, Quat::axis_angle({0, 0, 1}, random.uniform(0, 2 * pi))}),
          m);
    for (std::size_t i = 0; i < organism.modules.size(); ++i) {
      phases.push_back(random.uniform(0, 2 * pi));
      // Joints in a loop act against each other, so they swing less.
      swings.push_back(organism.docks.size() >= organism.modules.size() ? 0.02 : 0.3);
    }
    m += narrow<int>(organism.modules.size());
  }
  scene.drive = [phases, swings](const SceneJoint& joint, double time, double angle, double) {
    const auto m = joint.module;
    const double turn = pi * time + phases[m] + joint.axis, ramp = std::min(1.0, time);
    return clamp(ramp * swings[m] * pi * volvox::cos(turn) + 6 * (ramp * swings[m] * volvox::sin(turn) - angle), -3, 3);
  };
  return scene;
}

}  // namespace volvox::physics::scenes
