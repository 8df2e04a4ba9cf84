#include "volvox/net/propagation.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/check.h"
#include "volvox/base/hash.h"
#include "volvox/base/isa.h"
#include "volvox/base/random.h"
#include "volvox/net/power.h"

namespace volvox::net {
namespace {

double friis_factor(double frequency_hz) {
  const double ratio = speed_of_light / frequency_hz / (4 * pi);
  return ratio * ratio;
}

// Limits a gain to 1. The comparison also turns the infinite gain at zero distance into 1.
double clamped(double gain) { return gain < 1.0 ? gain : 1.0; }

VOLVOX_FOR_EACH_ISA(void, friis_gains,
                    (double factor, const double* __restrict squared, double* __restrict gain, std::size_t count),
                    (factor, squared, gain, count)) {
  for (std::size_t i = 0; i < count; ++i) {
    const double value = factor / squared[i];
    gain[i] = value < 1.0 ? value : 1.0;
  }
}

}  // namespace

double Propagation::gain(const Vec3& from, const Vec3& to, std::uint32_t sender, std::uint32_t receiver,
                         std::uint64_t frame) const {
  const double distance_squared = length_squared(to - from);
  VOLVOX_ASSERT(finite(from) && finite(to));
  double result = 0;
  gains({from, sender, frame, &to.x, &to.y, &to.z, &distance_squared, &receiver, 1}, &result);
  return result;
}

Friis::Friis(double frequency_hz) : factor_(friis_factor(frequency_hz)) {}
double Friis::near_field() const { return std::sqrt(factor_); }

void Friis::gains(const LinkBlock& block, double* gain) const {
  friis_gains(factor_, block.distance_squared, gain, block.count);
}

LogDistance::LogDistance(double frequency_hz, double exponent, double reference_distance)
    : frequency_hz_(frequency_hz),
      factor_(friis_factor(frequency_hz)),
      half_exponent_(exponent / 2),
      reference_squared_(reference_distance * reference_distance) {}

void LogDistance::gains(const LinkBlock& block, double* gain) const {
  const double at_reference = factor_ / reference_squared_;
  for (std::size_t i = 0; i < block.count; ++i) {
    const double d2 = block.distance_squared[i];
    gain[i] = clamped(d2 <= reference_squared_
                          ? factor_ / d2
                          : at_reference * volvox::exp(-half_exponent_ * volvox::log(d2 / reference_squared_)));
  }
}

TwoRay::TwoRay(double frequency_hz) : wavelength_(speed_of_light / frequency_hz), factor_(friis_factor(frequency_hz)) {}
double TwoRay::near_field() const { return std::sqrt(factor_); }

double TwoRay::crossover(double sender_height, double receiver_height) const {
  return 4 * pi * sender_height * receiver_height / wavelength_;
}

void TwoRay::gains(const LinkBlock& block, double* gain) const {
  for (std::size_t i = 0; i < block.count; ++i) {
    const double heights = std::fabs(block.from.z * block.z[i]);
    const double d2 = block.distance_squared[i];
    const double limit = crossover(1, heights);
    gain[i] = clamped(d2 <= limit * limit || heights == 0 ? factor_ / d2 : heights * heights / (d2 * d2));
  }
}

TerahertzAbsorption::TerahertzAbsorption(double frequency_hz, double absorption_per_metre)
    : factor_(friis_factor(frequency_hz)), absorption_(absorption_per_metre) {}
double TerahertzAbsorption::near_field() const { return std::sqrt(factor_); }

void TerahertzAbsorption::gains(const LinkBlock& block, double* gain) const {
  for (std::size_t i = 0; i < block.count; ++i) {
    const double d2 = block.distance_squared[i];
    gain[i] = clamped(factor_ / d2) * volvox::exp(-absorption_ * std::sqrt(d2));
  }
}

double TerahertzAbsorption::added_noise_w(double distance, double bandwidth_hz) const {
  return thermal_noise_w(bandwidth_hz) * (1 - volvox::exp(-absorption_ * distance));
}

Shadowing::Shadowing(std::unique_ptr<Propagation> base, double deviation_db, std::uint64_t seed)
    : base_(std::move(base)), deviation_db_(deviation_db), seed_(seed) {}

void Shadowing::gains(const LinkBlock& block, double* gain) const {
  base_->gains(block, gain);
  VOLVOX_ASSERT(block.count == 0 || block.receiver != nullptr);
  for (std::size_t i = 0; i < block.count; ++i) {
    const std::uint64_t low = std::min(block.sender, block.receiver[i]);
    const std::uint64_t high = std::max(block.sender, block.receiver[i]);
    RandomStream draw(seed_, high << 32 | low, "shadowing");
    gain[i] = clamped(gain[i] * from_decibel(deviation_db_ * draw.normal()));
  }
}

Rayleigh::Rayleigh(std::unique_ptr<Propagation> base, std::uint64_t seed) : base_(std::move(base)), seed_(seed) {}

void Rayleigh::gains(const LinkBlock& block, double* gain) const {
  base_->gains(block, gain);
  VOLVOX_ASSERT(block.count == 0 || block.receiver != nullptr);
  Hasher key;
  key.add(seed_);
  key.add(block.frame);
  const std::uint64_t frame_key = key.value();
  for (std::size_t i = 0; i < block.count; ++i) {
    RandomStream draw(frame_key, block.receiver[i], "rayleigh");
    gain[i] = clamped(gain[i] * -volvox::log(1.0 - draw.uniform()));
  }
}

}  // namespace volvox::net
