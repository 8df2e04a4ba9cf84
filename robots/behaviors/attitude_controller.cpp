#include "attitude_controller.h"

#include <algorithm>
#include <bit>

#include "volvox/base/index.h"

namespace volvox::robots {
namespace {

constexpr std::int64_t second_us = 1'000'000;
constexpr std::int64_t one = std::int64_t{1} << 28;

std::int32_t saturated(std::int64_t value) {
  return narrow<std::int32_t>(std::clamp<std::int64_t>(value, INT32_MIN, INT32_MAX));
}

}  // namespace

// Newton's method in integers, from above: the first guess, the mean of a power of two and the quotient of the square
// by it, is not smaller than the root. Each step comes closer; the first step that does not has found the root.
std::int64_t integer_root(std::int64_t square) {
  if (square <= 0) return 0;
  const std::uint64_t n = square;
  const int half = (narrow<int>(std::bit_width(n)) + 1) / 2;
  std::uint64_t root = ((std::uint64_t{1} << half) + (n >> half)) / 2 + 1;
  for (;;) {
    const std::uint64_t next = (root + n / root) / 2;
    if (next >= root) return root;
    root = next;
  }
}

// d up / dt = up x rates: the up vector rotates opposite to the body. Q14 times Q10 is Q24; 4 more bits give Q28.
void AttitudeController::turn(const FixedVector& rates, std::int32_t step_us) {
  const FixedVector u = up();
  const auto change = [&](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    return static_cast<std::int32_t>((a * b - c * d) * 16 * step_us / second_us);
  };
  up_.x += change(u.y, rates.z, u.z, rates.y);
  up_.y += change(u.z, rates.x, u.x, rates.z);
  up_.z += change(u.x, rates.y, u.y, rates.x);
}

// At rest the specific force points up. In flight it is mostly the thrust, so it corrects the estimate only
// slowly, and not at all if it is far from 1 g.
void AttitudeController::level(const FixedVector& force, std::int32_t step_us) {
  constexpr std::int64_t gravity = 2511;  // 9.81 m/s^2 in Q8
  const auto square = [](std::int64_t v) { return v * v; };
  const std::int64_t size = integer_root(square(force.x) + square(force.y) + square(force.z));
  if (gains_.leveling_us <= 0 || size < gravity * 7 / 8 || size > gravity * 9 / 8) return;
  const auto follow = [&](std::int32_t& estimate, std::int64_t measured) {
    estimate += static_cast<std::int32_t>((measured * one / size - estimate) * step_us / gains_.leveling_us);
  };
  follow(up_.x, force.x);
  follow(up_.y, force.y);
  follow(up_.z, force.z);
}

void AttitudeController::normalise() {
  const std::int64_t x = up_.x >> 4, y = up_.y >> 4, z = up_.z >> 4;
  const std::int64_t size = std::max<std::int64_t>(1, integer_root(x * x + y * y + z * z));
  up_ = {saturated(x * one / size), saturated(y * one / size), saturated(z * one / size)};
}

std::array<std::int32_t, 4> AttitudeController::step(const FixedVector& rates, const FixedVector& force,
                                                     const AttitudeSetpoint& wanted, std::int32_t step_us) {
  turn(rates, step_us);
  level(force, step_us);
  normalise();

  // The rotation from the estimated to the wanted up vector is their cross product.
  const FixedVector u = up();
  const std::int64_t tilt_z = integer_root((std::int64_t{1} << 28) - std::int64_t{wanted.tilt_x} * wanted.tilt_x -
                                           std::int64_t{wanted.tilt_y} * wanted.tilt_y);
  const std::int64_t error_x = (wanted.tilt_y * std::int64_t{u.z} - tilt_z * u.y) >> 14;
  const std::int64_t error_y = (tilt_z * u.x - wanted.tilt_x * std::int64_t{u.z}) >> 14;
  // Q14 times Q4 is Q18; 8 bits less give the Q10 of rates.
  const std::int64_t rate_x = (error_x * gains_.attitude) >> 8, rate_y = (error_y * gains_.attitude) >> 8;

  // Differences of the rotors' squared speeds. Roll and pitch, which keep it in the air, may use the whole margin;
  // yaw may use a quarter of the base.
  const std::int64_t base = std::clamp(wanted.square, 0, gains_.max_square);
  const std::int64_t room = std::min<std::int64_t>(base, gains_.max_square - base);
  const std::int64_t roll = std::clamp(((rate_x - rates.x) * gains_.roll_pitch) >> 4, -room, room);
  const std::int64_t pitch = std::clamp(((rate_y - rates.y) * gains_.roll_pitch) >> 4, -room, room);
  const std::int64_t yaw =
      std::clamp(((std::int64_t{wanted.yaw_rate} - rates.z) * gains_.yaw) >> 4, -base / 4, base / 4);

  // More thrust on the left rolls to the right (about +x), more at the back pitches down (about +y). The front and
  // back rotors turn to the left, so their reaction turns the body to the right.
  const auto speed = [&](std::int64_t square) {
    return narrow<std::int32_t>(
        integer_root(std::clamp<std::int64_t>(square, 0, gains_.max_square) << (2 * speed_bits)));
  };
  return {speed(base - pitch - yaw), speed(base + roll + yaw), speed(base + pitch - yaw), speed(base - roll + yaw)};
}

}  // namespace volvox::robots
