#include <algorithm>

#include "arm.h"
#include "disturbance.h"
#include "experiments.h"
#include "settings.h"
#include "volvox/base/index.h"
#include "volvox/model/elongate.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {
namespace {

constexpr int modules = 3;
constexpr double height = 0.9;   // m, of the column; the arm is shorter, so it cannot reach the ground
constexpr double within = 5e-3;  // m; the ReMod3D paper, IV.C
constexpr double bar_mass = 0.02, bar_radius = 0.01;

using Model = std::shared_ptr<const model::ModuleModel>;

// A column with a dock on its top that points up.
Model column() {
  auto model = std::make_shared<model::ModuleModel>();
  model->name = "column";
  model->fixed_in_place = true;
  model::Link link;
  link.name = "column";
  const model::Shape box = model::Box{{0.084, 0.084, height}};
  auto geometry = std::make_shared<model::Geometry>();
  geometry->colliders.push_back({"column", box, Pose{{0, 0, height / 2}, {}}, {}});
  link.geometry = std::move(geometry);
  link.visuals.push_back({"column", box, Pose{{0, 0, height / 2}, {}}, {0.35, 0.37, 0.42, 1}});
  model->links.push_back(std::move(link));
  model::Dock dock;
  dock.name = "mount";
  dock.kind = "superbot";
  dock.pose = {{0, 0, height}, Quat::axis_angle({0, 1, 0}, -pi / 2)};
  model->docks.push_back(std::move(dock));
  return model;
}

Result<std::shared_ptr<robots::ArmMission>> make_mission(const model::ModuleModel& superbot, const model::Dock& mount,
                                                         int targets, std::uint64_t seed) {
  auto mission = std::make_shared<robots::ArmMission>();
  mission->foot = {0, 0, 0};
  mission->chain = model::Chain(mount.pose * model::engaged_dock(mount.symmetry, 0));
  for (int i = 0; i < modules; ++i)
    if (auto added = mission->chain.append(superbot, "back", "front"); !added.ok()) return added.error();
  // A target is the tip's pose in a random posture without self-collision, so it can be reached.
  RandomStream random(seed, 0, "targets");
  while (std::ssize(mission->targets) < targets) {
    const std::vector<double> posture = mission->chain.random_positions(random);
    if (robots::clearance(*mission, posture) >= robots::least_clearance)
      mission->targets.push_back(mission->chain.tip(posture));
  }
  return mission;
}

double quantile(std::vector<double> values, double part) {
  if (values.empty()) return sim::not_measured;
  std::sort(values.begin(), values.end());
  return values[truncated<std::size_t>(part * real(values.size() - 1))];
}

// The ReMod3D paper, figure 1(d) and section IV.C: three SuperBots with elongated docks form an arm of nine joints on a
// base. Its tip moves to random poses by inverse kinematics.
class Manipulator final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<model::ParameterDesc>{
        {"targets", "200", 1, 10'000, {}, "number of random poses, 4.5 s each", 0, true},
        {"extension", "0.05", 0, 0.08, {}, "elongation of the docks, in m", 0},
        {"gravity", "9.81", 0, 20, {}, "in m/s^2; 0 as in orbit, like the DARPA Phoenix arm", 0},
        {"disturbed",
         "true",
         {},
         {},
         {"true", "false"},
         "clocks differ, sensors have noise, modules in random order",
         0},
        {"messages", "true", {}, {}, {"true", "false"}, "whether messages between modules arrive", 0}};
  }

  Result<model::WorldModel> init(sim::Setup& setup) override {
    const auto number = [&](const char* name) { return experiments::number(setup.settings, name); };
    auto superbot = setup.library.load("superbot");
    if (!superbot.ok()) return superbot.error();
    auto elongated = std::make_shared<model::ModuleModel>(**superbot);
    if (number("extension") > 0)
      model::elongate(*elongated, elongated->dock_index("front"), number("extension"), bar_mass, bar_radius);
    elongated->mind = model::Mind{"arm", {}, {}, 0};

    const Model base = column();
    auto mission = make_mission(*elongated, base->docks.front(), truncated(number("targets")), setup.seed);
    if (!mission.ok()) return mission.error();
    mission_ = *mission;
    setup.registries.behaviors.add(
        "arm", [mission = mission_] { return std::make_unique<robots::Arm>(mission); },
        "moves the tip of an arm to poses by inverse kinematics");

    model::WorldBuilder builder("manipulator");
    builder.add_ground();
    builder.add(base, Pose{}, "base");
    builder.add_chain(elongated, modules, "front", "back", 0, std::nullopt, "m");
    builder.connect("base.mount", "m0.back");
    builder.set_gravity({0, 0, -number("gravity")});
    builder.set_run({Time::seconds(number("targets") * mission_->target_time + 0.1), {1, 60}, 1.0 / 240});
    auto world = builder.build();
    if (!world.ok()) return world;
    if (setup.settings.at("disturbed") == "true") disturb(*world, setup.seed);
    if (setup.settings.at("messages") == "false") cut_messages(*world);
    return world;
  }

