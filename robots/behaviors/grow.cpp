#include "grow.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "volvox/base/index.h"

namespace volvox::robots {
namespace {

constexpr std::array<const char*, 3> joint_names = {"yaw", "roll", "pitch"};
constexpr double speed = 0.5;  // rad/s, of the arm's joints
constexpr double aim_lead = 0.25,
                 most_lead = 0.05;  // share of the error, rad: how far a loose module commands its tail ahead
constexpr double aim_limit = 1.4;   // rad
constexpr double aim_range = 0.07;  // m: an arm farther away has not reached its approach yet
constexpr double step_time = 0.5;   // s, minimum for each step of an approach, because the loose module must follow
constexpr double too_near = 0.003;  // m: a step that misses its goal by more is skipped
constexpr double give_up = 5.0;     // s for a step, after which the arm starts again
constexpr double aligned = 0.15;    // rad: docks with a smaller error may approach; above twice this they retreat
constexpr double half_width = 0.042,
                 clear_by = 0.004;  // m, of a dock's plate: the edges of misaligned docks touch first
constexpr double memory = 0.2;      // s, over which sightings are averaged

}  // namespace

void Grow::start(mind::Agent& agent) {
  for (const char* joint : joint_names) command_.push_back(agent.angle(joint));
}

void Grow::archive_state(Archive& ar) {
  ar("command", command_);
  ar("behind", behind_);
  ar("seen", seen_);
  ar("latching", latching_);
  ar("joined", joined_);
  ar("modules", modules_);
  ar("step", step_);
  ar("since", since_);
  ar("place known", place_known_);
  ar("place", place_);
  if (!ar.loading() || !ar.ok()) return;
  const std::size_t arm = std::max<std::size_t>(modules_, 1);
  const bool approaches = step_ == -1 || (step_ >= 0 && step_ < std::ssize(GrowPlan::gaps));
  if (command_.size() / joint_names.size() < arm || !approaches || !finite(place_))
    ar.fail("an arm that grows has other modules or steps");
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
    command_[0] = agent.angle("yaw");  // it keeps this angle until it receives a command
  }
  if (back.neighbor == "mount") lead(agent, report);
  else if (joined_) agent.send("back", report);
  else aim(agent);
  if (front.engaged && command_.size() > joint_names.size())
    agent.send("front", GrowCommand{{command_.begin() + joint_names.size(), command_.end()}});
  for (std::size_t k = 0; k < joint_names.size(); ++k) agent.move_to(joint_names[k], command_[k]);
}

// Turns the tail with its yaw joint towards the last joint of the arm that it sees.
void Grow::aim(mind::Agent& agent) {
  const auto& beacon = agent.percept<mind::DockBeacon>("back_beacon");
  if (!beacon.seen || length(beacon.position) > aim_range) return;
  const Vec3 joint = beacon.position - normalized(beacon.facing) * plan_->tail_length + Vec3{plan_->tail_length, 0, 0};
  const double aside = volvox::atan2(joint.y, joint.x);
  // Relative to the present angle, so that a blocked tail does not push harder and harder.
  command_[0] = clamp(agent.angle("yaw") - clamp(aim_lead * aside, -most_lead, most_lead), -aim_limit, aim_limit);
}

// The arm folds before its shoulder turns, so that it does not push nearby modules away.
void Grow::get_ready(mind::Agent& agent, const std::vector<double>& posture) {
  move_towards(agent, posture, stands_at(posture, 1) ? 0 : 1);
}

void Grow::move_towards(mind::Agent& agent, const std::vector<double>& posture, std::size_t first) {
  const double most = speed * agent.dt();
  for (std::size_t k = first; k < posture.size(); ++k) command_[k] += clamp(posture[k] - command_[k], -most, most);
}

bool Grow::stands_at(const std::vector<double>& posture, std::size_t first) const {
  for (std::size_t k = first; k < posture.size(); ++k)
    if (std::fabs(posture[k] - command_[k]) > 0.02) return false;
  return true;
}

void Grow::lead(mind::Agent& agent, const GrowReport& arm) {
  const std::size_t modules = arm.angles.size() / joint_names.size();
  if (arm.latching) return;  // hold still while docks close
  if (modules != modules_) {
    // A module has joined: the arm starts again from its present posture.
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
    const Vec3 place =
        reach.dock.tip(arm.angles) * (arm.seen.position - normalized(arm.seen.facing) * plan_->tail_length);
    place_ = place_known_ ? place_ + (place - place_) * std::min(1.0, agent.dt() / memory) : place;
    place_known_ = true;
  }
  const auto go_to = [&](int step) { step_ = step, since_ = time; };
  if (step_ < 0) {
    get_ready(agent, reach.ready);
    const bool near = arm.seen.seen && length(arm.seen.position) < GrowPlan::gaps.front() && stands_at(reach.ready, 1);
    if (place_known_ && (near || stands_at(reach.ready)) && time - since_ > step_time) go_to(0);
    return;
  }
  const auto wanted_at = [&](int step) {
    return model::reach(reach.approach[step], {place_, {}}, command_, {.radian_weight = 0, .iterations = 50});
  };
  const int last = narrow<int>(reach.approach.size()) - 1;
  model::Reach wanted = wanted_at(step_);
  while (!wanted.reached && wanted.distance > too_near && step_ < last)
    wanted = wanted_at(++step_);  // it cannot fold so far
  move_towards(agent, wanted.positions);

  const double askew = arm.seen.seen ? volvox::acos(clamp(-normalized(arm.seen.facing).x, -1, 1)) : pi;
  const double touching = half_width * volvox::sin(std::min(askew, pi / 2)) + clear_by;
  const auto clear = [&](int step) { return askew < aligned || GrowPlan::gaps[step] > touching; };
  if (time - since_ > give_up) go_to(-1), place_known_ = false;
  else if (step_ > 0 && !clear(step_) && askew > 2 * aligned)
    --step_;  // wait until the other module has turned towards the arm again
  else if (step_ < last && clear(step_ + 1) && stands_at(wanted.positions) && time - since_ > step_time)
    go_to(step_ + 1);
}

}  // namespace volvox::robots
