// Cooperative transport (seed 003, figure 3, middle): a quadrotor and a Wheelbot take the two ends of a
// load. Each knows only its own gripper and the messages of the other, which go through the load from one
// handle to the other.
#pragma once

#include "flight.h"

namespace volvox::robots {

// The message of each to the other in every tick while its gripper holds the load.
struct CarryWord {
  bool ready = false;  // the load may move: this end is held (Wheelbot), or lifted (quadrotor)
  bool there = false;  // the goal is reached
  double driven = 0;   // m, driven by the Wheelbot
  double speed = 0;    // m/s
};
VOLVOX_TYPE(CarryWord, ready, there, driven, speed)

// The load: it forwards messages from one handle to the others, like a wire.
class PassOn final : public mind::Behavior {
 public:
  void step(mind::Agent&) override {}
  bool receive(mind::Agent& agent, const mind::Message& message) override;
  VOLVOX_STATE()
};

// The last message of the other robot, and its time.
class Partner {
 public:
  bool hear(const mind::Message& message, double now);
  // Null if no message has come for 0.2 s.
  const CarryWord* word(double now) const { return now - heard_ < 0.2 ? &word_ : nullptr; }
  void archive(Archive& ar) {
    ar("word", word_);
    ar("heard", heard_);
  }

 private:
  CarryWord word_;
  double heard_ = -1e9;  // s
};

// The quadrotor descends onto the handle at (x, y, z) and grips it. When the other end is held too, it lifts
// its own end by `lift`, reports this, and follows the Wheelbot along x with the same distance and speed. When
// the Wheelbot has arrived, it puts the load down and releases it. Without messages it waits in place.
class CarryInAir final : public Flyer {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  bool receive(mind::Agent& agent, const mind::Message& message) override;
  bool lists_state() const override { return true; }
  void archive_state(Archive& ar) override;

 private:
  enum class Stage : std::uint8_t { above, down, lifting, carrying, putting, leaving };
  Stage next_stage(const mind::Agent& agent, double since, const CarryWord* other) const;
  FlightTarget target(double since, const CarryWord* other) const;

  Vec3 handle_;           // m, in the world frame
  double load_ = 0.2;     // kg, on its end
  double lift_ = 0.4;     // m
  double length_ = 0.87;  // m, from its handle to the hinge at the other end, around which lifting rotates the load
  Stage stage_ = Stage::above;
  double begun_ = 0;   // s, start of this stage
  double driven_ = 0;  // m, from the last message
  bool holds_ = false;
  Partner partner_;
};

// The Wheelbot drives to the load until its gripper holds it and reports this. As soon as the quadrotor is
// ready, it pulls its end at `speed` (m/s) over `way` (m) and reports the driven distance.
class CarryOnWheels final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override;
  void step(mind::Agent& agent) override;
  bool receive(mind::Agent& agent, const mind::Message& message) override;
  bool lists_state() const override { return true; }
  void archive_state(Archive& ar) override;

 private:
  double speed_ = 0.3, way_ = 3;  // m/s, m
  double driven_ = 0;             // m, with the load
  Partner partner_;
};

}  // namespace volvox::robots
