// The control of a quadrotor: the outer loop computes the wanted attitude and thrust from the wanted
// position once per tick; the inner loop (attitude_controller.h) runs on board at every substep. Behaviours
// that fly derive from Flyer and give the targets. World frame, SI units.
#pragma once

#include <array>

#include "attitude_controller.h"
#include "volvox/mind/behavior.h"

namespace volvox::robots {

struct FlightTarget {
  Vec3 position, velocity;
  double yaw = 0, yaw_rate = 0;
};

class Flyer : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  OnBoard on_board() const override { return {{"gyroscope", "accelerometer"}, {"front", "left", "back", "right"}}; }
  void control(mind::Agent& agent, double step) override;

 protected:
  // PID control of position and velocity.
  void fly_to(mind::Agent& agent, const FlightTarget& target);
  // Tracks an acceleration (m/s^2, without gravity), for behaviours with their own outer loop.
  void accelerate(mind::Agent& agent, const Vec3& acceleration, double yaw, double yaw_rate);
  // Sets the mass of the load, kg.
  void carry(double mass) { load_ = mass; }

  const Pose& pose(const mind::Agent& agent) const { return agent.percept(pose_); }
  const Twist& velocity(const mind::Agent& agent) const { return agent.percept(velocity_); }

  void archive_flight(Archive& ar);

 private:
  mind::Percept<Pose> pose_;
  mind::Percept<Twist> velocity_;
  mind::Percept<Vec3> gyroscope_, accelerometer_;
  std::array<mind::Action<double>, 4> rotors_;

  // Parameters of the airframe and of the outer loop: kg, N s^2, tangent of the tilt.
  double mass_ = 1, thrust_ = 1.1e-5, max_tilt_ = 0.6;
  Vec3 stiffness_, damping_, integral_;  // 1/s^2, 1/s, 1/s^3

  double load_ = 0;  // kg
  Vec3 error_sum_;   // m s
  AttitudeSetpoint wanted_;
  AttitudeController controller_;
};

// Holds its initial pose, or x, y, z, yaw.
class Hover final : public Flyer {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override { fly_to(agent, target_); }
  bool lists_state() const override { return true; }
  void archive_state(Archive& ar) override { archive_flight(ar); }

 private:
  FlightTarget target_;
};

// Flies a figure eight of the given period around x, y, z, horizontal or vertical, at a constant yaw
// rate. It hovers first, and then accelerates over one period.
class FigureEight final : public Flyer {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override { fly_to(agent, target(agent.time())); }
  FlightTarget target(double time) const;
  double begins() const { return hover_ + period_; }  // s: from this time on it flies at full speed
  bool lists_state() const override { return true; }
  void archive_state(Archive& ar) override { archive_flight(ar); }

 private:
  Vec3 centre_;
  double length_ = 1, width_ = 0.5;  // m, half of the figure's extent
  double period_ = 10, hover_ = 2;   // s
  double yaw_rate_ = 0;
  bool vertical_ = false;
};

}  // namespace volvox::robots