  void begin(const sim::Simulation& simulation) override {
    const world::World& world = simulation.world();
    for (std::size_t i = 0; i < simulation.minds().size(); ++i) {
      const mind::Agent& agent = simulation.minds().agent(i);
      if (agent.name() == "m0") first_ = i;
      if (agent.name() == "m" + std::to_string(modules - 1))
        tip_ = world.part(agent.placement()).first_dock + world.module_model(agent.placement()).dock_index("front");
    }
  }

  void observe(const sim::Simulation& simulation) override {
    const auto* arm = simulation.minds().agent(first_).find_model<robots::ArmModel>();
    if (arm == nullptr || arm->target < 0) return;
    if (arm->target != target_) {
      if (target_ >= 0) misses_.push_back(now_);
      target_ = arm->target;
      solved_ += arm->solved;
    }
    const Pose tip = simulation.world().dock_pose(tip_), &wanted = mission_->targets[target_];
    now_ = {length(tip.position - wanted.position), angle(wanted.rotation.conjugate() * tip.rotation)};
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    // The last target counts only if its time is over.
    const double slots = simulation.now().seconds() / mission_->target_time;
    if (target_ >= 0 && slots > target_ + 1) misses_.push_back(now_);
    std::vector<double> distances, angles;
    for (const Miss& miss : misses_) {
      distances.push_back(miss.distance * 1e3);
      angles.push_back(degrees(miss.angle));
    }
    const double count = real(misses_.size());
    const double reached =
        real(std::count_if(misses_.begin(), misses_.end(), [](const Miss& m) { return m.distance <= within; }));
    metrics.set("targets", count, "number of targets whose time is over");
    const std::string& engine = simulation.world().engine_info().name;
    const bool droops = (engine == "bullet" || engine == "ode") && simulation.settings().max_substep > 1.0 / 900;
    metrics.set("reached_fraction", sim::mean_of(reached, count),
                std::string("fraction of the targets reached within 5 mm") +
                    (droops ? "; arms of docks droop in this engine: --substep 1/960 reaches all" : ""));
    metrics.set_beside_paper("error_median_mm", quantile(distances, 0.5), 5,
                             "median distance to the target; ReMod3D paper, section IV.C: within 5 mm");
    metrics.set("error_95_mm", quantile(distances, 0.95), "95th percentile of the distance to the target");
    metrics.set("error_angle_median_deg", quantile(angles, 0.5), "median orientation error");
    metrics.set("solved_fraction", sim::mean_of(real(solved_), target_ + 1),
                "fraction of the targets with a collision-free solution of the inverse kinematics");
    metrics.set("docks_broken", real(simulation.world().docks_broken()));
  }

  void archive_state(Archive& ar) override {
    ar("target", target_);
    ar("now", now_);
    ar("misses", misses_);
    ar("solved", solved_);
  }

 private:
  struct Miss {                      // distance of the tip from a target at the end of its time
    double distance = 0, angle = 0;  // m, rad
    template <class A>
    void archive(A& ar) {
      ar("distance", distance);
      ar("angle", angle);
    }
  };

  std::shared_ptr<const robots::ArmMission> mission_;
  world::DockIndex tip_ = 0;
  std::size_t first_ = 0;  // the agent at the base
  int target_ = -1;
  Miss now_;  // of the present target
  std::vector<Miss> misses_;
  std::int64_t solved_ = 0;
};

}  // namespace

sim::ExperimentFactory manipulator() { return make<Manipulator>(); }

}  // namespace volvox::experiments::remod3d
