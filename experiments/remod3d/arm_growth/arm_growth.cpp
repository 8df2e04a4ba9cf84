#include "arm_growth.h"

#include "disturbance.h"
#include "grow.h"
#include "volvox/base/index.h"

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

// The first joint of the arm, and the postures and places of the two loose modules. A place is where the loose module
// turns its tail; an arm of one or two modules reaches it in a zigzag that leaves 2 cm of play. A loose module lies
// roughly in the direction in which the zigzag ends, more exactly where the arm must stretch: a module that turns its
// tail far slips, because half its weight rests on that tail.
constexpr Vec3 shoulder{half, 0, rest};
const std::vector<double> first_posture = {radians(-85), quarter, radians(89)};
const std::vector<double> second_posture = {radians(-85), quarter, radians(50), radians(-50), quarter, radians(50)};
constexpr double first_heading = radians(12), second_heading = radians(-48);
const Vec3 first_place = shoulder + Vec3{0.142, 0, 0};

Vec3 second_place() {
  Vec3 place = shoulder;
  for (const double heading : {-84, -36, -84, -36})
    place += Vec3{volvox::cos(radians(heading)), volvox::sin(radians(heading)), 0} * link;
  return place;
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
    if (modules == 1) {
      reach.ready = first_posture;
    } else {
      auto far = planar_chain(superbot, modules, half + 0.06);
      if (!far.ok()) return far.error();
      reach.ready = model::reach(*far, {second_place(), {}}, second_posture, {.radian_weight = 0}).positions;
    }
    plan->reaches.push_back(std::move(reach));
  }
  return std::shared_ptr<const robots::GrowPlan>(plan);
}

}  // namespace

Result<std::vector<model::ParameterDesc>> ArmGrowth::parameters(const std::filesystem::path&) const {
  return std::vector<model::ParameterDesc>{
      {"disturbed",
       "true",
       {},
       {},
       {"true", "false"},
       "clocks differ, sensors have noise, loose modules start 2 cm and 10 degrees off, modules in random order",
       0},
      {"messages", "true", {}, {}, {"true", "false"}, "whether messages between modules arrive", 0}};
}

Result<model::WorldModel> ArmGrowth::init(sim::Setup& setup) {
  auto superbot = setup.library.load("superbot");
  if (!superbot.ok()) return superbot.error();
  auto plan = make_plan(**superbot);
  if (!plan.ok()) return plan.error();
  setup.registries.behaviors.add(
      "grow", [plan = *plan] { return std::make_unique<robots::Grow>(plan); }, "an arm that docks with modules nearby");
  const Model module = with_beacons(**superbot);
  model::WorldBuilder builder("arm_growth");
  builder.add_ground();
  builder.add(make_base(), Pose{}, "base");
  model::PlacementOptions arm, loose;
  arm.positions = {{"yaw", first_posture[0]}, {"roll", first_posture[1]}, {"pitch", first_posture[2]}};
  loose.positions = {{"roll", quarter}};
  builder.add(module, std::nullopt, "m0", arm);
  builder.connect("base.mount", "m0.back");
  const auto lying = [](const Vec3& tail, double heading) {
    return Pose{tail, Quat::axis_angle({0, 0, 1}, heading)} * Pose{{half, 0, 0}, {}};
  };
  builder.add(module, lying(first_place, first_heading), "m1", loose);
  builder.add(module, lying(second_place(), second_heading), "m2", loose);
  builder.set_run({Time::seconds(60), {1, 60}, 1.0 / 240});
  auto world = builder.build();
  if (!world.ok()) return world;
  if (setup.settings.at("disturbed") == "true") disturb(*world, setup.seed);
  if (setup.settings.at("messages") == "false") cut_messages(*world);
  return world;
}

void ArmGrowth::observe(const sim::Simulation& simulation) {
  for (const world::DockEvent& event : simulation.dock_events())
    if (event.kind == world::DockEvent::Kind::engaged && simulation.tick() > 1)
      engaged_at_.push_back(simulation.now().seconds());
}

void ArmGrowth::shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) {
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
  metrics.set("grown", modules == 3 && world.docks_broken() == 0 ? 1 : 0, "1: an arm of three modules, no dock broke");
  metrics.set("first_docked_s", engaged_at_.empty() ? sim::not_measured : engaged_at_.front(),
              "when the first loose module docked; -: never");
  metrics.set("second_docked_s", engaged_at_.size() < 2 ? sim::not_measured : engaged_at_[1],
              "when the second loose module docked; -: never");
  metrics.set("docks_broken", real(world.docks_broken()));
}

void ArmGrowth::archive_state(Archive& ar) { ar("engaged at", engaged_at_); }

}  // namespace volvox::experiments::remod3d
