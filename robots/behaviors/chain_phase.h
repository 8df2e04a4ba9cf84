// Synchronizes the phase of a gait over a chain or a tree of modules without a common clock. The head, whose parent
// dock (in a chain: front) is free, sends its phase to its children every 0.25 s. A module that receives the phase from
// its parent adopts it, adds one to the place, and forwards it to its children. Between messages each module uses its
// own clock.
#pragma once

#include <initializer_list>
#include <string_view>

#include "volvox/mind/behavior.h"

namespace volvox::robots {

struct PhaseMessage {
  double phase = 0;  // rad, of the head, at the time of sending
  int place = 0;     // of the sender; 0 is the head
  double steer = 0;  // rad, by which each module bends to the left; chosen by the head
};
VOLVOX_TYPE(PhaseMessage, phase, place, steer)

// The belief of a module, for observers.
struct PhaseModel {
  bool known = false;  // it is the head, or has received the phase
  double phase = 0;    // rad, of the head
  int place = 0;
};
VOLVOX_TYPE(PhaseModel, known, phase, place)

class ChainPhase {
 public:
  // To be called once per tick, before phase().
  void step(mind::Agent& agent, double frequency, std::string_view parent = "front",
            std::initializer_list<const char*> children = {"back"});
  bool receive(mind::Agent& agent, const mind::Message& message, std::string_view parent = "front");
  void steer(double angle) { steer_ = angle; }  // sent by the head from now on

  bool known() const { return now_.known; }
  double phase() const { return now_.phase; }
  int place() const { return now_.place; }
  double steering() const { return steer_; }
  double age() const { return age_; }  // s, since the phase is known
  const PhaseModel& model() const { return now_; }

  template <class A>
  void archive(A& ar) {
    ar("known", now_.known), ar("phase", now_.phase), ar("place", now_.place), ar("age", age_), ar("last", last_);
    ar("said", said_), ar("heard", heard_), ar("heard phase", heard_phase_), ar("steer", steer_);
  }

 private:
  static constexpr double say_every = 0.25;  // s: clocks that differ by 100 ppm are then at most 25 us apart

  PhaseModel now_;
  double age_ = 0;
  double last_ = -1;    // s by its own clock, of the last step; negative: no step yet
  double said_ = 0;     // s, since it last sent the phase
  bool heard_ = false;  // since the last step
  double heard_phase_ = 0;
  double steer_ = 0;  // rad
};

}  // namespace volvox::robots
