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
constexpr double aim_range = 0.12;  // m: an arm farther away has not reached its approach yet
constexpr double patience = 12;     // s, after which a module that sees no dock turns its tail to and fro
constexpr double search_period = 16, search_angle = 1.0, search_speed = 0.4;  // s, rad, rad/s
constexpr double step_time = 0.5;   // s, minimum for each step of an approach, because the loose module must follow
constexpr double too_near = 0.003;  // m: a step that misses its goal by more is skipped
constexpr double push_after = 3.0;  // s
constexpr double give_up = 5.0;     // s for a step, after which the arm starts again
constexpr double aligned = 0.15;    // rad: docks with a smaller error may approach; above twice this they retreat
constexpr double half_width = 0.042,
                 clear_by = 0.004;  // m, of a dock's plate: the edges of misaligned docks touch first
constexpr double memory = 0.2;      // s, over which sightings are averaged
constexpr double look_time = 0.3;   // s, for which a dock is seen before the arm plans
constexpr double pass_time = 1.0;   // s, for which it passes a dock that it cannot approach
constexpr double moved = 0.04;      // m: a dock that far from the remembered one is another

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
  ar("first step", first_step_);
  ar("views", views_);
  ar("since", since_);
  ar("way", way_);
  ar("ready", ready_);
  ar("sightings", sightings_);
  ar("blind until", blind_until_);
  ar("next", next_);
  if (!ar.loading() || !ar.ok()) return;
  const std::size_t arm = std::max<std::size_t>(modules_, 1), joints = command_.size();
  const auto is_step = [](int step) { return step >= 0 && step < std::ssize(GrowPlan::gaps); };
  bool good = joints / joint_names.size() >= arm && is_step(first_step_) && finite(next_.tail) && finite(next_.facing);
  good = good && (step_ == looking || ((step_ == getting_ready || is_step(step_)) && ready_.size() == joints));
  for (const Posture& posture : way_) good = good && posture.size() == joints;
  if (!good) ar.fail("an arm that grows has other modules or steps");
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
  for (const model::Dock& dock : agent.docks())
    agent.enable_dock(dock.name, dock.name == "back" || (dock.name == "front" && back.engaged));
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
  const double time = agent.time();
  const bool near = beacon.seen && length(beacon.position) < aim_range;
  if (near || since_ == 0) since_ = time;
  if (time - since_ > patience) {
    // The arm may be beside the dock, where neither can turn towards the other: look to both sides.
    const double aside = volvox::sin(2 * pi * (time - since_ - patience) / search_period) * search_angle;
    command_[0] += clamp(aside - command_[0], -search_speed * agent.dt(), search_speed * agent.dt());
  }
  if (!near) return;
  const Vec3 joint = beacon.position - normalized(beacon.facing) * plan_->tail_length + Vec3{plan_->tail_length, 0, 0};
  const double aside = volvox::atan2(joint.y, joint.x);
  // Relative to the present angle, so that a blocked tail does not push harder and harder.
  command_[0] = clamp(agent.angle("yaw") - clamp(aim_lead * aside, -most_lead, most_lead), -aim_limit, aim_limit);
}

void Grow::move_towards(mind::Agent& agent, const Posture& posture) {
  double farthest = 0;
  for (std::size_t k = 0; k < posture.size(); ++k) farthest = std::max(farthest, std::fabs(posture[k] - command_[k]));
  const double part = std::min(1.0, speed * agent.dt() / std::max(farthest, 1e-9));
  for (std::size_t k = 0; k < posture.size(); ++k) command_[k] += part * (posture[k] - command_[k]);
}

void Grow::move_along_way(mind::Agent& agent) {
  if (way_.empty()) return;
  move_towards(agent, way_.front());
  if (stands_at(way_.front())) way_.erase(way_.begin());
}

bool Grow::stands_at(const Posture& posture) const {
  for (std::size_t k = 0; k < posture.size(); ++k)
    if (std::fabs(posture[k] - command_[k]) > 0.02) return false;
  return true;
}

void Grow::go_to(mind::Agent& agent, int step) {
  step_ = step;
  since_ = agent.time();
}

