#include "disturbance.h"
#include "experiments.h"
#include "grow.h"
#include "segments.h"
#include "volvox/base/index.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::remod3d {
namespace {

constexpr double half = 0.042;   // m, from a dock of a SuperBot to its next joint
constexpr double link = 0.084;   // m, from joint to joint
constexpr double rest = 0.0425;  // m, height of the axis of a module on the ground
constexpr double quarter = pi / 2;

using Model = std::shared_ptr<const model::ModuleModel>;

// A block whose dock is at the height of the modules on the ground.
Model make_base() {
  auto model = std::make_shared<model::ModuleModel>();
  model->name = "base";
  model->fixed_in_place = true;
  model::Link body;
  body.name = "base";
  const model::Shape box = model::Box{{0.1, 0.084, 0.084}};
  auto geometry = std::make_shared<model::Geometry>();
  geometry->colliders.push_back({"base", box, Pose{{-0.05, 0, rest}, {}}, {}});
  body.geometry = std::move(geometry);
  body.visuals.push_back({"base", box, Pose{{-0.05, 0, rest}, {}}, {0.35, 0.37, 0.42, 1}});
  model->links.push_back(std::move(body));
  model::Dock mount;
  mount.name = "mount";
  mount.kind = "superbot";
  mount.pose = {{0, 0, rest}, {}};
  model->docks.push_back(std::move(mount));
  return model;
}

// A SuperBot with a dock beacon at its front and its back.
Model with_beacons(const model::ModuleModel& superbot) {
  auto model = std::make_shared<model::ModuleModel>(superbot);
  for (const char* name : {"front", "back"}) {
    const model::Dock& dock = model->docks[model->dock_index(name)];
    model->sensors.push_back({std::string(name) + "_beacon", "dock_beacon", dock.link, dock.pose, {}, 0});
  }
  model->mind = model::Mind{"grow", {}, {}, 0};
  return model;
}

// From the base through `modules` modules with their roll joints at 90 degrees, and `further` (m) beyond the last dock.
Result<model::Chain> planar_chain(const model::ModuleModel& superbot, int modules, double further) {
  model::ModuleModel turned = superbot;
  model::Joint& roll = turned.joints[turned.joint_index("roll")];
  roll.lower = roll.upper = quarter;
  model::ModuleModel last = turned;
  Pose& tip = last.docks[last.dock_index("front")].pose;
  tip = tip * Pose{{further, 0, 0}, {}};
  model::Chain chain(Pose{{0, 0, rest}, {}} * model::engaged_dock(4, 0));
  for (int i = 0; i < modules; ++i)
    if (auto added = chain.append(i + 1 == modules ? last : turned, "back", "front", i == 0 ? 0 : 1); !added.ok())
      return added.error();
  return chain;
}

// A loose module: the joint where it turns its tail, and where it points.
struct Lying {
  Vec3 tail;
  double heading = 0;  // rad
  Vec3 at(double along) const { return tail + Vec3{volvox::cos(heading), volvox::sin(heading), 0} * along; }
};

constexpr Vec3 shoulder{half, 0, rest};
constexpr double fold = radians(85);  // of the arm at the start, to one side

// At `distance` from the shoulder in the direction `azimuth`, pointing outwards up to `askew`.
Lying lying(double distance, double azimuth, double askew) {
  return {shoulder + Vec3{volvox::cos(azimuth), volvox::sin(azimuth), 0} * distance, azimuth + askew};
}

struct Start {
  double side = 1;  // 1: the arm is folded to its right, -1: to its left
  Lying first, second;
};

// Anywhere within reach. An arm of one module reaches a ring of 119 to 168 mm, and no place behind its elbow; an arm of
// two reaches to 336 mm. The modules do not touch each other, and the second is beyond where the folded arm turns.
Start anywhere(std::uint64_t seed) {
  RandomStream random(seed, 0, "places");
  const double askew = radians(20);
  Start start;
  start.side = random.chance(0.5) ? 1 : -1;
  start.first = lying(random.uniform(0.128, 0.158), start.side * random.uniform(radians(-35), radians(50)),
                      random.uniform(-askew, askew));
  do {
    start.second =
        lying(random.uniform(0.25, 0.31), random.uniform(radians(-75), radians(75)), random.uniform(-askew, askew));
  } while (robots::segment_distance(start.first.at(-half), start.first.at(link + half), start.second.at(-half),
                                    start.second.at(link + half)) < 0.11);
  return start;
}

Result<std::shared_ptr<const robots::GrowPlan>> make_plan(const model::ModuleModel& superbot) {
  auto plan = std::make_shared<robots::GrowPlan>();
  plan->tail_length = half;
  for (const int modules : {1, 2}) {
    robots::GrowPlan::Reach reach;
    auto dock = planar_chain(superbot, modules, 0);
    if (!dock.ok()) return dock.error();
    reach.dock = std::move(*dock);
    for (const double gap : robots::GrowPlan::gaps) {
      auto chain = planar_chain(superbot, modules, half + gap);
      if (!chain.ok()) return chain.error();
      reach.approach.push_back(std::move(*chain));
    }
    plan->reaches.push_back(std::move(reach));
  }
  return std::shared_ptr<const robots::GrowPlan>(plan);
}

// The ReMod3D paper, figure 5 (top): a SuperBot on a base docks with two modules nearby, one after the other, and
// becomes an arm of three.
class ArmGrowth final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const std::filesystem::path&) const override {
    return std::vector<model::ParameterDesc>{
        {"disturbed",
         "true",
         {},
         {},
         {"true", "false"},
         "loose modules lie anywhere within reach, clocks differ, sensors have noise, modules in random order",
         0},
        {"messages", "true", {}, {}, {"true", "false"}, "whether messages between modules arrive", 0}};
  }

  Result<model::WorldModel> init(sim::Setup& setup) override {
    auto superbot = setup.library.load("superbot");
    if (!superbot.ok()) return superbot.error();
    auto plan = make_plan(**superbot);
    if (!plan.ok()) return plan.error();
    setup.registries.behaviors.add(
        "grow", [plan = *plan] { return std::make_unique<robots::Grow>(plan); },
        "an arm that docks with modules nearby");
    const Model module = with_beacons(**superbot);
    model::WorldBuilder builder("arm_growth");
    builder.add_ground();
    builder.add(make_base(), Pose{}, "base");
    model::PlacementOptions arm, loose;
    const bool disturbed = setup.settings.at("disturbed") == "true";
    const Start start = disturbed ? anywhere(setup.seed)
                                  : Start{1, lying(0.142, 0, radians(12)), lying(0.307, radians(-60), radians(12))};
    arm.positions = {{"yaw", -start.side * fold}, {"roll", quarter}, {"pitch", start.side * fold}};
    loose.positions = {{"roll", quarter}};
    builder.add(module, std::nullopt, "m0", arm);
    builder.connect("base.mount", "m0.back");
    const auto pose = [](const Lying& at) { return Pose{at.at(half), Quat::axis_angle({0, 0, 1}, at.heading)}; };
    builder.add(module, pose(start.first), "m1", loose);
    builder.add(module, pose(start.second), "m2", loose);
    builder.set_run({Time::seconds(60), {1, 60}, 1.0 / 240});
    auto world = builder.build();
    if (!world.ok()) return world;
    if (disturbed) {
      permute_modules(*world, setup.seed);
      set_clocks_apart(*world);
      add_percept_noise(*world);
    }
    if (setup.settings.at("messages") == "false") cut_messages(*world);
    return world;
  }

  void observe(const sim::Simulation& simulation) override {
    for (const world::DockEvent& event : simulation.dock_events())
      if (event.kind == world::DockEvent::Kind::engaged && simulation.tick() > 1)
        engaged_at_.push_back(simulation.now().seconds());
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    const world::World& world = simulation.world();
    // Counts the modules from the base on: each module's front is docked to the next one's back.
    int modules = 0;
    world::PlacementIndex base = 0;
    while (world.name(base) != "base") ++base;
    for (world::DockIndex dock = world.part(base).first_dock; world.graph().partner(dock) != world::nobody;) {
      const world::PlacementIndex module = world.graph().owner(world.graph().partner(dock));
      ++modules;
      dock = world.part(module).first_dock + world.module_model(module).dock_index("front");
    }
    metrics.set("arm_modules", modules, "length of the arm in modules, at the end");
    metrics.set("grown", modules == 3 && world.docks_broken() == 0 ? 1 : 0,
                "1: an arm of three modules, no dock broke");
    metrics.set("first_docked_s", engaged_at_.empty() ? sim::not_measured : engaged_at_.front(),
                "when the first loose module docked; -: never");
    metrics.set("second_docked_s", engaged_at_.size() < 2 ? sim::not_measured : engaged_at_[1],
                "when the second loose module docked; -: never");
    metrics.set("docks_broken", real(world.docks_broken()));
  }

  void archive_state(Archive& ar) override { ar("engaged at", engaged_at_); }

 private:
  std::vector<double> engaged_at_;  // s, when docks engaged
};

}  // namespace

sim::ExperimentFactory arm_growth() { return make<ArmGrowth>(); }

}  // namespace volvox::experiments::remod3d
