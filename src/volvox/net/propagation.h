// The interface of propagation models, and the usual models. Distances in m, positions in the world frame,
// gains as linear power ratios. Every function is deterministic, with the same bits on every machine.
#pragma once

#include <cstdint>
#include <memory>

#include "volvox/base/math.h"
#include "volvox/base/result.h"

namespace volvox::net {

// One sender and `count` receivers.
struct LinkBlock {
  Vec3 from;
  std::uint32_t sender = 0;  // index of the radio in the network
  std::uint64_t frame = 0;   // id of the frame, for fading that changes with every frame
  const double* x = nullptr;
  const double* y = nullptr;
  const double* z = nullptr;
  const double* distance_squared = nullptr;
  const std::uint32_t* receiver = nullptr;  // radios
  std::size_t count = 0;

  Vec3 to(std::size_t i) const { return {x[i], y[i], z[i]}; }
};

// Implement `gains` to add a model. It must depend only on the block and on constants, so that the same
// link gives the same result in any order of calls.
class Propagation {
 public:
  virtual ~Propagation() = default;

  // The fraction of the transmitted power that each receiver gets with isotropic antennas, in [0, 1].
  virtual void gains(const LinkBlock& block, double* gain) const = 0;

  // Whether `gains` uses only distances and constants. Then positions and receivers of the block are not
  // filled in, which saves memory accesses.
  virtual bool depends_on_distance_only() const { return false; }

  // Noise that the channel adds at the receiver while a frame is on the air, in W.
  virtual double added_noise_w(double /*distance*/, double /*bandwidth_hz*/) const { return 0; }

  // Below this distance (m) the formula gives a gain above 1, and gains are limited to 1. Radios that are
  // closer to each other cause a warning.
  virtual double near_field() const { return 0; }

  // The gain of one link.
  double gain(const Vec3& from, const Vec3& to, std::uint32_t sender = 0, std::uint32_t receiver = 1,
              std::uint64_t frame = 0) const;
};

// Free space: (wavelength / (4 pi d))^2. Seed 001, equation 1.
class Friis final : public Propagation {
 public:
  explicit Friis(double frequency_hz);
  void gains(const LinkBlock& block, double* gain) const override;
  bool depends_on_distance_only() const override { return true; }
  double near_field() const override;

 private:
  double factor_;  // gain at 1 m
};

// Friis up to a reference distance, then proportional to d^-exponent.
class LogDistance final : public Propagation {
 public:
  LogDistance(double frequency_hz, double exponent, double reference_distance = 1);
  void gains(const LinkBlock& block, double* gain) const override;
  bool depends_on_distance_only() const override { return true; }
  double near_field() const override { return Friis(frequency_hz_).near_field(); }

 private:
  double frequency_hz_, factor_, half_exponent_, reference_squared_;
};

// A direct ray and a ray reflected by the ground (z = 0): Friis up to the crossover distance
// 4 pi ht hr / wavelength, then (ht hr)^2 / d^4. Both are equal at the crossover.
class TwoRay final : public Propagation {
 public:
  explicit TwoRay(double frequency_hz);
  void gains(const LinkBlock& block, double* gain) const override;
  double near_field() const override;
  double crossover(double sender_height, double receiver_height) const;

 private:
  double wavelength_, factor_;
};

// Molecular absorption on top of spreading: (4 pi f d / c)^2 exp(k d), and the noise of the
// molecules that re-emit what they absorbed, k_B T0 B (1 - exp(-k d)).
class TerahertzAbsorption final : public Propagation {
 public:
  TerahertzAbsorption(double frequency_hz, double absorption_per_metre);
  void gains(const LinkBlock& block, double* gain) const override;
  bool depends_on_distance_only() const override { return true; }
  double added_noise_w(double distance, double bandwidth_hz) const override;
  double near_field() const override;

 private:
  double factor_, absorption_;
};

// Log-normal shadowing on top of another model: one constant draw for each unordered pair of radios, so
// links are reciprocal.
class Shadowing final : public Propagation {
 public:
  Shadowing(std::unique_ptr<Propagation> base, double deviation_db, std::uint64_t seed);
  void gains(const LinkBlock& block, double* gain) const override;
  double added_noise_w(double d, double bandwidth) const override { return base_->added_noise_w(d, bandwidth); }
  double near_field() const override { return base_->near_field(); }

 private:
  std::unique_ptr<Propagation> base_;
  double deviation_db_;
  std::uint64_t seed_;
};

// Rayleigh fading on top of another model: the power of every frame at every receiver is
// exponentially distributed, with the power of the base model as its mean.
class Rayleigh final : public Propagation {
 public:
  Rayleigh(std::unique_ptr<Propagation> base, std::uint64_t seed);
  void gains(const LinkBlock& block, double* gain) const override;
  double added_noise_w(double d, double bandwidth) const override { return base_->added_noise_w(d, bandwidth); }
  double near_field() const override { return base_->near_field(); }

 private:
  std::unique_ptr<Propagation> base_;
  std::uint64_t seed_;
};

}  // namespace volvox::net
