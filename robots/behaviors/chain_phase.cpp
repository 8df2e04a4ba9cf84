#include "chain_phase.h"

#include <cmath>

namespace volvox::robots {

void ChainPhase::step(mind::Agent& agent, double frequency) {
  const double time = agent.time(), passed = last_ < 0 ? 0 : time - last_, rate = 2 * pi * frequency;
  last_ = time;
  now_.phase += rate * passed;
  age_ += passed;
  said_ += passed;
  const mind::DockState& front = agent.dock("front");
  const bool head = !front.engaged && !front.latching;
  if (head && (!now_.known || now_.place != 0)) {
    now_ = {true, now_.phase, 0};
    said_ = say_every;
  }
  if (heard_ && !head) now_.phase = heard_phase_ + rate * agent.dt();  // a message takes a tick
  now_.phase -= 2 * pi * std::floor(now_.phase / (2 * pi));
  // The head says it in time, the others as soon as they hear it.
  if (head ? said_ >= say_every : heard_) {
    agent.send("back", PhaseMessage{now_.phase, now_.place});
    said_ = 0;
  }
  heard_ = false;
}

bool ChainPhase::receive(mind::Agent& agent, const mind::Message& message) {
  const auto said = message.as<PhaseMessage>();
  if (!said || agent.where(message) != "front") return said.has_value();
  if (!now_.known) age_ = 0;
  now_.known = true;
  now_.place = said->place + 1;
  heard_phase_ = said->phase;
  heard_ = true;
  return true;
}

}  // namespace volvox::robots
