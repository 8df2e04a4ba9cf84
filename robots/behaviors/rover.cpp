#include "rover.h"

#include <algorithm>

namespace volvox::robots {
namespace {

constexpr double twist_time = 2;  // s
constexpr double patience = 0.3;  // s without a message until a wheel stops

std::vector<std::string> engaged_docks(const mind::Agent& agent) {
  std::vector<std::string> names;
  for (const model::Dock& dock : agent.docks())
    if (agent.dock(dock.name).engaged) names.push_back(dock.name);
  return names;
}

}  // namespace

void Rover::read_parameters(mind::Agent& agent) {
  cruise_ = agent.parameter("speed", 1.0);
  turn_ = agent.parameter("turn", 0.0);
  waist_ = agent.parameter("waist", 0.0);
  stand_ = agent.parameter("stand", 1.0);
}

void Rover::start(mind::Agent& agent) {
  read_parameters(agent);
  begin_ = heard_ = agent.time();
  // Wheels pass close to each other and must not dock.
  for (const model::Dock& dock : agent.docks())
    if (!agent.dock(dock.name).engaged) agent.disable_dock(dock.name);
}

void Rover::step(mind::Agent& agent) {
  const bool is_hub = engaged_docks(agent).size() >= 4;
  if (is_hub) lead(agent, agent.time() - begin_);
  else obey(agent, agent.time());
}

void Rover::lead(mind::Agent& agent, double elapsed) {
  const double twisted = std::clamp((elapsed - stand_) / twist_time, 0.0, 1.0);
  agent.move_to("spin", twisted * waist_);
  // Docks at longitude 0 hold the right wheels. Seen from outside, the wheels of the two sides turn in opposite
  // directions.
  for (const std::string& dock : engaged_docks(agent)) {
    const bool right = dock.back() == '0';
    const double speed = twisted < 1 ? 0 : right ? -(cruise_ + turn_) : cruise_ - turn_;
    agent.send(dock, Drive{speed});
  }
}

void Rover::obey(mind::Agent& agent, double now) {
  while (const auto message = agent.read())
    if (const auto drive = message->as<Drive>()) speed_ = drive->speed, heard_ = now;
  if (now - heard_ > patience) speed_ = 0;
  agent.turn("spin", speed_);
}

}  // namespace volvox::robots
