#include "flight.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"

namespace volvox::robots {
namespace {

std::int32_t rounded(double value) { return narrow<std::int32_t>(std::lround(value)); }
// Fixed point, as the converters of the microcontroller give it.
std::int32_t fixed(double value, int bits) { return rounded(clamp(value, -32000, 32000) * (1 << bits)); }
FixedVector fixed(const Vec3& v, int bits) { return {fixed(v.x, bits), fixed(v.y, bits), fixed(v.z, bits)}; }

// The yaw of a rotation that is a tilt followed by a rotation about z.
double yaw_of(const Quat& rotation) { return 2 * volvox::atan2(rotation.z, rotation.w); }
double wrapped(double angle) { return angle - 2 * pi * std::floor(angle / (2 * pi) + 0.5); }

}  // namespace

void Flyer::start(mind::Agent& agent) {
  pose_ = agent.find_percept<Pose>("pose");
  velocity_ = agent.find_percept<Twist>("velocity");
  gyroscope_ = agent.find_percept<Vec3>("gyroscope");
  accelerometer_ = agent.find_percept<Vec3>("accelerometer");
  const OnBoard names = on_board();
  for (std::size_t i = 0; i < 4; ++i) rotors_[i] = agent.find_action<double>(names.actions[i]);

  // The controller's model of the airframe; the defaults are those of robots/quadrotor/quadrotor.sdf.
  mass_ = agent.parameter("mass", 1.0);
  thrust_ = agent.parameter("thrust", 1.1e-5);
  const double torque = agent.parameter("torque", 1.8e-7), arm = agent.parameter("arm", 0.2);
  const double inertia = agent.parameter("inertia", 0.013), yaw_inertia = agent.parameter("yaw_inertia", 0.0234);
  const double max_speed = agent.parameter("max_speed", 800.0);
  if (!(mass_ > 0 && thrust_ > 0 && torque > 0 && arm > 0 && max_speed > 0))
    throw mind::AgentError("mass, thrust, torque, arm and max_speed of the airframe must be positive");

  // The gains follow rules: the attitude loop (gains 6/s and 20/s) has 11 rad/s and a damping ratio of 0.9; the
  // horizontal loop, which acts through it, is five times slower; the vertical loop, which acts on the thrust
  // directly, is 2.5 times slower.
  const double rate = agent.parameter("rate_gain", 20.0), yaw = agent.parameter("yaw_gain", 5.0);
  AttitudeGains gains;
  gains.attitude = fixed(agent.parameter("attitude_gain", 6.0), 4);
  const double counts = 16.0 / (1 << AttitudeController::rate_bits);  // Q4, for a rate in Q10
  gains.roll_pitch = rounded(counts * inertia * rate / (2 * arm * thrust_));
  gains.yaw = rounded(counts * yaw_inertia * yaw / (4 * torque));
  gains.leveling_us = rounded(clamp(agent.parameter("leveling_time", 20.0), 0, 2000) * 1e6);
  gains.max_square = rounded(max_speed * max_speed);
  controller_ = AttitudeController(gains);

  const double xy = agent.parameter("stiffness", 5.0), z = agent.parameter("vertical_stiffness", 16.0);
  stiffness_ = {xy, xy, z};
  const double damp_xy = agent.parameter("damping", 3.5), damp_z = agent.parameter("vertical_damping", 6.4);
  damping_ = {damp_xy, damp_xy, damp_z};
  const double sum_xy = agent.parameter("integral", 1.0), sum_z = agent.parameter("vertical_integral", 4.0);
  integral_ = {sum_xy, sum_xy, sum_z};
  max_tilt_ = agent.parameter("max_tilt", 0.6);
  accelerate(agent, {}, yaw_of(pose(agent).rotation), 0);
}

void Flyer::fly_to(mind::Agent& agent, const FlightTarget& target) {
  const Vec3 error = target.position - pose(agent).position;
  error_sum_ += error * agent.dt();
  for (int k = 0; k < 3; ++k) error_sum_[k] = clamp(error_sum_[k], -2, 2);
  const Vec3 wanted = multiply(stiffness_, error) + multiply(damping_, target.velocity - velocity(agent).linear) +
                      multiply(integral_, error_sum_);
  accelerate(agent, wanted, target.yaw, target.yaw_rate);
}

void Flyer::accelerate(mind::Agent& agent, const Vec3& acceleration, double yaw, double yaw_rate) {
  constexpr double gravity = 9.81;
  const Quat attitude = normalized(pose(agent).rotation);
  const double heading = yaw_of(attitude);
  // The wanted specific force, within the largest tilt.
  Vec3 force = acceleration + Vec3{0, 0, gravity};
  force.z = std::max(force.z, 0.3 * gravity);
  const double lean = length(force.x, force.y), most = max_tilt_ * force.z;
  if (lean > most) force = {force.x * most / lean, force.y * most / lean, force.z};
  const Vec3 up = normalized(Quat::axis_angle({0, 0, 1}, -heading) * force);
  wanted_.tilt_x = fixed(-up.x, AttitudeController::tilt_bits);
  wanted_.tilt_y = fixed(-up.y, AttitudeController::tilt_bits);
  wanted_.yaw_rate = fixed(clamp(yaw_rate + wrapped(yaw - heading), -2, 2), AttitudeController::rate_bits);
  const double thrust = (mass_ + load_) * std::max(0.0, dot(force, attitude * Vec3{0, 0, 1}));
  wanted_.square = rounded(clamp(thrust / (4 * thrust_), 0, 1e6));
}

void Flyer::control(mind::Agent& agent, double step) {
  const auto speeds = controller_.step(fixed(agent.percept(gyroscope_), AttitudeController::rate_bits),
                                       fixed(agent.percept(accelerometer_), AttitudeController::acceleration_bits),
                                       wanted_, rounded(step * 1e6));
  for (std::size_t i = 0; i < 4; ++i) agent.act(rotors_[i], real(speeds[i]) / (1 << AttitudeController::speed_bits));
}

void Flyer::archive_flight(Archive& ar) {
  ar("load", load_);
  ar("error sum", error_sum_);
  ar("wanted", wanted_);
  ar("controller", controller_);
}

void Hover::start(mind::Agent& agent) {
  Flyer::start(agent);
  const Pose began = pose(agent);
  target_.position = {agent.parameter("x", began.position.x), agent.parameter("y", began.position.y),
                      agent.parameter("z", began.position.z)};
  target_.yaw = agent.parameter("yaw", yaw_of(began.rotation));
}

void FigureEight::start(mind::Agent& agent) {
  Flyer::start(agent);
  centre_ = {agent.parameter("x", 0.0), agent.parameter("y", 0.0), agent.parameter("z", 1.0)};
  length_ = agent.parameter("length", 1.0);
  width_ = agent.parameter("width", 0.5);
  period_ = agent.parameter("period", 10.0);
  hover_ = agent.parameter("hover", 2.0);
  yaw_rate_ = agent.parameter("yaw_rate", 0.3);
  vertical_ = agent.parameter("vertical", false);
  if (!(period_ > 0)) throw mind::AgentError("its parameter 'period' must be positive");
}

// A Lissajous curve of 1 : 2. Its rate increases linearly over the first period.
FlightTarget FigureEight::target(double time) const {
  const double w = 2 * pi / period_, t = std::max(0.0, time - hover_);
  const double phase = t < period_ ? w * t * t / (2 * period_) : w * (t - period_ / 2);
  const double rate = t < period_ ? w * t / period_ : w;
  const double along = length_ * volvox::sin(phase), across = width_ * volvox::sin(2 * phase);
  const double along_speed = length_ * rate * volvox::cos(phase),
               across_speed = 2 * width_ * rate * volvox::cos(2 * phase);
  FlightTarget target;
  target.position = centre_ + (vertical_ ? Vec3{along, 0, across} : Vec3{along, across, 0});
  target.velocity = vertical_ ? Vec3{along_speed, 0, across_speed} : Vec3{along_speed, across_speed, 0};
  target.yaw_rate = t > 0 ? yaw_rate_ : 0;
  target.yaw = yaw_rate_ * t;
  return target;
}

}  // namespace volvox::robots
