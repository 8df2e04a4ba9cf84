#include "track.h"

#include <algorithm>
#include <cmath>

namespace volvox::robots {
namespace {

constexpr double gravity_weight = 1.5;  // 1/s: gain with which the accelerometer corrects the gyroscope
// Without a gyroscope: 1/s, 1/s^2: gains with which the accelerometer corrects direction and rate.
constexpr double felt_weight = 12, rate_weight = 6;
constexpr double neighbour_weight = 0.3;  // of the neighbours' estimates against the module's own
constexpr double spacing = 0.084;         // m, from joint to joint
constexpr double rate_memory = 0.3;       // s, time constant of the filter of the gyroscope
constexpr double stretch_gain = 0.5;      // s/rad: stretch per error of speed
constexpr double stretch_speed = 1.0;     // 1/s, maximum: a sudden change of shape would kick the ground

double wrapped(double angle) { return angle - 2 * pi * std::round(angle / (2 * pi)); }

}  // namespace

void Track::start(mind::Agent& agent) {
  speed_ = agent.parameter("speed", 2.0);
  lean_ = agent.parameter("lean", 0.8);
  largest_stretch_ = agent.parameter("stretch", 0.5);
  modules_ = agent.parameter("modules", 6);
  gyroscope_ = agent.parameter("gyroscope", false);
}

void Track::sense(mind::Agent& agent, TrackModel& model) const {
  const Vec3& force = agent.percept<Vec3>("accelerometer");
  const double along = model.rate * modules_ * spacing / pi;  // m/s, of a module along the loop
  const double inwards = along * along * bend(model.direction) / spacing;
  const double felt = volvox::atan2(force.x, force.y - inwards);  // the accelerometer points up when at rest
  if (!model.known) model = {true, felt, 0};
  const double error = wrapped(felt - model.direction);
  if (gyroscope_) {
    const double turning = agent.percept<Vec3>("gyroscope").z;
    model.direction += agent.dt() * (turning + gravity_weight * error);
    model.rate += agent.dt() / rate_memory * (turning - model.rate);
  } else {
    // The loop moves along its own shape, so its direction changes as fast as it is bent here.
    const double turning = model.rate * bend(model.direction) * modules_ / pi;
    model.direction += agent.dt() * (turning + felt_weight * error);
    model.rate += agent.dt() * rate_weight * error;
  }
  if (heard_.count > 0) {
    model.direction += neighbour_weight * heard_.direction / heard_.count;
    model.rate += neighbour_weight * heard_.rate / heard_.count;
  }
  model.direction = wrapped(model.direction);
}

double Track::bend(double direction) const {
  return pi / modules_ * (1 - stretch_ * volvox::cos(2 * (direction - lean_)));
}

void Track::step(mind::Agent& agent) {
  TrackModel& model = agent.model<TrackModel>();
  sense(agent, model);
  heard_ = {};

  // Rolling forward decreases directions. A loop that is too slow leans forward; one that is too fast stretches the
  // other way and so brakes.
  const double lack = (halted_ ? 0 : speed_) + model.rate;
  const double wanted = clamp(stretch_gain * lack, -largest_stretch_, largest_stretch_);
  const double change = stretch_speed * agent.dt();
  stretch_ += clamp(wanted - stretch_, -change, change);

  const double yaw = agent.angle("yaw"), pitch = agent.angle("pitch");
  agent.move_to("yaw", bend(model.direction - yaw / 2));
  agent.move_to("pitch", bend(model.direction + pitch / 2));
  agent.move_to("roll", pi / 2);
  agent.send("back", TrackMessage{model.direction - yaw, model.rate});
  agent.send("front", TrackMessage{model.direction + pitch, model.rate});
}

bool Track::receive(mind::Agent& agent, const mind::Message& message) {
  const auto said = message.as<TrackMessage>();
  const TrackModel& model = agent.model<TrackModel>();
  if (!said || !model.known) return said.has_value();
  const bool at_back = agent.where(message) == "back";
  const double here = model.direction + (at_back ? -agent.angle("yaw") : agent.angle("pitch"));
  heard_.direction += wrapped(said->direction - here);
  heard_.rate += said->rate - model.rate;
  ++heard_.count;
  return true;
}

}  // namespace volvox::robots
