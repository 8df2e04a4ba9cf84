#include "carry.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace volvox::robots {
namespace {

// A smooth step from 0 to 1 between two times, and its derivative.
struct Ramp {
  double value = 0, rate = 0;
};
Ramp ramp(double time, double from, double to) {
  if (time <= from) return {0, 0};
  if (time >= to) return {1, 0};
  const double s = (time - from) / (to - from);
  return {s * s * (3 - 2 * s), 6 * s * (1 - s) / (to - from)};
}

constexpr double settle_time = 2, sink_time = 2, lift_time = 2;  // s
constexpr double approach = 0.4;                                 // m above the handle, at the start
constexpr double gripper = 0.09;                                 // m, from the quadrotor's frame down to its gripper
constexpr double press = 0.01;          // m: the target is this much too low while it grips and puts down
constexpr double wheel_radius = 0.045;  // m, of the Wheelbot

}  // namespace

bool PassOn::receive(mind::Agent& agent, const mind::Message& message) {
  const auto word = message.as<CarryWord>();
  if (!word) return false;
  for (const auto& dock : agent.docks())
    if (dock.name != agent.where(message) && agent.dock(dock.name).engaged) agent.send(dock.name, *word);
  return true;
}

bool Partner::hear(const mind::Message& message, double now) {
  const auto word = message.as<CarryWord>();
  if (!word) return false;
  word_ = *word;
  heard_ = now;
  return true;
}

void CarryInAir::start(mind::Agent& agent) {
  Flyer::start(agent);
  handle_ = {agent.parameter("x", 0.0), agent.parameter("y", 0.0), agent.parameter("z", 0.1)};
  lift_ = agent.parameter("lift", 0.4);
  length_ = agent.parameter("length", 0.87);
  load_ = agent.parameter("load", 0.2);
  if (!(lift_ >= 0 && lift_ < length_)) throw mind::AgentError("its parameter 'lift' must be between 0 and 'length'");
}

bool CarryInAir::receive(mind::Agent& agent, const mind::Message& message) {
  return partner_.hear(message, agent.time());
}

CarryInAir::Stage CarryInAir::next_stage(const mind::Agent& agent, double since, const CarryWord* other) const {
  switch (stage_) {
    case Stage::above: return since >= settle_time ? Stage::down : stage_;
    case Stage::down:
      return since >= sink_time && agent.dock("gripper").engaged && other != nullptr && other->ready ? Stage::lifting
                                                                                                     : stage_;
    case Stage::lifting: return since >= lift_time ? Stage::carrying : stage_;
    case Stage::carrying: return other != nullptr && other->there ? Stage::putting : stage_;
    case Stage::putting: return since >= lift_time + 1 ? Stage::leaving : stage_;
    case Stage::leaving: break;
  }
  return stage_;
}

FlightTarget CarryInAir::target(double since, const CarryWord* other) const {
  Ramp sink{1, 0}, lift{1, 0}, put{0, 0}, leave{0, 0};
  if (stage_ == Stage::above) sink = {0, 0};
  if (stage_ == Stage::down) sink = ramp(since, 0, sink_time);
  if (stage_ <= Stage::down) lift = {0, 0};
  if (stage_ == Stage::lifting) lift = ramp(since, 0, lift_time);
  if (stage_ == Stage::putting) put = ramp(since, 0, lift_time);
  if (stage_ == Stage::leaving) put = {1, 0}, leave = ramp(since, 0, lift_time);
  const double height = lift_ * (lift.value - put.value), rising = lift_ * (lift.rate - put.rate);
  const double reach = std::sqrt(length_ * length_ - height * height);
  FlightTarget target;
  target.position = handle_ + Vec3{driven_ + reach - length_, 0, gripper + height};
  target.position.z +=
      approach * (1 - sink.value + leave.value) - press * (sink.value - lift.value + put.value - leave.value);
  target.velocity = {(stage_ == Stage::carrying && other != nullptr ? other->speed : 0) - height * rising / reach, 0,
                     rising + approach * (leave.rate - sink.rate)};
  return target;
}

void CarryInAir::step(mind::Agent& agent) {
  const double now = agent.time();
  const CarryWord* other = partner_.word(now);
  if (other != nullptr) driven_ = other->driven;
  if (const Stage next = next_stage(agent, now - begun_, other); next != stage_) {
    stage_ = next;
    begun_ = now;
  }
  agent.enable_dock("gripper", stage_ != Stage::above && stage_ != Stage::leaving);
  const bool held = std::exchange(holds_, agent.dock("gripper").engaged);
  if (holds_ != held) carry(holds_ ? load_ : 0);
  if (holds_) agent.send("gripper", CarryWord{stage_ == Stage::carrying, stage_ >= Stage::putting, driven_, 0});
  fly_to(agent, target(now - begun_, other));
}

void CarryInAir::archive_state(Archive& ar) {
  archive_flight(ar);
  ar("stage", stage_);
  ar("begun", begun_);
  ar("driven", driven_);
  ar("holds", holds_);
  partner_.archive(ar);
}

void CarryOnWheels::start(mind::Agent& agent) {
  speed_ = agent.parameter("speed", 0.3);
  way_ = agent.parameter("way", 3.0);
}

bool CarryOnWheels::receive(mind::Agent& agent, const mind::Message& message) {
  return partner_.hear(message, agent.time());
}

void CarryOnWheels::step(mind::Agent& agent) {
  agent.enable_dock("gripper");
  const mind::DockState& gripper_state = agent.dock("gripper");
  const CarryWord* other = partner_.word(agent.time());
  double speed = 0;
  if (!gripper_state.engaged && !gripper_state.latching && driven_ == 0) {
    speed = 0.1;  // m/s, towards the load
  } else if (gripper_state.engaged && other != nullptr && other->ready && driven_ < way_) {
    speed = speed_;
    driven_ += speed_ * agent.dt();
  }
  if (gripper_state.engaged) agent.send("gripper", CarryWord{true, driven_ >= way_, driven_, speed});
  for (const char* wheel : {"wheel_front_left", "wheel_front_right", "wheel_rear_left", "wheel_rear_right"})
    agent.turn(wheel, speed / wheel_radius);
}

void CarryOnWheels::archive_state(Archive& ar) {
  ar("driven", driven_);
  partner_.archive(ar);
}

}  // namespace volvox::robots
