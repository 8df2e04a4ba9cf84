// Formation flight by artificial potentials (seed 003, section 3.2): a quadrotor is drawn to the
// surface of a sphere that all know, pushed away by its neighbours, and by whatever its range
// sensor sees close by. Nobody has a place of its own; the formation finds itself.
#pragma once

#include "flight.h"

namespace volvox::robots {

class SphereFormation final : public Flyer {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;

  // The sphere's centre wanders to and fro along x.
  Vec3 centre(double time) const;
  double radius() const { return radius_; }

  bool lists_state() const override { return true; }
  void archive_state(Archive& ar) override { archive_flight(ar); }

 private:
  Vec3 away_from_neighbors(const mind::Agent& agent, const Quat& attitude) const;
  Vec3 away_from_obstacles(const mind::Agent& agent, const Quat& attitude) const;

  mind::Percept<std::vector<Vec3>> neighbors_;
  mind::Percept<std::vector<double>> range_;
  std::vector<Vec3> rays_;  // their directions, in the body's frame
  Vec3 middle_;
  double radius_ = 3, sway_ = 0, period_ = 60;  // m, m, s
  double spacing_ = 1.6, clearance_ = 2;        // m: where neighbours and obstacles begin to push
  // How strongly, found by trial: the sphere draws firmly but never more than an obstacle pushes close by.
  static constexpr double sphere_gain = 5, sphere_most = 1.5;    // 1/s^2, m/s^2
  static constexpr double neighbor_gain = 4, obstacle_gain = 4;  // m/s^2
  static constexpr double friction = 3;                          // 1/s
  static constexpr double most = 6;                              // m/s^2, in all
};

}  // namespace volvox::robots
