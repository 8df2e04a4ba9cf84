// The figures of the propagation models (shared network model, "Validation figures").
#include <gtest/gtest.h>

#include <cmath>

#include "volvox/base/index.h"
#include "volvox/net/power.h"
#include "volvox/net/propagation.h"

namespace volvox::net {
namespace {

double received_dbm(const Propagation& model, double power_w, double distance) {
  return dbm(power_w * model.gain({}, {distance, 0, 0}));
}

TEST(Propagation, Friis) {
  EXPECT_NEAR(received_dbm(Friis(2.4e9), 1e-3, 1), -40.05, 0.005);
  EXPECT_NEAR(received_dbm(Friis(60e9), 1e-3, 0.01), -28.01, 0.005);
  EXPECT_NEAR(received_dbm(Friis(1e12), 1e-3, 0.01), -52.45, 0.005);
  EXPECT_NEAR(received_dbm(Friis(2.4e9), 2e-3, 1) - received_dbm(Friis(2.4e9), 1e-3, 1), 3.0103, 5e-5);
  EXPECT_NEAR(received_dbm(Friis(2.4e9), 2e-3, 1.4142135), received_dbm(Friis(2.4e9), 1e-3, 1), 1e-6);
}

TEST(Propagation, FriisNeverGivesMoreThanWasSent) {
  // Without the limit, the formula gives +19.95 dBm at 1 mm.
  const double wavelength = speed_of_light / 2.4e9;
  EXPECT_NEAR(dbm(1e-3 * std::pow(wavelength / (4 * pi * 1e-3), 2)), 19.95, 0.005);
  EXPECT_DOUBLE_EQ(Friis(2.4e9).gain({}, {0.001, 0, 0}), 1);
  EXPECT_DOUBLE_EQ(Friis(2.4e9).gain({}, {}), 1);
  EXPECT_NEAR(Friis(2.4e9).near_field(), wavelength / (4 * pi), 1e-12);
}

TEST(Propagation, ThermalNoise) {
  EXPECT_NEAR(dbm(thermal_noise_w(6e3)), -136.19, 0.005);
  EXPECT_NEAR(dbm(thermal_noise_w(6e6)), -106.19, 0.005);
}

TEST(Propagation, LogDistance) {
  const LogDistance model(2.4e9, 3, 1);
  EXPECT_NEAR(received_dbm(model, 1e-3, 1), -40.05, 0.005);
  EXPECT_NEAR(received_dbm(model, 1e-3, 10), received_dbm(model, 1e-3, 1) - 30, 1e-9);
  EXPECT_NEAR(LogDistance(2.4e9, 2).gain({}, {7, 0, 0}), Friis(2.4e9).gain({}, {7, 0, 0}), 1e-15);
}

TEST(Propagation, TwoRayMeetsFriisAtTheCrossover) {
  const TwoRay model(2.4e9);
  const double crossover = model.crossover(1.5, 2);
  EXPECT_NEAR(crossover, 4 * pi * 1.5 * 2 / (speed_of_light / 2.4e9), 1e-9);
  const auto at = [&](double distance) {
    const double horizontal = std::sqrt(distance * distance - 0.25);
    return model.gain({0, 0, 1.5}, {horizontal, 0, 2});
  };
  EXPECT_NEAR(at(crossover * 0.999999) / at(crossover * 1.000001), 1, 1e-5);
  EXPECT_NEAR(at(crossover * 0.5) / at(crossover * 0.25), 1.0 / 4, 1e-9);
  EXPECT_NEAR(at(crossover * 4) / at(crossover * 2), 1.0 / 16, 1e-9);
}

TEST(Propagation, TerahertzAbsorption) {
  const double loss = received_dbm(Friis(1e12), 1e-3, 0.01) - received_dbm(TerahertzAbsorption(1e12, 10), 1e-3, 0.01);
  EXPECT_NEAR(loss, 0.434, 0.0005);
  const TerahertzAbsorption model(1e12, 10);
  EXPECT_NEAR(model.added_noise_w(0.01, 1e12), thermal_noise_w(1e12) * (1 - std::exp(-0.1)), 1e-15);
  EXPECT_DOUBLE_EQ(Friis(1e12).added_noise_w(0.01, 1e12), 0);
}

TEST(Propagation, ShadowingIsReciprocalFrozenAndLogNormal) {
  const double deviation = 6;
  const Shadowing model(std::make_unique<Friis>(2.4e9), deviation, 9);
  const double base = Friis(2.4e9).gain({}, {100, 0, 0});
  double sum = 0, squares = 0;
  const int n = 20000;
  for (std::uint32_t i = 0; i < n; ++i) {
    const double there = model.gain({}, {100, 0, 0}, i, i + 1, 1);
    EXPECT_EQ(there, model.gain({100, 0, 0}, {}, i + 1, i, 2));
    const double db = decibel(there / base);
    sum += db;
    squares += db * db;
  }
  const double mean = sum / n, variance = squares / n - mean * mean;
  EXPECT_NEAR(mean, 0, 4.5 * deviation / std::sqrt(n));
  EXPECT_NEAR(variance, deviation * deviation, 4.5 * deviation * deviation * std::sqrt(2.0 / n));
}

TEST(Propagation, RayleighIsExponentialAndNewForEveryFrame) {
  const Rayleigh model(std::make_unique<Friis>(2.4e9), 9);
  const double base = Friis(2.4e9).gain({}, {100, 0, 0});
  double sum = 0;
  int deep = 0;
  const int n = 20000;
  for (std::uint64_t frame = 0; frame < n; ++frame) {
    const double ratio = model.gain({}, {100, 0, 0}, 1, 2, frame) / base;
    sum += ratio;
    deep += ratio < 0.1;
  }
  EXPECT_NEAR(sum / n, 1, 4.5 / std::sqrt(n));
  const double p = 1 - std::exp(-0.1);  // fades of 10 dB and more
  EXPECT_NEAR(real(deep) / n, p, 4.5 * std::sqrt(p * (1 - p) / n));
  EXPECT_NE(model.gain({}, {100, 0, 0}, 1, 2, 1), model.gain({}, {100, 0, 0}, 1, 2, 2));
}

}  // namespace
}  // namespace volvox::net
