#include "carry.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace volvox::robots {
namespace {

// From 0 to 1 between two times, beginning and ending gently; and how fast.
struct Ramp {
  double value = 0, rate = 0;
};
Ramp ramp(double time, double from, double to) {
  if (time <= from) return {0, 0};
  if (time >= to) return {1, 0};
  const double s = (time - from) / (to - from);
  return {s * s * (3 - 2 * s), 6 * s * (1 - s) / (to - from)};
}

constexpr double sink_time = 2, lift_time = 2;  // s
constexpr double press = 0.01;                  // m
constexpr double wheel_radius = 0.045;          // m, of the Wheelbot

}  // namespace

void CarryInAir::start(mind::Agent& agent) {
  Flyer::start(agent);
  handle_ = {agent.parameter("x", 0.0), agent.parameter("y", 0.0), agent.parameter("z", 0.1)};
  lift_ = agent.parameter("lift", 0.4);
  length_ = agent.parameter("length", 0.87);
  speed_ = agent.parameter("speed", 0.3);
  way_ = agent.parameter("way", 3.0);
  load_ = agent.parameter("load", 0.2);
  lift_at_ = agent.parameter("lift_at", 8.0);
  go_at_ = agent.parameter("go_at", 11.0);
  if (!(lift_ >= 0 && lift_ < length_)) throw mind::AgentError("it cannot lift its end higher than the load is long");
  if (!(speed_ > 0 && lift_at_ >= down_at_ + sink_time && go_at_ >= lift_at_ + lift_time))
    throw mind::AgentError("its plan does not fit: speed must be positive, lift_at 4 s or later, and go_at 2 s after it or later");
}

FlightTarget CarryInAir::plan(double time) const {
  const double there = go_at_ + way_ / speed_;
  const Ramp sink = ramp(time, down_at_, down_at_ + sink_time), lift = ramp(time, lift_at_, lift_at_ + lift_time);
  const Ramp put = ramp(time, there + 1, there + 1 + lift_time), leave = ramp(time, there + 4, there + 6);
  FlightTarget target;
  const bool moving = time > go_at_ && time < there;
  target.position = handle_ + Vec3{speed_ * clamp(time - go_at_, 0, there - go_at_), 0, gripper_};
  const double height = lift_ * (lift.value - put.value), rising = lift_ * (lift.rate - put.rate);
  const double reach = std::sqrt(length_ * length_ - height * height);
  // It presses a little while it takes hold and while it puts down.
  target.position += {reach - length_, 0, height + approach_ * (1 - sink.value + leave.value) - press * (sink.value - lift.value + put.value - leave.value)};
  target.velocity = {(moving ? speed_ : 0) - height * rising / reach, 0, rising + approach_ * (leave.rate - sink.rate)};
  return target;
}

void CarryInAir::step(mind::Agent& agent) {
  const double time = agent.time(), leaves = go_at_ + way_ / speed_ + 4;
  agent.enable_dock("gripper", time > down_at_ && time < leaves);
  const bool held = std::exchange(holds_, agent.dock("gripper").engaged);
  if (holds_ != held) carry(holds_ ? load_ : 0);
  fly_to(agent, plan(time));
}

void CarryInAir::archive_state(Archive& ar) {
  archive_flight(ar);
  ar("holds", holds_);
}

void CarryOnWheels::start(mind::Agent& agent) {
  speed_ = agent.parameter("speed", 0.3);
  way_ = agent.parameter("way", 3.0);
  go_at_ = agent.parameter("go_at", 11.0);
}

void CarryOnWheels::step(mind::Agent& agent) {
  agent.enable_dock("gripper");
  const mind::DockState& gripper = agent.dock("gripper");
  double speed = 0;
  if (!gripper.engaged && !gripper.latching && agent.time() < go_at_) {
    speed = 0.1;  // m/s: up to the load
  } else if (gripper.engaged && agent.time() >= go_at_ && driven_ < way_) {
    speed = speed_;
    driven_ += speed_ * agent.dt();
  }
  for (const char* wheel : {"wheel_front_left", "wheel_front_right", "wheel_rear_left", "wheel_rear_right"}) agent.turn(wheel, speed / wheel_radius);
}

}  // namespace volvox::robots
