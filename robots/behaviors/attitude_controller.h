// The inner loop of a quadrotor, as it runs on a microcontroller without floating point: from the
// inertial measurement unit and a setpoint to the speeds of four rotors, by integers alone (seed
// 003, section 3.1). Fixed point: Q14 means that 1 is 2^14.
#pragma once

#include <array>
#include <cstdint>

#include "volvox/base/type.h"

namespace volvox::robots {

struct FixedVector {
  std::int32_t x = 0, y = 0, z = 0;
};
VOLVOX_TYPE(FixedVector, x, y, z)

// Gains in fixed point; FlightGains (flight.h) says what they are in SI units.
struct AttitudeGains {
  std::int32_t attitude = 0;     // Q4, 1/s: wanted rate by sine of the angle
  std::int32_t roll_pitch = 0;   // Q4: squared rotor speed by rate error in Q10
  std::int32_t yaw = 0;          // Q4, likewise
  std::int32_t leveling_us = 0;  // the time constant by which the accelerometer corrects the gyroscope
  std::int32_t max_square = 0;   // the largest squared speed of a rotor, (rad/s)^2
};

// What the outer loop asks for.
struct AttitudeSetpoint {
  std::int32_t tilt_x = 0, tilt_y = 0;  // Q14: where up should be, in body axes
  std::int32_t yaw_rate = 0;            // Q10, rad/s
  std::int32_t square = 0;              // the mean of the rotors' squared speeds, (rad/s)^2
};
VOLVOX_TYPE(AttitudeSetpoint, tilt_x, tilt_y, yaw_rate, square)

class AttitudeController {
 public:
  static constexpr int rate_bits = 10, acceleration_bits = 8, tilt_bits = 14, speed_bits = 2;

  explicit AttitudeController(const AttitudeGains& gains = {}) : gains_(gains) {}

  // Rates in Q10 rad/s, specific force in Q8 m/s^2, both in body axes. The answer is in Q2 rad/s:
  // front, left, back, right.
  std::array<std::int32_t, 4> step(const FixedVector& rates, const FixedVector& force, const AttitudeSetpoint& wanted,
                                   std::int32_t step_us);

  // Where up is, in body axes, as far as it knows: Q14.
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
  FixedVector up_{0, 0, 1 << 28};  // Q28: one step turns it by less than a unit of Q14
};

// The largest integer whose square is not larger.
std::int64_t integer_root(std::int64_t square);

}  // namespace volvox::robots
