#include "stride.h"

#include <algorithm>

namespace volvox::robots {
namespace {

// Only modules of the spine have neighbours at their sides. The parent of a spine module is at its front, that of a
// leg at its back.
bool in_the_spine(const mind::Agent& agent) { return agent.dock("left").engaged || agent.dock("right").engaged; }
std::string parent(const mind::Agent& agent) { return in_the_spine(agent) ? "front" : "back"; }

}  // namespace

void Stride::read_parameters(mind::Agent& agent) {
  frequency_ = agent.parameter("frequency", 0.5);
  swing_ = agent.parameter("swing", 0.3);
  lift_ = agent.parameter("lift", 0.5);
  stand_ = agent.parameter("stand", 2.0);
  listens_ = agent.parameter("listens", true);
}

void Stride::start(mind::Agent& agent) {
  read_parameters(agent);
  begin_ = agent.time();
}

bool Stride::receive(mind::Agent& agent, const mind::Message& message) {
  return !listens_ || phase_.receive(agent, message, parent(agent));
}

void Stride::step(mind::Agent& agent) {
  phase_.step(agent, frequency_, parent(agent), {"back", "front", "left", "right"});
  // Without a received phase, a module uses its own clock.
  const double phase = phase_.known() ? phase_.phase() : 2 * pi * frequency_ * agent.time();
  agent.model<PhaseModel>() = {phase_.known(), phase, phase_.place()};
  agent.move_to("roll", 0);
  const std::string held_by = agent.dock("back").neighbor;
  if (!in_the_spine(agent) && held_by != "front") return be_a_hip(agent, phase, held_by == "left");
  agent.move_to("yaw", 0);
  agent.move_to("pitch", 0);
}

void Stride::be_a_hip(mind::Agent& agent, double of_the_gait, bool left) {
  // Tripod gait: odd and even places of the spine, and the two sides, are half a period apart.
  const double phase = of_the_gait + pi * (phase_.place() + (left ? 1 : 0));
  const double walking = std::clamp(agent.time() - begin_ - stand_, 0.0, 1.0);
  const double fore_and_aft = walking * swing_ * volvox::sin(phase);
  // A foot is in the air while it swings forwards.
  const double in_the_air = walking * std::max(0.0, volvox::sin(phase + pi / 2));
  agent.move_to("yaw", left ? -fore_and_aft : fore_and_aft);
  agent.move_to("pitch", pi / 2 - lift_ * in_the_air);
}

}  // namespace volvox::robots
