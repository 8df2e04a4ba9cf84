#include <algorithm>
#include <cmath>

#include "experiments.h"
#include "volvox/base/index.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {
namespace {

constexpr double arena = 4;                              // m, side of the square between the walls
constexpr int squares = 8;                               // per side, to count the visited ones
constexpr double pillar_radius = 0.12;                   // m: wider than the gap of two rays where the robot turns away
constexpr double half_length = 0.148, half_width = 0.1;  // m, of the robot's outline including the wheels

// Horizontal distance from the robot's outline to a point.
double gap_to(const Pose& robot, const Vec3& point) {
  const Vec3 p = robot.inverse() * point;
  return length(std::max(0.0, std::fabs(p.x) - half_length), std::max(0.0, std::fabs(p.y) - half_width));
}

// The ReMod3D paper, figure 1(h): a mobile robot drives among obstacles; its only sensor is a range sensor.
class Wheelbot final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<model::ParameterDesc>{{"obstacles", "10", 0, 40, {}, "number of pillars", 0, true},
                                             {"speed", "6", 0, 20, {}, "of the wheels, in rad/s", 0},
                                             {"noise", "0.01", 0, 1, {}, "standard deviation of the ranges, in m", 0}};
  }

  Result<model::WorldModel> init(sim::Setup& setup) override {
    const Parameters parameters(setup.settings, "experiment remod3d/wheelbot");
    const std::int64_t obstacles = parameters.integer("obstacles", 10);
    const double noise = parameters.number("noise", 0.01);
    const std::string speed = parameters.text("speed", "6");
    if (auto checked = parameters.check(); !checked.ok()) return checked.error();
    auto loaded = setup.library.load("wheelbot");
    if (!loaded.ok()) return loaded.error();
    auto wheelbot = std::make_shared<model::ModuleModel>(**loaded);
    if (noise > 0) wheelbot->percept_noise["range"] = {{"gaussian", {{"deviation", std::to_string(noise)}}, 0}};

    model::WorldBuilder builder("wheelbot");
    builder.add_ground();
    for (int side = 0; side < 4; ++side) {
      const Quat turn = Quat::axis_angle({0, 0, 1}, side * pi / 2);
      builder.add_obstacle(model::Box{{0.1, arena + 0.2, 0.3}}, Pose{turn * Vec3{arena / 2 + 0.05, 0, 0.15}, turn}, 0,
                           {}, {0.8, 0.8, 0.78, 1}, "wall" + std::to_string(side));
    }
    RandomStream random(setup.seed, 0, "arena");
    std::vector<Vec3> places;
    for (int tries = 0; std::ssize(places) < obstacles && tries < 10000; ++tries) {
      const Vec3 at{random.uniform(-1.6, 1.6), random.uniform(-1.6, 1.6), 0.15};
      // Leave space to pass between any two pillars, and to start in the middle.
      const bool crowded = length(at) < 0.8 || std::any_of(places.begin(), places.end(), [&](const Vec3& other) {
                             return length(at - other) < 0.65;
                           });
      if (crowded) continue;
      builder.add_obstacle(model::Cylinder{pillar_radius, 0.3}, Pose{at, {}}, 0, {}, {0.75, 0.45, 0.3, 1},
                           "pillar" + std::to_string(places.size()));
      places.push_back(at);
    }
    model::PlacementOptions options;
    options.mind = model::Mind{"wander", {{"speed", speed}}, {}, 0};
    builder.add(wheelbot, Pose{{0, 0, 0.046}, Quat::axis_angle({0, 0, 1}, random.uniform(0, 2 * pi))}, "wheelbot",
                options);
    builder.set_clocks({5, 50});
    model::RunSettings run;
    run.duration = Time::seconds(60);
    builder.set_run(run);
    return builder.build();
  }

  void begin(const sim::Simulation& simulation) override {
    const world::World& world = simulation.world();
    last_ = world.link_pose(world.part(world.modules().front()).first_link).position;
    visited_.assign(squares * squares, 0);
  }

  void observe(const sim::Simulation& simulation) override {
    const world::World& world = simulation.world();
    const Pose robot = world.link_pose(world.part(world.modules().front()).first_link);
    path_ += length(robot.position.x - last_.x, robot.position.y - last_.y);
    last_ = robot.position;
    const auto square = [](double x) { return std::clamp(truncated((x / arena + 0.5) * squares), 0, squares - 1); };
    visited_[square(last_.y) * squares + square(last_.x)] = 1;
    for (world::PlacementIndex p = 0; p < world.placements(); ++p)
      if (world.name(p).starts_with("pillar"))
        gap_ = std::min(gap_, gap_to(robot, world.link_pose(world.part(p).first_link).position) - pillar_radius);
    for (const double x : {-half_length, half_length})
      for (const double y : {-half_width, half_width}) {
        const Vec3 corner = robot * Vec3{x, y, 0};
        gap_ = std::min(gap_, arena / 2 - std::max(std::fabs(corner.x), std::fabs(corner.y)));
      }
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    const double time = simulation.now().seconds();
    metrics.set("path_m", path_, "length of the path driven");
    metrics.set("speed_m_s", sim::mean_of(path_, time), "path_m over the run time");
    metrics.set("gap_min_m", sim::measured_if(time > 0, gap_),
                "smallest distance to a wall or pillar; 0 or less: it touched");
    metrics.set("visited", real(std::count(visited_.begin(), visited_.end(), 1)) / (squares * squares),
                "fraction of the squares of half a metre that it visited");
  }

  void archive_state(Archive& ar) override {
    ar("last", last_);
    ar("path", path_);
    ar("gap", gap_);
    ar("visited", visited_);
  }

 private:
  Vec3 last_;                          // its position in the last tick
  double path_ = 0;                    // m
  double gap_ = 1e300;                 // m, smallest distance from its outline to a wall or pillar
  std::vector<std::uint8_t> visited_;  // 1 for visited squares of the arena, row by row
};

}  // namespace

sim::ExperimentFactory wheelbot() { return make<Wheelbot>(); }

}  // namespace volvox::experiments::remod3d
