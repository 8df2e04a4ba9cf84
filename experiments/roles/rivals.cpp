#include "rivals.h"

#include <cmath>
#include <numeric>

#include "gait_roles.h"

namespace volvox::experiments::roles {
namespace {

const mind::RoleBook& book() {
  static const mind::RoleBook roles = robots::conro_roles();
  return roles;
}
const mind::Role& sidewinder() { return book().roles.front(); }

double wrapped(double t) { return t - sidewinder().period * std::floor(t / sidewinder().period); }

void move(mind::Agent& agent, double t) {
  for (const auto& [joint, angle] : sidewinder().motion) agent.move_to(joint, angle(wrapped(t)));
}

constexpr double hormone_steps = 12;  // between two hormones: enough for the way back in a chain of seven

}  // namespace

void GaitTable::start(mind::Agent& agent) {
  row_ = agent.parameter("id", 0);
  tune(agent);
}

void GaitTable::step(mind::Agent& agent) {
  const auto act_on = [&](const Column& due) { move(agent, due.number - row_ * sidewinder().delays.at("n")); };
  if (row_ == 0) {  // the master may be anywhere in the chain
    const Column due{wrapped(agent.time() / book().step)};
    act_on(due);
    if (transmits_) agent.send("n", due), agent.send("s", due);
  }
  // Without a message the module keeps its posture.
  while (const auto message = agent.read()) {
    const auto due = message->as<Column>();
    if (!due || row_ == 0) continue;
    act_on(*due);
    if (transmits_) agent.send(agent.where(*message) == "s" ? "n" : "s", *due);
  }
}

void Hormones::start(mind::Agent& agent) { tune(agent); }

void Hormones::act(mind::Agent& agent, double phase) {
  move(agent, phase);
  const bool end = !agent.dock("n").engaged;
  if (!transmits_) return;
  if (end) agent.send("s", Hormone{0, true});
  else agent.send("n", Hormone{phase - sidewinder().delays.at("n"), false});
}

void Hormones::step(mind::Agent& agent) {
  const bool root = !agent.dock("s").engaged;
  while (const auto message = agent.read()) {
    const auto hormone = message->as<Hormone>();
    if (!hormone) continue;
    if (!hormone->returns) act(agent, hormone->phase);
    else if (root) at_home_ = true;
    else if (transmits_) agent.send("s", *hormone);
  }
  if (!root || !at_home_ || agent.time() < sent_at_ + (hormone_steps - 1e-3) * book().step) return;
  phase_ = wrapped(phase_ + hormone_steps);
  sent_at_ = agent.time();
  at_home_ = false;
  act(agent, phase_);
}

void register_rivals(mind::BehaviorRegistry& registry) {
  registry.add(
      "gait_table", [] { return std::make_unique<GaitTable>(); },
      "gait control table with a central clock; parameter id");
  registry.add(
      "hormones", [] { return std::make_unique<Hormones>(); }, "hormones that travel along a chain and back");
}

void set_control(model::WorldModel& world, const std::string& control, bool shuffled, std::uint64_t seed) {
  std::vector<model::Placement*> modules;
  for (model::Placement& placement : world.placements)
    if (placement.is_module()) modules.push_back(&placement);
  std::vector<int> ids(modules.size());
  std::iota(ids.begin(), ids.end(), 0);
  RandomStream random(seed, 0, "ids");
  for (std::size_t i = ids.size(); shuffled && i > 1; --i) std::swap(ids[i - 1], ids[random.below(i)]);
  for (std::size_t i = 0; i < modules.size(); ++i) {
    if (!modules[i]->mind) modules[i]->mind = modules[i]->model->mind;
    model::Mind& mind = *modules[i]->mind;
    mind.behavior = control == "tables" ? "gait_table" : "hormones";
    mind.parameters.clear();
    if (control == "tables") mind.parameters["id"] = std::to_string(ids[i]);
  }
}

}  // namespace volvox::experiments::roles
