// Carrying together (seed 003, figure 3, the middle): a quadrotor and a Wheelbot take the two ends
// of a load. Each knows its own gripper and what the other tells it, by messages that go through the
// load from one handle to the other; neither knows when the other will be ready.
#pragma once

#include "flight.h"

namespace volvox::robots {

// What each tells the other in every tick while its gripper holds the load.
struct CarryWord {
  bool ready = false;  // the load may move: this end is held (wheels), or lifted (air)
  bool there = false;  // the way is done
  double driven = 0;   // m along the way, of the one on wheels
  double speed = 0;    // m/s
};
VOLVOX_TYPE(CarryWord, ready, there, driven, speed)

// The load: what comes in at one handle goes out at the others, as by a wire inside it.
class PassOn final : public mind::Behavior {
 public:
  void step(mind::Agent&) override {}
  bool receive(mind::Agent& agent, const mind::Message& message) override;
  VOLVOX_STATE()
};

// The last word of the other, and when it came.
class Partner {
 public:
  bool hear(const mind::Message& message, double now);
  // Nothing, if it has been silent for longer than a few words take.
  const CarryWord* word(double now) const { return now - heard_ < 0.2 ? &word_ : nullptr; }
  void archive(Archive& ar) {
    ar("word", word_);
    ar("heard", heard_);
  }

 private:
  CarryWord word_;
  double heard_ = -1e9;  // s
};

// The quadrotor: comes down on the handle at (x, y, z) and takes it; when the other end is held too, it
// lifts its own by `lift`, says so, and goes along x as far and as fast as the other drives. When the
// other has arrived it puts the load down and lets go. If the other falls silent it waits where it is.
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

  Vec3 handle_;           // m, where the gripper takes it
  double load_ = 0.2;     // kg, of its end
  double lift_ = 0.4;     // m
  double length_ = 0.87;  // m, from its handle to the hinge at the other end: lifting turns the load about it
  Stage stage_ = Stage::above;
  double begun_ = 0;   // s, when this stage began
  double driven_ = 0;  // m, as the other last told
  bool holds_ = false;
  Partner partner_;
};

// The Wheelbot: drives up to the load until its gripper has it, says so, and as soon as the other is
// ready carries its end along at `speed` for `way`, telling how far it is.
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
