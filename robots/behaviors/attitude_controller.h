// The inner control loop of a quadrotor, as it runs on a microcontroller without floating point: it computes
// the speeds of four rotors from the inertial measurement unit and a setpoint, with integers only (seed
// 003, section 3.1). Fixed point: in Q14, 1 is 2^14. Vectors are in body axes.
#pragma once

#include <array>
#include <cstdint>

#include "volvox/base/type.h"

namespace volvox::robots {

struct FixedVector {
  std::int32_t x = 0, y = 0, z = 0;
};
VOLVOX_TYPE(FixedVector, x, y, z)

// Gains in fixed point; Flyer::start (flight.cpp) computes them from SI units.
struct AttitudeGains {
  std::int32_t attitude = 0;     // Q4, 1/s: wanted rate per sine of the angle
  std::int32_t roll_pitch = 0;   // Q4: squared rotor speed per rate error in Q10
  std::int32_t yaw = 0;          // Q4: squared rotor speed per rate error in Q10
  std::int32_t leveling_us = 0;  // us: the time constant with which the accelerometer corrects the gyroscope
  std::int32_t max_square = 0;   // the largest squared speed of a rotor, (rad/s)^2
};

// The output of the outer loop.
struct AttitudeSetpoint {
  std::int32_t tilt_x = 0, tilt_y = 0;  // Q14: wanted x and y of the up vector, in body axes
  std::int32_t yaw_rate = 0;            // Q10, rad/s
  std::int32_t square = 0;              // the mean of the rotors' squared speeds, (rad/s)^2
};
VOLVOX_TYPE(AttitudeSetpoint, tilt_x, tilt_y, yaw_rate, square)

class AttitudeController {
 public:
  static constexpr int rate_bits = 10, acceleration_bits = 8, tilt_bits = 14, speed_bits = 2;

  explicit AttitudeController(const AttitudeGains& gains = {}) : gains_(gains) {}

  // Rates in Q10 rad/s, specific force in Q8 m/s^2, both in body axes. Returns the speeds of the front, left, back
  // and right rotors in Q2 rad/s.
  std::array<std::int32_t, 4> step(const FixedVector& rates, const FixedVector& force, const AttitudeSetpoint& wanted,
                                   std::int32_t step_us);

  // The estimated up vector, in body axes, Q14.
  FixedVector up() const { return {up_.x >> 14, up_.y >> 14, up_.z >> 14}; }

  template <class A>
  void archive(A& ar) {
    ar("up", up_);
  }

 private:
  void turn(const FixedVector& rates, std::int32_t step_us);
  void level(const FixedVector& force, std::int32_t step_us);
  void normalise();

  AttitudeGains gains_;
  FixedVector up_{0, 0, 1 << 28};  // Q28, because one step turns it by less than a unit of Q14
};

// The integer part of the square root.
std::int64_t integer_root(std::int64_t square);

}  // namespace volvox::robots
