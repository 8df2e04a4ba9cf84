// What a real CONRO may have that our model of it lacks, each by itself: for the question why ours is faster
// (hardware.md). The defaults change nothing. SI units.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "volvox/sim/simulation.h"

namespace volvox::experiments::roles {

struct Hardware {
  double torque = 0.45;    // N m, stall
  bool droop = false;      // the torque falls with speed, to zero at the no-load speed
  double servo_speed = 5;  // rad/s, no-load
  double stiffness = 7.5;  // N m/rad: torque for an error of angle
  double dead_band = 0;    // rad: the servo moves in steps of this
  double play = 0;         // rad: the gear turns freely by this
  double cable = 0;        // N, of each module's cable, against its motion
  double delay = 0;        // s, of a signal from module to module
  double period = 2.5;     // s, T
  bool smooth = false;     // round bars instead of plates and arms touch the ground
};
// From the settings of a run; what a world does not declare has its default.
Hardware hardware_of(const std::map<std::string, std::string>& settings);

void fit(const Hardware& hardware, model::WorldModel& world);
// Every module's clock runs as much slower as the period is longer: steps are counted by it. Clocks are drawn anew
// unless the period is 2.5 s.
void set_period(const Hardware& hardware, model::WorldModel& world, std::uint64_t seed);
// Before each tick.
void drag_cables(const Hardware& hardware, sim::Simulation& simulation);

}  // namespace volvox::experiments::roles
