#include "snake.h"

namespace volvox::robots {

void Snake::start(mind::Agent& agent) {
  read_parameters(agent);
  began_ = agent.time();
}

void Snake::read_parameters(mind::Agent& agent) {
  index_ = agent.parameter("index", 0);
  pitch_amplitude_ = agent.parameter("amplitude", 0.30);
  pitch_wavelength_ = agent.parameter("wavelength", 6.0);
  yaw_amplitude_ = agent.parameter("yaw_amplitude", 0.10);
  yaw_wavelength_ = agent.parameter("yaw_wavelength", 12.0);
  frequency_ = agent.parameter("frequency", 0.5);
  ramp_ = agent.parameter("ramp", 1.0);
  by_messages_ = agent.parameter("sync", "clock") == "messages";
  patience_ = agent.parameter("patience", 20.0);
}

void Snake::step(mind::Agent& agent) {
  double phase = 2 * pi * frequency_ * agent.time(), age = agent.time() - began_;
  int place = index_;
  if (by_messages_) {
    phase_.step(agent, frequency_);
    if (phase_.known()) phase = phase_.phase(), age = phase_.age(), place = phase_.place();
    else age -= patience_;
  }
  agent.model<PhaseModel>() = {phase_.known(), phase, place};
  const double rise = ramp_ > 0 ? clamp(age / ramp_, 0, 1) : age >= 0 ? 1 : 0;
  const auto wave = [&](double amplitude, double wavelength) {
    return rise * amplitude * volvox::sin(phase - 2 * pi * place / wavelength);
  };
  agent.move_to("pitch", wave(pitch_amplitude_, pitch_wavelength_));
  agent.move_to("yaw", wave(yaw_amplitude_, yaw_wavelength_));
  agent.move_to("roll", 0);
}

}  // namespace volvox::robots
