// How much of a transmitted power arrives: a small interface, and the usual models.
// Every function here is deterministic, with the same bits on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "volvox/base/math.h"
#include "volvox/base/result.h"

namespace volvox::net {

// One sender and many receivers. Arrays of `count`.
struct LinkBlock {
  Vec3 from;
  std::uint32_t sender = 0;  // radio, by its number in the network
  std::uint64_t frame = 0;   // the frame that is sent, for fading that changes with every frame
  const double* x = nullptr;
  const double* y = nullptr;
  const double* z = nullptr;
  const double* distance_squared = nullptr;
  const std::uint32_t* receiver = nullptr;  // radios
  std::size_t count = 0;

  Vec3 to(std::size_t i) const { return {x[i], y[i], z[i]}; }
};

// Implement `gains` to add a model. It must depend on nothing but the block (and constants):
// the same link asked again must give the same answer, in any order.
class Propagation {
 public:
  virtual ~Propagation() = default;

  // The fraction of the power that arrives at each receiver, antennas without gain; in [0, 1].
  virtual void gains(const LinkBlock& block, double* gain) const = 0;

  // Whether `gains` looks at nothing but the distances and constants: then the block holds
  // neither positions nor receivers, which spares fetching them.
  virtual bool depends_on_distance_only() const { return false; }

  // Noise that the channel itself adds at the receiver while a frame is on the air, in W.
  virtual double added_noise_w(double /*distance*/, double /*bandwidth_hz*/) const { return 0; }

  // Below this distance the formula says more than was sent; gains are clamped to 1. Radios
  // nearer to each other than this deserve a warning.
  virtual double near_field() const { return 0; }

  // For one link: tests, percepts, planning.
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

// Friis to a reference distance, then d^-exponent.
class LogDistance final : public Propagation {
 public:
  LogDistance(double frequency_hz, double exponent, double reference_distance = 1);
  void gains(const LinkBlock& block, double* gain) const override;
  bool depends_on_distance_only() const override { return true; }
  double near_field() const override { return Friis(frequency_hz_).near_field(); }

 private:
  double frequency_hz_, factor_, half_exponent_, reference_squared_;
};

// A direct ray and one off the ground (z = 0): Friis to the crossover 4 pi ht hr / wavelength,
// then (ht hr)^2 / d^4, the two being equal there.
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

// Log-normal shadowing on top of another model: one draw for each unordered pair of
// radios, for ever, so links are reciprocal.
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
// exponentially distributed around the base model's.
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

// What stands between two positions: the fraction of the power that passes (1: a clear view).
// Must be a pure function of the two points within a tick.
using Occlusion = std::function<double(const Vec3& from, const Vec3& to)>;

class Occluded final : public Propagation {
 public:
  Occluded(std::unique_ptr<Propagation> base, Occlusion passes);
  void gains(const LinkBlock& block, double* gain) const override;
  double added_noise_w(double d, double bandwidth) const override { return base_->added_noise_w(d, bandwidth); }
  double near_field() const override { return base_->near_field(); }

 private:
  std::unique_ptr<Propagation> base_;
  Occlusion passes_;
};

}  // namespace volvox::net
