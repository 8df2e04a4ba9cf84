#include "oscillators.h"

#include <algorithm>

namespace volvox::robots {

void Oscillators::start(mind::Agent& agent) {
  constexpr std::string_view angle = ".angle";
  for (const std::string& percept : agent.percepts())
    if (percept.ends_with(angle)) motions_.push_back({percept.substr(0, percept.size() - angle.size())});
  std::erase_if(motions_, [&](const Motion& motion) {
    return std::ranges::find(agent.actions(), motion.joint) == agent.actions().end();  // it has no motor
  });
  read_parameters(agent);
}

void Oscillators::read_parameters(mind::Agent& agent) {
  frequency_ = agent.parameter("frequency", 0.5);
  coupling_ = agent.parameter("coupling", 2.0);
  lag_ = agent.parameter("lag", 0.0);
  ramp_ = agent.parameter("ramp", 1.0);
  for (Motion& motion : motions_) {
    motion.amplitude = agent.parameter(motion.joint + ".amplitude", 0.0);
    motion.offset = agent.parameter(motion.joint + ".offset", 0.0);
    motion.phase = agent.parameter(motion.joint + ".phase", 0.0);
  }
}

void Oscillators::step(mind::Agent& agent) {
  double pull = 0;
  while (const auto message = agent.read())
    if (const auto heard = message->as<OscillatorMessage>()) pull += volvox::sin(heard->phase - phase_);
  phase_ += agent.dt() * (2 * pi * frequency_ + coupling_ * pull);
  age_ += agent.dt();
  agent.broadcast(OscillatorMessage{phase_});
  const double rise = ramp_ > 0 ? clamp(age_ / ramp_, 0, 1) : 1;
  for (const Motion& motion : motions_)
    agent.move_to(motion.joint, rise * (motion.offset + motion.amplitude * volvox::sin(phase_ - lag_ + motion.phase)));
}

}  // namespace volvox::robots
