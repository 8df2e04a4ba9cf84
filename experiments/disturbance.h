// Disturbances for worlds of distributed behaviours, which may not rely on equal clocks, exact sensors, exact start
// poses, or modules numbered along the robot. Everything is drawn from the run's seed, so a run repeats. SI units.
#pragma once

#include <cstdint>
#include <functional>

#include "volvox/model/world_model.h"

namespace volvox::experiments {

// Changes the model of every module. Modules that shared a model share the changed one.
void change_models(model::WorldModel& world, const std::function<void(model::ModuleModel&)>& change);

// Clocks start up to 10 s apart and drift by up to 50 ppm.
void set_clocks_apart(model::WorldModel& world);

// Moves every organism (connected modules) by `distance` (m) over the ground in a random direction, and turns it by
// `angle` (rad) about the vertical, left or right. Organisms connected to something fixed stay.
void move_starts(model::WorldModel& world, std::uint64_t seed, double distance = 0.02, double angle = radians(10));

// Shuffles the modules' indices, and with them addresses and random streams. Names and poses stay.
void permute_modules(model::WorldModel& world, std::uint64_t seed);

// Gaussian noise on percepts: joint angles 5 mrad, accelerometers 0.3 m/s^2, gyroscopes 0.02 rad/s and a bias of the
// same size, dock beacons 3 mm and 3 mrad.
void add_percept_noise(model::WorldModel& world);

// Messages through docks are lost with this probability.
void lose_messages(model::WorldModel& world, double probability);
// All of them are lost.
void cut_messages(model::WorldModel& world);

// All of the above except lost messages. A run must still succeed.
void disturb(model::WorldModel& world, std::uint64_t seed);

}  // namespace volvox::experiments
