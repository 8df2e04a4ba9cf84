#include "buggy_driver.h"

namespace volvox::robots {
namespace {

constexpr double stands = 3;  // s
constexpr double gain = 40;   // N s/m, of each driven tyre

}  // namespace

void BuggyDriver::start(mind::Agent& agent) {
  speed_ = agent.parameter("speed", 3.0);
  steer_ = agent.parameter("steer", 0.1);
  at_ = agent.parameter("at", 7.0);
}

void BuggyDriver::step(mind::Agent& agent) {
  for (const char* wheel : {"front_left", "front_right", "rear_left", "rear_right"})
    agent.move_to(std::string(wheel) + "_spring", 0);
  for (const char* wheel : {"front_left", "front_right"})
    agent.move_to(std::string(wheel) + "_steer", agent.time() < at_ ? 0 : steer_);
}

void BuggyDriver::control(mind::Agent& agent, double) {
  const Vec3& velocity = agent.percept<Twist>("velocity").linear;
  const double drive = agent.time() < stands ? 0 : gain * (speed_ - length(velocity.x, velocity.y));
  for (const char* wheel : {"front_left_tyre", "front_right_tyre"}) agent.act(wheel, 0.0);
  for (const char* wheel : {"rear_left_tyre", "rear_right_tyre"}) agent.act(wheel, drive);
}

}  // namespace volvox::robots
