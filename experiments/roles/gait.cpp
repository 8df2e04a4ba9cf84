#include "gait.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "disturbance.h"
#include "rivals.h"
#include "settings.h"
#include "volvox/base/index.h"
#include "volvox/world/measures.h"

namespace volvox::experiments::roles {
namespace {

double number(const sim::Setup& setup, const std::string& name, double fallback) {
  return setup.settings.contains(name) ? experiments::number(setup.settings, name) : fallback;
}

// The friction of a contact is the geometric mean of its two materials. The ground's friction is set so that the
// contact with modules has this value.
void set_friction(model::WorldModel& world, double friction) {
  double of_modules = 0;
  for (const model::Placement& placement : world.placements)
    if (placement.is_module())
      of_modules = placement.model->links.front().geometry->colliders.front().material.friction;
  for (model::Placement& placement : world.placements) {
    if (placement.name != "ground" || of_modules <= 0) continue;
    auto ground = std::make_shared<model::ModuleModel>(*placement.model);
    auto geometry = std::make_shared<model::Geometry>(*ground->links.front().geometry);
    for (model::Collider& part : geometry->colliders) part.material.friction = friction * friction / of_modules;
    ground->links.front().geometry = std::move(geometry);
    placement.model = std::move(ground);
  }
}

// The paper starts the root by an infra-red signal, so its clock is 0 at the start of the run. The other clocks started
// at any time before.
void start_root(model::WorldModel& world, std::uint64_t seed) {
  std::vector<bool> has_parent(world.placements.size(), false);
  for (const model::Connection& c : world.connections)
    has_parent[c.b] = true;  // a connection names the parent's dock first
  for (std::size_t i = 0; i < has_parent.size(); ++i) {
    model::Placement& placement = world.placements[i];
    if (!placement.is_module() || has_parent[i]) continue;
    RandomStream random(seed, i, "clock of the root");
    placement.clock = model::Clock{0, random.uniform(-world.clocks.drift_ppm, world.clocks.drift_ppm)};
  }
}

}  // namespace

Result<model::WorldModel> Gait::init(sim::Setup& setup) {
  register_rivals(setup.registries.behaviors);
  auto world = make_world(setup);
  if (!world.ok()) return world;
  set_friction(*world, number(setup, "friction", 0.7));
  hardware_ = hardware_of(setup.settings);
  if (setup.settings.contains("torque")) fit(hardware_, *world);
  start_root(*world, setup.seed);
  set_period(hardware_, *world, setup.seed);
  lose_messages(*world, number(setup, "loss", 0));
  dead_ = number(setup, "dead", -1);
  dead_at_ = number(setup, "dead_at", 5);
  silent_ = number(setup, "silent", -1);
  silent_at_ = number(setup, "silent_at", 8);
  silent_for_ = number(setup, "silent_for", 2.5);
  settle_ = number(setup, "settle", 5);
  const auto modules = std::count_if(world->placements.begin(), world->placements.end(),
                                     [](const model::Placement& p) { return p.is_module(); });
  if (const double last = real(modules) - 1; dead_ > last || silent_ > last)
    return Error(fmt::format("dead= or silent= names module {:g}, which does not exist", std::max(dead_, silent_)),
                 fmt::format("give dead= and silent= from 0 to {:g}", last));
  if (const auto control = setup.settings.find("control");
      control != setup.settings.end() && control->second != "roles")
    set_control(*world, control->second, setup.settings.at("shuffled") == "true", setup.seed);
  return world;
}

void Gait::begin(const sim::Simulation& simulation) {
  start_ = settled_ = world::centre_of_mass(simulation.world());
  if (course_.synchronising) started_at_ = 0;
}

void Gait::before_tick(sim::Simulation& simulation) {
  drag_cables(hardware_, simulation);
  const double now = simulation.now().seconds();
  mind::Minds& minds = simulation.minds();
  if (const int dead = truncated(dead_); dead >= 0 && now >= dead_at_ && !minds.is_off(dead)) minds.switch_off(dead);
  if (const int silent = truncated(silent_); silent >= 0) {
    const bool speaks = now < silent_at_ || now >= silent_at_ + silent_for_;
    if (speaks != speaks_) minds.tune(silent, "transmits", speaks ? "true" : "false");
    speaks_ = speaks;
  }
}

void Gait::observe(const sim::Simulation& simulation) {
  synchrony_.observe(simulation);
  const double now = simulation.now().seconds();
  const Vec3 centre = world::centre_of_mass(simulation.world());
  if (now <= settle_) settled_ = centre;
  if (started_at_ < 0) {  // the course begins when all are in step
    start_ = centre;
    if (synchrony_.all_in_step()) started_at_ = now;
  }
  if (covered_at_ < 0 && course_.distance > 0 && length(centre.x - start_.x, centre.y - start_.y) >= course_.distance)
    covered_at_ = now;
}

void Gait::shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) {
  const double now = simulation.now().seconds();
  const Vec3 centre = world::centre_of_mass(simulation.world()), moved = centre - settled_;
  const auto speed = [&](const Vec3& way, double time) { return sim::mean_of(length(way.x, way.y), time); };
  const double gait_speed = speed(moved, now - settle_);
  if (course_.distance > 0) {
    const bool covered = covered_at_ >= 0;
    const double time = sim::measured_if(covered, covered_at_ - started_at_);
    const double on_the_way = started_at_ < 0 ? sim::not_measured : speed(centre - start_, now - started_at_);
    metrics.set_beside_paper("speed_m_s", covered ? course_.distance / time : on_the_way, course_.paper_speed,
                             fmt::format("mean speed over {:g} m{} (less if the run ends before); {}", course_.distance,
                                         course_.synchronising ? ", synchronization included" : "", course_.source));
    metrics.set_beside_paper("course_time_s", time, course_.paper_time,
                             fmt::format("time for {:g} m; -: not covered; {}", course_.distance, course_.source));
  } else {
    metrics.set("speed_m_s", gait_speed, fmt::format("mean speed of the centre of mass after {:g} s", settle_));
  }
  metrics.set("gait_speed_m_s", gait_speed, fmt::format("mean speed of the centre of mass after {:g} s", settle_));
  metrics.set("sync_time_s", synchrony_.since(),
              "time from which all are in step; -: never, or no module has a parent");
  metrics.set("sync_error_max_steps", sim::measured_if(synchrony_.children() > 0, synchrony_.largest_error()),
              "largest phase error of a child against its parent, at the end");
  metrics.set("in_step", synchrony_.in_step(), "children in step with their parents at the end");
  metrics.set("children", synchrony_.children(), "modules that have a parent that plays");
  metrics.set("heading_deg", degrees(volvox::atan2(moved.y, moved.x)),
              "direction of motion; 0: the direction of the root's dock n at the start");
}

void Gait::archive_state(Archive& ar) {
  synchrony_.archive(ar);
  ar("start", start_);
  ar("settled", settled_);
  ar("started at", started_at_);
  ar("covered at", covered_at_);
  ar("speaks", speaks_);
}

}  // namespace volvox::experiments::roles
