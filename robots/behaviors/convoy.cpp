#include "convoy.h"

#include <algorithm>
#include <cmath>

#include "rover.h"

namespace volvox::robots {
namespace {

constexpr double patience = 0.5;      // s without a word until a hub stops
constexpr double drive_together = 4;  // s, between docking and parting

int longitude(const std::string& dock) { return dock.back() - '0'; }

// Of all docks, only those named stay as they are; the rest must not take hold of a neighbour.
void keep_only(mind::Agent& agent, const std::string& open) {
  for (const model::Dock& dock : agent.docks())
    if (!agent.dock(dock.name).engaged && (" " + open + " ").find(" " + dock.name + " ") == std::string::npos) agent.disable_dock(dock.name);
}

}  // namespace

void ConvoyHub::start(mind::Agent& agent) {
  seeks_ = agent.has_percept("eye");
  may_part_ = agent.parameter("last", false);
  right_ = agent.parameter("right", 0);
  speed_ = agent.parameter("speed", 0.8);
  keep_only(agent, agent.parameter("open", ""));
  agent.move_to("spin", 0);
}

void ConvoyHub::step(mind::Agent& agent) {
  while (const auto message = agent.read())
    if (const auto haul = message->as<Haul>()) order_ = *haul, heard_ = agent.time();
  if (seeks_) seek(agent);
  else if (may_part_ && (parted_ || order_.part)) part(agent);
  else if (heard_ >= 0 && agent.time() - heard_ < patience) drive(agent, order_.speed, order_.turn);
  else drive(agent, 0, 0);
}

// Towards the middle of what is nearest, as the rays have it.
double ConvoyHub::bearing_ahead(const mind::Agent& agent) const {
  const auto& ranges = agent.percept<std::vector<double>>("eye");
  const double nearest = *std::min_element(ranges.begin(), ranges.end());
  double sum = 0, weight = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i] > nearest + 0.06) continue;
    const double position = static_cast<double>(i) / static_cast<double>(ranges.size() - 1) - 0.5;  // from right to left
    sum += position, weight += 1;
  }
  return weight > 0 ? sum / weight : 0;
}

void ConvoyHub::seek(mind::Agent& agent) {
  bool docked = false, latching = false;
  for (const model::Dock& dock : agent.docks()) {  // those that look ahead are on its northern half
    if (dock.name[0] != 'n') continue;
    docked = docked || agent.dock(dock.name).engaged;
    latching = latching || agent.dock(dock.name).latching;
  }
  if (latching) {  // whoever pushes now tears the docks apart
    order_ = {};
  } else if (!docked) {
    const double turn = std::clamp(2.5 * bearing_ahead(agent), -0.5, 0.5);
    order_ = {speed_, turn, false};
  } else {
    if (docked_since_ < 0) docked_since_ = agent.time();
    order_ = {speed_, 0, agent.time() - docked_since_ > drive_together};
  }
  lead(agent);
}

void ConvoyHub::lead(mind::Agent& agent) {
  drive(agent, order_.speed, order_.turn);
  for (const model::Dock& dock : agent.docks()) {
    const int beside = (longitude(dock.name) - right_ + 4) % 4;
    if (beside >= 2 && agent.dock(dock.name).engaged) agent.send(dock.name, order_);
  }
}

void ConvoyHub::part(mind::Agent& agent) {
  parted_ = true;
  for (const model::Dock& dock : agent.docks())
    if ((longitude(dock.name) - right_ + 4) % 4 >= 2) agent.disable_dock(dock.name);
  drive(agent, -speed_, 0);
}

void ConvoyHub::drive(mind::Agent& agent, double speed, double turn) const {
  for (const model::Dock& dock : agent.docks()) {
    if (!agent.dock(dock.name).engaged) continue;
    const int beside = (longitude(dock.name) - right_ + 4) % 4;
    if (beside == 0) agent.send(dock.name, Drive{-(speed + turn)});
    if (beside == 1) agent.send(dock.name, Drive{speed - turn});
  }
}

void ConvoyCoupling::start(mind::Agent& agent) {
  keep_only(agent, agent.parameter("open", ""));
  agent.move_to("spin", 0);
}

void ConvoyCoupling::step(mind::Agent& agent) {
  while (const auto message = agent.read()) {
    const auto haul = message->as<Haul>();
    if (!haul) continue;
    for (const model::Dock& dock : agent.docks())
      if (dock.name != agent.where(*message) && agent.dock(dock.name).engaged) agent.send(dock.name, *haul);
  }
}

}  // namespace volvox::robots
