#include "convoy.h"

#include <algorithm>
#include <cmath>

#include "rover.h"

namespace volvox::robots {
namespace {

constexpr double hub_patience = 0.5;                  // s without a message until a hub stops
constexpr double drive_together = 4;                  // s, between docking and parting
constexpr double sight_memory = 0.3;                  // s, over which sightings are averaged
constexpr double middle_x = -0.12, middle_y = -0.03;  // m, from its dock to the point about which the car turns
constexpr double run_up = 0.2;                        // m, distance at which an approach starts
constexpr double line_width = 0.06, steepest = 0.5;   // m, rad: farther from the line, it steers back at this angle
constexpr double rolls_along = 0.6;                   // of its speed, while its dock latches
constexpr double askew_matters = 0.035;               // m between the docks, below which alignment is checked
constexpr double askew = 0.12, off_line = 0.008;      // rad, m: docks engage within 0.17 and 0.010

int longitude(const std::string& dock) { return dock.back() - '0'; }

// Disables all free docks except those in `open`, so that they do not engage a neighbour.
void keep_only(mind::Agent& agent, const std::string& open) {
  for (const model::Dock& dock : agent.docks())
    if (!agent.dock(dock.name).engaged && (" " + open + " ").find(" " + dock.name + " ") == std::string::npos)
      agent.disable_dock(dock.name);
}

}  // namespace

void ConvoyHub::start(mind::Agent& agent) {
  for (const model::Dock& dock : agent.docks())
    if (agent.has_percept(dock.name + "_beacon")) seeks_ = dock.name;
  may_part_ = agent.parameter("last", false);
  right_ = agent.parameter("right", 0);
  speed_ = agent.parameter("speed", 0.8);
  keep_only(agent, agent.parameter("open", ""));
  agent.move_to("spin", 0);
}

void ConvoyHub::step(mind::Agent& agent) {
  while (const auto message = agent.read())
    if (const auto haul = message->as<Haul>()) order_ = *haul, heard_ = agent.time();
  if (!seeks_.empty()) seek(agent);
  else if (may_part_ && (parted_ || order_.part)) part(agent);
  else if (heard_ >= 0 && agent.time() - heard_ < hub_patience) drive(agent, order_.speed, order_.turn);
  else drive(agent, 0, 0);
}

// The direction of a longitude in the module's frame.
Vec3 ConvoyHub::outwards(int longitude) const {
  return Quat::axis_angle({0, 0, 1}, longitude * pi / 2) * Vec3{1, 0, 0};
}

// Converts the beacon's reading into the hub's horizontal frame: its north pole points ahead, and the longitudes of its
// right and left wheels are known.
void ConvoyHub::look(mind::Agent& agent) {
  const auto& beacon = agent.percept<mind::DockBeacon>(seeks_ + "_beacon");
  if (!beacon.seen) return;
  const auto dock =
      std::find_if(agent.docks().begin(), agent.docks().end(), [&](const model::Dock& d) { return d.name == seeks_; });
  const Vec3 ahead{0, 0, 1}, left = normalized(outwards(right_ + 1) - outwards(right_));
  const auto level = [&](const Vec3& in_dock) {
    const Vec3 v = dock->pose.rotation * in_dock;
    return Vec3{dot(v, ahead), dot(v, left), 0};
  };
  const Vec3 gap = level(beacon.position), facing = level(beacon.facing), own = level({-1, 0, 0});
  const Sight now{gap.x, gap.y, volvox::atan2(own.x * facing.y - own.y * facing.x, dot(own, facing))};
  const double part = seen_ ? std::min(1.0, agent.dt() / sight_memory) : 1;
  sight_ = {sight_.ahead + part * (now.ahead - sight_.ahead), sight_.aside + part * (now.aside - sight_.aside),
            sight_.turned + part * (now.turned - sight_.turned)};
  seen_ = true;
}

// Drives along the axis of the other car: it steers back to that line, and if it is misaligned near the end, it drives
// back for another approach.
Haul ConvoyHub::approach() {
  if (!seen_) return {};
  const double c = volvox::cos(sight_.turned), s = volvox::sin(sight_.turned);
  // The position of the middle of this car, relative to its position when docked.
  const double x = middle_x - sight_.ahead - (c * middle_x - s * middle_y),
               y = middle_y - sight_.aside - (s * middle_x + c * middle_y);
  const double beside = c * y - s * x, to_go = c * sight_.ahead + s * sight_.aside;
  const double dock_beside = s * sight_.ahead - c * sight_.aside;
  if (to_go > run_up) backing_ = false;
  else if (to_go < askew_matters && (std::fabs(sight_.turned) > askew || std::fabs(dock_beside) > off_line))
    backing_ = true;
  const double way = backing_ ? -1 : 1;
  const double course = -way * std::clamp(beside / line_width, -1.0, 1.0) * steepest;
  return {way * speed_, std::clamp(2.5 * (course + sight_.turned), -0.5, 0.5), false};
}

void ConvoyHub::seek(mind::Agent& agent) {
  bool docked = false, latching = false;
  for (const model::Dock& dock : agent.docks()) {  // the docks that point ahead are on its northern half
    if (dock.name[0] != 'n') continue;
    docked = docked || agent.dock(dock.name).engaged;
    latching = latching || agent.dock(dock.name).latching;
  }
  if (latching) {  // pushing now would tear the docks apart, and so would a car that the latch has to drag
    order_ = {rolls_along * speed_, 0, false};
  } else if (!docked) {
    look(agent);
    order_ = approach();
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