void Grow::lead(mind::Agent& agent, const GrowReport& arm) {
  const std::size_t modules = arm.angles.size() / joint_names.size();
  if (arm.latching) return;  // hold still while docks close
  if (modules != modules_) {
    // A module has joined: the arm starts again from its present posture.
    modules_ = modules;
    sightings_ = views_ = 0;
    way_.clear();
    go_to(agent, looking);
    for (std::size_t k = command_.size(); k < arm.angles.size(); ++k) command_.push_back(arm.angles[k]);
    command_.resize(arm.angles.size());
  }
  if (modules < 1 || modules > plan_->reaches.size()) return;
  const GrowPlan::Reach& reach = plan_->reaches[modules - 1];
  remember(agent, reach, arm);
  if (step_ == looking) {
    look(agent, reach, arm);
  } else if (step_ == getting_ready) {
    move_along_way(agent);
    if (way_.empty()) go_to(agent, first_step_);
  } else {
    reach_out(agent, reach, arm);
  }
}

// Averages what the tip sees. A dock somewhere else is another module's, or this one was pushed.
void Grow::remember(mind::Agent& agent, const GrowPlan::Reach& reach, const GrowReport& arm) {
  if (!arm.seen.seen) return;
  const Pose tip = reach.dock.tip(arm.angles);
  const Vec3 facing = normalized(tip.rotation * arm.seen.facing);
  const Vec3 tail = tip * arm.seen.position - facing * plan_->tail_length;
  const double part = std::min(1.0, agent.dt() / memory);
  if (sightings_ == 0 || length(tail - next_.tail) > moved) next_ = {tail, facing}, sightings_ = 0;
  else next_ = {next_.tail + (tail - next_.tail) * part, normalized(next_.facing + (facing - next_.facing) * part)};
  ++sightings_;
}

// It stops as soon as it sees a dock, so as not to push that module away. One that it cannot approach it passes.
void Grow::look(mind::Agent& agent, const GrowPlan::Reach& reach, const GrowReport& arm) {
  const double time = agent.time();
  if (arm.seen.seen && time > blind_until_) {
    if (sightings_ * agent.dt() < look_time) return;
    sightings_ = 0;
    if (auto found = find_approach(*plan_, reach, command_, next_, modules_ > 1, agent.random())) {
      first_step_ = found->step;
      ready_ = found->way.back();
      way_ = std::move(found->way);
      go_to(agent, getting_ready);
      return;
    }
    blind_until_ = time + pass_time;
  }
  move_along_way(agent);
  if (!way_.empty()) since_ = time;
  if (time - since_ < 2 * look_time) return;
  constexpr std::array azimuths = {0.0, 0.8, -0.8};
  way_ = find_view(reach, command_, azimuths[views_++ % azimuths.size()], agent.random());
  since_ = time;
}

void Grow::reach_out(mind::Agent& agent, const GrowPlan::Reach& reach, const GrowReport& arm) {
  const double time = agent.time();
  const auto wanted_at = [&](int step) {
    const model::Chain& chain = reach.approach[step];
    return model::reach(chain, facing_pose(chain, command_, next_), command_,
                        {.radian_weight = modules_ > 1 ? 0.03 : 0, .iterations = 50});
  };
  const int last = narrow<int>(reach.approach.size()) - 1;
  model::Reach wanted = wanted_at(step_);
  while (!wanted.reached && wanted.distance > too_near && step_ < last)
    wanted = wanted_at(++step_);  // it cannot fold so far
  move_towards(agent, wanted.positions);

  const double askew = arm.seen.seen ? volvox::acos(clamp(-normalized(arm.seen.facing).x, -1, 1)) : pi;
  const double touching = half_width * volvox::sin(std::min(askew, pi / 2)) + clear_by;
  // A tail that friction holds a little askew turns flush when the arm pushes against it.
  const bool stuck = askew < 2 * aligned && time - since_ > push_after;
  const auto clear = [&](int step) { return askew < aligned || stuck || GrowPlan::gaps[step] > touching; };
  if (time - since_ > give_up) {
    sightings_ = 0;
    way_ = {ready_};
    blind_until_ = time + pass_time;
    go_to(agent, looking);
  } else if (step_ > 0 && !clear(step_) && askew > 2 * aligned) {
    --step_;  // wait until the other module has turned towards the arm again
  } else if (step_ < last && clear(step_ + 1) && stands_at(wanted.positions) && time - since_ > step_time) {
    go_to(agent, step_ + 1);
  }
}

}  // namespace volvox::robots
