#include "arm.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "segments.h"
#include "volvox/base/index.h"

namespace volvox::robots {
namespace {

constexpr std::array<const char*, 3> joint_names = {"yaw", "roll", "pitch"};
constexpr double integral_gain = 3;       // 1/s
constexpr double largest_integral = 0.2;  // rad: three times the deflection of a motor at full torque
constexpr double near_enough = 0.15;      // rad: with a larger error a joint is still moving
constexpr int attempts = 40;              // random starts of the inverse kinematics, after the present posture

// Linear interpolation in joint space; `eased` makes velocity and acceleration zero at both ends.
std::vector<double> between(const std::vector<double>& from, const std::vector<double>& to, double part) {
  std::vector<double> at(from.size());
  for (std::size_t k = 0; k < at.size(); ++k) at[k] = from[k] + (to[k] - from[k]) * part;
  return at;
}
double eased(double part) { return part * part * part * (10 + part * (6 * part - 15)); }

bool clear_between(const ArmMission& mission, const std::vector<double>& from, const std::vector<double>& to) {
  constexpr int samples = 16;
  for (int i = 1; i <= samples; ++i)
    if (clearance(mission, between(from, to, real(i) / samples)) < least_clearance) return false;
  return true;
}

}  // namespace

double clearance(const ArmMission& mission, const std::vector<double>& angles) {
  std::vector<Vec3> corners = {mission.foot};
  for (const Pose& frame : mission.chain.frames(angles))
    if (length(frame.position - corners.back()) > 1e-6) corners.push_back(frame.position);
  double nearest = 1e9;
  // Two parts with only one part between them cannot collide within the limits of the joints.
  for (std::size_t i = 0; i + 1 < corners.size(); ++i)
    for (std::size_t j = i + 3; j + 1 < corners.size(); ++j)
      nearest = std::min(nearest, segment_distance(corners[i], corners[i + 1], corners[j], corners[j + 1]));
  return nearest;
}

void Arm::start(mind::Agent& agent) {
  began_ = agent.time();
  for (const char* joint : joint_names) command_.push_back(agent.angle(joint));
  integral_.assign(joint_names.size(), 0);
}

void Arm::archive_state(Archive& ar) {
  ar("began", began_);
  ar("command", command_);
  ar("behind", behind_);
  ar("integral", integral_);
  ar("way", way_);
  if (!ar.loading() || !ar.ok()) return;
  bool good = std::isfinite(began_) && command_.size() >= joint_names.size() &&
              integral_.size() == joint_names.size() && way_.size() != 1;
  for (const std::vector<double>& angles : way_) good = good && angles.size() == mission_->chain.size();
  if (!good) ar.fail("an arm has other joints");
}

bool Arm::receive(mind::Agent&, const mind::Message& message) {
  if (const auto report = message.as<ArmReport>()) behind_ = report->angles;
  else if (const auto command = message.as<ArmCommand>(); command && command->angles.size() >= joint_names.size())
    command_ = command->angles;
  else return false;
  return true;
}

void Arm::step(mind::Agent& agent) {
  std::vector<double> angles;
  for (const char* joint : joint_names) angles.push_back(agent.angle(joint));
  angles.insert(angles.end(), behind_.begin(), behind_.end());
  if (agent.dock("back").neighbor == "mount") lead(agent, angles);
  else agent.send("back", ArmReport{angles});
  if (command_.size() > joint_names.size())
    agent.send("front", ArmCommand{{command_.begin() + joint_names.size(), command_.end()}});
  hold(agent);
}

// Integral control near the target compensates gravity and friction.
void Arm::hold(mind::Agent& agent) {
  for (std::size_t k = 0; k < joint_names.size(); ++k) {
    const double error = command_[k] - agent.angle(joint_names[k]);
    if (std::fabs(error) < near_enough)
      integral_[k] = clamp(integral_[k] + integral_gain * agent.dt() * error, -largest_integral, largest_integral);
    agent.move_to(joint_names[k], command_[k] + integral_[k]);
  }
}

void Arm::lead(mind::Agent& agent, const std::vector<double>& angles) {
  if (angles.size() != mission_->chain.size()) return;  // a module has not reported yet
  const double time = agent.time() - began_;
  const double number = time / mission_->target_time;
  if (!(number >= 0 && number < real(mission_->targets.size()))) return;
  const int target = truncated(number);
  if (way_.empty() || target != agent.model<ArmModel>().target)
    plan(agent, target, way_.empty() ? angles : way_.back());
  command_ = on_the_way((time - target * mission_->target_time) / mission_->move_time);
}

std::vector<double> Arm::on_the_way(double part) const {
  const double legs = real(way_.size() - 1);
  const double at = legs * clamp(part, 0, 1);
  const int leg = truncated(std::min(std::floor(at), legs - 1));
  return between(way_[leg], way_[leg + 1], eased(at - leg));
}

void Arm::plan(mind::Agent& agent, int number, const std::vector<double> from) {
  const Pose& target = mission_->targets[number];
  const std::vector<double> straight(from.size(), 0.0);
  ArmModel& model = agent.model<ArmModel>();
  model = {number, false, 1e9};
  way_ = {from, from};
  for (int attempt = 0; attempt <= attempts && !model.solved; ++attempt) {
    const model::Reach found =
        model::reach(mission_->chain, target, attempt == 0 ? from : mission_->chain.random_positions(agent.random()));
    if (!found.reached && found.distance * 1e3 >= model.planned_mm) continue;
    const bool direct = clear_between(*mission_, from, found.positions);
    const bool stretched =
        clear_between(*mission_, from, straight) && clear_between(*mission_, straight, found.positions);
    if (!direct && !stretched) continue;
    way_ = direct ? std::vector{from, found.positions} : std::vector{from, straight, found.positions};
    model = {number, found.reached, found.distance * 1e3};
  }
}

}  // namespace volvox::robots
