#include "snake.h"

#include <algorithm>

namespace volvox::robots {

void Snake::start(mind::Agent& agent) {
  index_ = agent.parameter("index", 0);
  pitch_amplitude_ = agent.parameter("amplitude", 0.30);
  pitch_wavelength_ = agent.parameter("wavelength", 6.0);
  yaw_amplitude_ = agent.parameter("yaw_amplitude", 0.10);
  yaw_wavelength_ = agent.parameter("yaw_wavelength", 12.0);
  frequency_ = agent.parameter("frequency", 0.5);
  ramp_ = agent.parameter("ramp", 1.0);
}

void Snake::step(mind::Agent& agent) {
  const double time = agent.time();
  const double rise = ramp_ > 0 ? std::min(1.0, time / ramp_) : 1.0;
  const auto wave = [&](double amplitude, double wavelength) {
    return rise * amplitude * volvox::sin(2 * pi * (frequency_ * time - index_ / wavelength));
  };
  agent.move_to("pitch", wave(pitch_amplitude_, pitch_wavelength_));
  agent.move_to("yaw", wave(yaw_amplitude_, yaw_wavelength_));
  agent.move_to("roll", 0);
}

}  // namespace volvox::robots
