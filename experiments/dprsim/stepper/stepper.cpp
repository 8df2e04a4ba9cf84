#include "stepper.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/world/magnets.h"

namespace volvox::experiments::dprsim {
namespace {

constexpr double start = 0.5;         // s, until then the catoms come to rest
constexpr double a_step = pi / 6;     // rad: twelve features
constexpr double made = radians(27);  // rad: of the first step, when it counts as made

double wrapped(double angle) { return std::remainder(angle, 2 * pi); }
double yaw_of(const Quat& q) {
  const Vec3 x = q * Vec3{1, 0, 0};
  return volvox::atan2(x.y, x.x);
}

// The time (s) that a catom takes for a step about one that is held, without a table: it rolls without slipping, so
// that one angle, from `a_step` to 0, says where it is. Two poles that are opposite at angle 0 are 2 (R - rho cos x)
// apart at x; the catom turns by 2 x while its centre goes 2 R x, so that its inertia is 4 (m R^2 + I).
double ideal_step_time(const model::ModuleModel& catom, double radius) {
  const model::Link& link = catom.links.front();
  const model::Magnet& magnet = catom.magnets.front();
  const double rho = length(magnet.position), inertia = 4 * (link.mass * radius * radius + link.moments.z);
  const double h = 1e-5;
  double x = a_step, speed = 0, time = 0;
  while (x > a_step - made && time < 10) {
    const double distance = 2 * (radius - rho * volvox::cos(x));
    const double push = world::pole_pair(magnet.strength, -magnet.strength, distance, magnet.size, magnet.range).push;
    speed += h * push * 2 * rho * volvox::sin(x) / inertia;
    x += h * speed;
    time += h;
  }
  return time;
}

}  // namespace

Result<std::vector<model::ParameterDesc>> Stepper::parameters(const std::filesystem::path&) const {
  return std::vector<model::ParameterDesc>{
      {"rate", "4", 0.1, 1000, {}, "steps of 30 degrees a second", 0},
      {"steps", "12", 1, 10000, {}, "to make; 12 are once around", 0, true},
      {"slope",
       "0",
       0,
       90,
       {},
       "of the table, in degrees; at 90 it stands upright: the catom climbs, or falls off (README)",
       0},
      {"table", "0.3", 0, 10, {}, "friction of the table", 0},
      {"drive", "micro", {}, {}, {"full", "micro"}, "features are switched, or fade into each other over a step", 0},
      {"friction", "0.6", 0, 10, {}, "between the catoms", 0},
      {"held", "true", 0, 0, {"true", "false"}, "whether the other catom is held; else both are free", 0},
      {"repel", "false", 0, 0, {"true", "false"}, "whether the features behind push, too", 0}};
}

Result<model::WorldModel> Stepper::init(sim::Setup& setup) {
  const Parameters parameters(setup.settings, "experiment dprsim/stepper");
  const double rate = parameters.number("rate", 4), slope = radians(parameters.number("slope", 0));
  steps_ = parameters.integer("steps", 12);
  const double table = parameters.number("table", 0.1), friction = parameters.number("friction", 0.6);
  const bool micro = parameters.text("drive", "micro") == "micro";
  const bool held = parameters.flag("held", true), repel = parameters.flag("repel", false);
  if (auto checked = parameters.check(); !checked.ok()) return checked.error();
  auto loaded = setup.library.load("planar_catom");
  if (!loaded.ok()) return loaded.error();

  const auto catom = std::make_shared<model::ModuleModel>(**loaded);
  auto geometry = std::make_shared<model::Geometry>(*catom->links.front().geometry);
  model::Collider& body = geometry->colliders.front();
  body.material.friction = friction;
  const auto& shape = std::get<model::Cylinder>(body.shape);
  catom->links.front().geometry = geometry;
  const auto still = std::make_shared<model::ModuleModel>(*catom);
  still->fixed_in_place = held;
  step_time_ideal_ = ideal_step_time(*catom, shape.radius);

  const auto mind = [&](int first, bool backwards, int pole) {
    model::PlacementOptions options;
    options.mind = model::Mind{"stepper",
                               {{"first", std::to_string(first)},
                                {"backwards", backwards ? "true" : "false"},
                                {"pole", std::to_string(pole)},
                                {"rate", fmt::format("{}", rate)},
                                {"steps", std::to_string(steps_)},
                                {"begin", fmt::format("{}", start)},
                                {"micro", micro ? "true" : "false"},
                                {"repel", repel ? "true" : "false"}},
                               {},
                               0};
    return options;
  };
  // Where exactly they begin is by chance.
  RandomStream random(setup.seed, 0, "stepper");
  const double angle = random.uniform(-radians(3), radians(3)), turn = random.uniform(-radians(3), radians(3));
  const double gap = random.uniform(0.0001, 0.001);
  const double apart = 2 * shape.radius + gap, height = 0.5 * shape.length;
  model::WorldBuilder builder("stepper");
  builder.add_ground({table, 0.0});
  builder.add(still, Pose{{0, 0, height}, {}}, "still", mind(0, false, 1));
  builder.add(catom,
              Pose{{apart * volvox::cos(angle), apart * volvox::sin(angle), height}, Quat::axis_angle({0, 0, 1}, turn)},
              "rolling", mind(6, true, -1));
  constexpr double g = 9.81;
  builder.set_gravity({0, -g * volvox::sin(slope), -g * volvox::cos(slope)});
  model::RunSettings run;
  still_from_ = start + real(steps_) / rate + 0.5;
  run.duration = Time::seconds(still_from_ + 0.5);
  run.dt = TickLength{1, 240};
  run.max_substep = 1.0 / 960;
  builder.set_run(run);
  return builder.build();
}

Stepper::Angles Stepper::read(const world::World& world) const {
  const Pose still = world.link_pose(world.part(world.modules()[0]).first_link);
  const Pose rolling = world.link_pose(world.part(world.modules()[1]).first_link);
  const Pose seen = still.inverse() * rolling;
  return {volvox::atan2(seen.position.y, seen.position.x), yaw_of(seen.rotation)};
}

void Stepper::begin(const sim::Simulation& simulation) { last_ = turned_ = read(simulation.world()); }

void Stepper::observe(const sim::Simulation& simulation) {
  const Angles now = read(simulation.world());
  const double time = simulation.now().seconds();
  turned_.about += wrapped(now.about - last_.about);
  turned_.own += wrapped(now.own - last_.own);
  last_ = now;
  if (time > still_from_) sum_ += turned_.about, ++looks_;
  if (step_time_ < 0 && time > start && turned_.about >= made) step_time_ = time - start;
}

void Stepper::shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) {
  const world::World& world = simulation.world();
  const double apart = length(world.link_pose(world.part(world.modules()[1]).first_link).position -
                              world.link_pose(world.part(world.modules()[0]).first_link).position);
  const auto steps = real(steps_), done = std::round((looks_ > 0 ? sum_ / real(looks_) : turned_.about) / a_step);
  metrics.set("steps_made", done,
              "steps of 30 degrees that the catom is farther around the other, mean of the last half second");
  metrics.set("steps_missed", steps - done, "of those that the magnets were switched");
  metrics.set("turned_deg", degrees(turned_.about), "about the other catom");
  metrics.set("slip_deg", degrees(turned_.own - 2 * turned_.about), "own turn beyond that of rolling, twice as much");
  metrics.set("step_time_s", sim::measured_time(step_time_), "from switching to nine tenths of the first step");
  metrics.set("step_time_ideal_s", step_time_ideal_, "the same without table and weight, by one equation of motion");
  metrics.set("apart_mm", apart * 1000, "between the centres, at the end: 44 if they touch");
  metrics.set("magnetic_energy_mJ", world.magnets()->energy(world) * 1000, "at the end");
}

void Stepper::archive_state(Archive& ar) {
  ar("last about", last_.about);
  ar("last own", last_.own);
  ar("about", turned_.about);
  ar("own", turned_.own);
  ar("step time", step_time_);
  ar("sum", sum_);
  ar("looks", looks_);
}

}  // namespace volvox::experiments::dprsim
