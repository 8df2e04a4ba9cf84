#include "chain_phase.h"

#include <cmath>

namespace volvox::robots {

void ChainPhase::step(mind::Agent& agent, double frequency, std::string_view parent,
                      std::initializer_list<const char*> children) {
  const double time = agent.time(), passed = last_ < 0 ? 0 : time - last_, rate = 2 * pi * frequency;
  last_ = time;
  now_.phase += rate * passed;
  age_ += passed;
  said_ += passed;
  const mind::DockState& held_by = agent.dock(parent);
  const bool head = !held_by.engaged && !held_by.latching;
  if (head && (!now_.known || now_.place != 0)) {
    now_ = {true, now_.phase, 0};
    said_ = say_every;
  }
  if (heard_ && !head) now_.phase = heard_phase_ + rate * agent.dt();  // a message takes one tick
  now_.phase -= 2 * pi * std::floor(now_.phase / (2 * pi));
  // The head sends periodically, the others as soon as they receive.
  if (head ? said_ >= say_every : heard_) {
    for (const char* child : children)
      if (child != parent) agent.send(child, PhaseMessage{now_.phase, now_.place, steer_});
    said_ = 0;
  }
  heard_ = false;
}

bool ChainPhase::receive(mind::Agent& agent, const mind::Message& message, std::string_view parent) {
  const auto said = message.as<PhaseMessage>();
  if (!said || agent.where(message) != parent) return said.has_value();
  if (!now_.known) age_ = 0;
  now_.known = true;
  now_.place = said->place + 1;
  steer_ = said->steer;
  heard_phase_ = said->phase;
  heard_ = true;
  return true;
}

}  // namespace volvox::robots
