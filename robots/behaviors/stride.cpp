#include "stride.h"

#include <algorithm>

namespace volvox::robots {

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
  rhythm_.begin(begin_, frequency_);
}

void Stride::step(mind::Agent& agent) {
  rhythm_.advance(agent.time(), frequency_);
  // Only the spine holds something at its sides. What it follows is at its front; a leg follows its back.
  const bool in_the_spine = agent.dock("left").engaged || agent.dock("right").engaged;
  const std::string parent = in_the_spine ? "front" : "back", held_by = agent.dock("back").neighbor;
  while (const auto message = agent.read(parent))
    if (const auto beat = message->as<Beat>(); beat && listens_) rhythm_.follow(*beat, frequency_, agent.dt());
  for (const char* child : {"back", "front", "left", "right"})
    if (parent != child) agent.send(child, rhythm_.beat());

  agent.model<Beat>() = rhythm_.beat();  // for those who look on
  agent.move_to("roll", 0);
  if (!in_the_spine && held_by != "front") return be_a_hip(agent, held_by == "left", agent.time() - begin_);
  agent.move_to("yaw", 0);
  agent.move_to("pitch", 0);
}

void Stride::be_a_hip(mind::Agent& agent, bool left, double since) {
  // Tripods: odd and even places of the spine, and the two sides, are half a period apart.
  const double phase = rhythm_.phase() + pi * (rhythm_.place() + (left ? 1 : 0));
  const double walking = std::clamp(since - stand_, 0.0, 1.0);
  const double fore_and_aft = walking * swing_ * volvox::sin(phase);
  // A foot is in the air while it swings forwards.
  const double in_the_air = walking * std::max(0.0, volvox::sin(phase + pi / 2));
  agent.move_to("yaw", left ? -fore_and_aft : fore_and_aft);
  agent.move_to("pitch", pi / 2 - lift_ * in_the_air);
}

}  // namespace volvox::robots
