// Formation flight with artificial potentials (seed 003, section 3.2): a quadrotor is attracted by the
// surface of a sphere that all know, and repelled by its neighbours and by obstacles that its range
// sensor sees. No quadrotor has a fixed place; the formation is self-organized.
#pragma once

#include "flight.h"

namespace volvox::robots {

class SphereFormation final : public Flyer {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;

  // The sphere's centre oscillates along x.
  Vec3 centre(double time) const;
  double radius() const { return radius_; }

  bool lists_state() const override { return true; }
  void archive_state(Archive& ar) override { archive_flight(ar); }

 private:
  Vec3 away_from_neighbors(const mind::Agent& agent, const Quat& attitude) const;
  Vec3 away_from_obstacles(const mind::Agent& agent, const Quat& attitude) const;
  Vec3 kept_away(const mind::Agent& agent, const Quat& attitude, Vec3 wanted) const;

  mind::Percept<std::vector<Vec3>> neighbors_;
  mind::Percept<std::vector<double>> range_;
  std::vector<Vec3> rays_;  // directions of the rays, in the body's frame
  Vec3 middle_;
  double radius_ = 3, sway_ = 0, period_ = 60;  // m, m, s
  double spacing_ = 1.6, clearance_ = 2;        // m: below these distances neighbours and obstacles repel
  // Gains, found by trial: the sphere's attraction is limited to less than the repulsion of a close obstacle.
  static constexpr double sphere_gain = 5, sphere_most = 1.5;    // 1/s^2, m/s^2
  static constexpr double neighbor_gain = 4, obstacle_gain = 4;  // m/s^2
  static constexpr double keep_away = 0.6, keep_rate = 2;        // m, 1/s: see kept_away()
  static constexpr double friction = 3;                          // 1/s
  static constexpr double most = 6;                              // m/s^2, limit of the sum
};

}  // namespace volvox::robots
