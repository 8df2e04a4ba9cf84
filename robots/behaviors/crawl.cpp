#include "crawl.h"

#include <algorithm>
#include <cmath>

namespace volvox::robots {
namespace {

constexpr double slow = 1;  // s

}  // namespace

void Crawl::read_parameters(mind::Agent& agent) {
  amplitude_ = agent.parameter("amplitude", 0.4);
  wavelength_ = agent.parameter("wavelength", 4.0);
  frequency_ = agent.parameter("frequency", 1.2);
  level_ = agent.parameter("level", false);
  listens_ = agent.parameter("listens", true);
}

void Crawl::start(mind::Agent& agent) {
  read_parameters(agent);
  begin_ = agent.time();
}

// What is up turns with the body, as the gyroscope says. At rest an accelerometer measures the reaction to gravity,
// upwards; it corrects what is up slowly, because shocks and the wave itself shake it. (By the accelerometer alone, up
// lags behind where the snake rolls over an obstacle, and the heading counts that as a turn.)
void Crawl::feel(mind::Agent& agent) {
  const Vec3 &felt = agent.percept<Vec3>("accelerometer"), &turns = agent.percept<Vec3>("gyroscope");
  up_ = up_ - agent.dt() * cross(turns, up_);
  up_ = up_ + std::min(1.0, agent.dt() / slow) * (felt * (1 / 9.81) - up_);
  heading_ += agent.dt() * dot(turns, up_) / std::max(0.1, length(up_));
}

void Crawl::step(mind::Agent& agent) {
  feel(agent);
  if (!agent.dock("front").engaged) phase_.steer(std::clamp(-0.3 * heading_, -0.15, 0.15));
  phase_.step(agent, frequency_);
  // Without a received phase, a module uses its own clock.
  const double phase = phase_.known() ? phase_.phase() : 2 * pi * frequency_ * agent.time();
  agent.model<PhaseModel>() = {phase_.known(), phase, phase_.place()};
  const double rise = std::min(1.0, agent.time() - begin_);  // over the first second
  const double bend = rise * amplitude_ * volvox::sin(phase + 2 * pi * phase_.place() / wavelength_);
  const double upwards = level_ ? 0 : bend, sideways = rise * phase_.steering() + (level_ ? bend : 0);
  // The level axis across the module, and the upright one, out of those of pitch (y) and yaw (z).
  const double across = std::max(1e-6, length(up_.y, up_.z));
  agent.move_to("pitch", (upwards * up_.z + sideways * up_.y) / across);
  agent.move_to("yaw", (sideways * up_.z - upwards * up_.y) / across);
  agent.move_to("roll", 0);
}

}  // namespace volvox::robots
