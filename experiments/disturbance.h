// What a distributed behaviour may not rely on: that clocks agree, that sensors are exact, that modules
// stand where they were meant to, or that they are numbered along the robot. Everything is drawn from the
// run's seed, so that a run repeats.
#pragma once

#include <cstdint>
#include <functional>

#include "volvox/model/world_model.h"

namespace volvox::experiments {

// Changes the model of every module; all that shared one go on sharing one.
void change_models(model::WorldModel& world, const std::function<void(model::ModuleModel&)>& change);

// Clocks begin anywhere in ten seconds and run fast or slow by up to 50 parts in a million.
void set_clocks_apart(model::WorldModel& world);

// Every organism (modules that are connected) is moved by 2 cm along the ground, somewhere, and turned by
// 10 degrees about the vertical, either way. What is connected to something fixed stays.
void move_starts(model::WorldModel& world, std::uint64_t seed, double distance = 0.02, double angle = radians(10));

// Modules trade their numbers (and with them addresses and random streams); names and places stay.
void permute_modules(model::WorldModel& world, std::uint64_t seed);

// Noise on what modules sense: joint angles 5 mrad, accelerometers 0.3 m/s^2, gyroscopes 0.02 rad/s with a
// bias of as much, dock beacons 3 mm and 3 mrad.
void add_percept_noise(model::WorldModel& world);

// What a module says at a dock is lost with this probability.
void lose_messages(model::WorldModel& world, double probability);
// Nothing of it arrives.
void cut_messages(model::WorldModel& world);

// All of it, but for cut_messages: the start of a run that must succeed all the same.
void disturb(model::WorldModel& world, std::uint64_t seed);

}  // namespace volvox::experiments
