#include "grow.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace volvox::robots {
namespace {

constexpr std::array<const char*, 3> joint_names = {"yaw", "roll", "pitch"};
constexpr double speed = 0.5;       // rad/s, of the arm's joints
constexpr double aim_gain = 1.5;    // 1/s, at which a loose module turns its tail
constexpr double aim_limit = 1.4;   // rad
constexpr double step_time = 1.0;   // s, at least, for each step of an approach: the loose module follows it
constexpr double give_up = 5.0;     // s for a step, after which the arm begins again
constexpr double aligned = 0.15;    // rad: docks less askew may come nearer; those twice as much may not
constexpr double memory = 0.2;      // s, over which sightings are averaged

}  // namespace

void Grow::start(mind::Agent& agent) {
  for (const char* joint : joint_names) command_.push_back(agent.angle(joint));
}

bool Grow::receive(mind::Agent&, const mind::Message& message) {
  if (const auto report = message.as<GrowReport>()) {
    behind_ = report->angles;
    seen_ = report->seen;
    latching_ = report->latching;
  } else if (const auto command = message.as<GrowCommand>(); command && command->angles.size() >= joint_names.size()) {
    command_ = command->angles;
  } else {
    return false;
  }
  return true;
}

void Grow::step(mind::Agent& agent) {
  const mind::DockState &front = agent.dock("front"), &back = agent.dock("back");
  GrowReport report;
  for (const char* joint : joint_names) report.angles.push_back(agent.angle(joint));
  if (front.engaged) {
    report.angles.insert(report.angles.end(), behind_.begin(), behind_.end());
    report.seen = seen_;
    report.latching = latching_;
  } else {
    report.seen = agent.percept<mind::DockBeacon>("front_beacon");
    report.latching = front.latching;
    behind_.clear();
  }

  if (!joined_ && (back.engaged || back.latching)) {
    joined_ = true;
    command_[0] = agent.angle("yaw");  // from here on it stays as it is until it is told
  }
  if (back.neighbor == "mount") lead(agent, report);
  else if (joined_) agent.send("back", report);
  else aim(agent);
  if (front.engaged && command_.size() > joint_names.size())
    agent.send("front", GrowCommand{{command_.begin() + joint_names.size(), command_.end()}});
  for (std::size_t k = 0; k < joint_names.size(); ++k) agent.move_to(joint_names[k], command_[k]);
}

// Turns the tail about its yaw towards the last joint of the arm that it sees.
void Grow::aim(mind::Agent& agent) {
  const auto& beacon = agent.percept<mind::DockBeacon>("back_beacon");
  if (!beacon.seen) return;
  const Vec3 joint = beacon.position - normalized(beacon.facing) * plan_->tail_length + Vec3{plan_->tail_length, 0, 0};
  const double aside = volvox::atan2(joint.y, joint.x);
  command_[0] = clamp(command_[0] - aim_gain * agent.dt() * aside, -aim_limit, aim_limit);
}

void Grow::move_towards(mind::Agent& agent, const std::vector<double>& posture) {
  const double most = speed * agent.dt();
  for (std::size_t k = 0; k < posture.size(); ++k) command_[k] += clamp(posture[k] - command_[k], -most, most);
}

bool Grow::stands_at(const std::vector<double>& posture) const {
  for (std::size_t k = 0; k < posture.size(); ++k)
    if (std::fabs(posture[k] - command_[k]) > 0.02) return false;
  return true;
}

void Grow::lead(mind::Agent& agent, const GrowReport& arm) {
  const std::size_t modules = arm.angles.size() / joint_names.size();
  if (arm.latching) return;  // hold still while docks close
  if (modules != modules_) {
    // Somebody has joined: the arm begins anew from where it stands.
    modules_ = modules;
    step_ = -1;
    place_known_ = false;
    since_ = agent.time();
    for (std::size_t k = command_.size(); k < arm.angles.size(); ++k) command_.push_back(arm.angles[k]);
    command_.resize(arm.angles.size());
  }
  if (modules >= 1 && modules <= plan_->reaches.size()) reach_out(agent, plan_->reaches[modules - 1], arm);
}

void Grow::reach_out(mind::Agent& agent, const GrowPlan::Reach& reach, const GrowReport& arm) {
  const double time = agent.time();
  if (arm.seen.seen) {
    const Vec3 place = reach.dock.tip(arm.angles) * (arm.seen.position - normalized(arm.seen.facing) * plan_->tail_length);
    place_ = place_known_ ? place_ + (place - place_) * std::min(1.0, agent.dt() / memory) : place;
    place_known_ = true;
  }
  if (step_ < 0) {
    move_towards(agent, reach.ready);
    if (place_known_ && stands_at(reach.ready) && time - since_ > step_time) step_ = 0, since_ = time;
    return;
  }
  const auto last = static_cast<int>(reach.approach.size()) - 1;
  const model::Reach wanted = model::reach(reach.approach[static_cast<std::size_t>(step_)], {place_, {}}, command_, {.radian_weight = 0, .iterations = 50});
  move_towards(agent, wanted.positions);

  const double askew = arm.seen.seen ? volvox::acos(clamp(-normalized(arm.seen.facing).x, -1, 1)) : pi;
  const auto go_to = [&](int step) { step_ = step, since_ = time; };
  if (step_ > 0 && askew > 2 * aligned) go_to(0);  // wait for the other to turn towards the arm again
  else if (time - since_ > give_up) go_to(-1), place_known_ = false;
  else if (step_ < last && askew < aligned && stands_at(wanted.positions) && time - since_ > step_time) go_to(step_ + 1);
}

}  // namespace volvox::robots
