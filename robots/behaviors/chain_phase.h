// How a chain or a tree of modules agrees on the phase of a gait without a common clock: the module at its head (whose
// parent dock nobody holds; in a chain, its front) has the phase, and says it to its children every now and then; each
// that hears it from its parent takes it over, counts itself one place further, and says it on. Between two messages
// each follows its own clock.
#pragma once

#include <initializer_list>
#include <string_view>

#include "volvox/mind/behavior.h"

namespace volvox::robots {

struct PhaseMessage {
  double phase = 0;  // rad, of the head, when it was sent
  int place = 0;     // of the sender, 0 at the head
  double steer = 0;  // rad, by which each is to bend to the left, as the head has it
};
VOLVOX_TYPE(PhaseMessage, phase, place, steer)

// What a module believes, for those who look on.
struct PhaseModel {
  bool known = false;  // it is the head, or has heard of it
  double phase = 0;    // rad, of the head
  int place = 0;
};
VOLVOX_TYPE(PhaseModel, known, phase, place)

class ChainPhase {
 public:
  // Once a tick, before phase() is asked for.
  void step(mind::Agent& agent, double frequency, std::string_view parent = "front",
            std::initializer_list<const char*> children = {"back"});
  bool receive(mind::Agent& agent, const mind::Message& message, std::string_view parent = "front");
  void steer(double angle) { steer_ = angle; }  // what the head says from now on

  bool known() const { return now_.known; }
  double phase() const { return now_.phase; }
  int place() const { return now_.place; }
  double steering() const { return steer_; }
  double age() const { return age_; }  // s, since it is known
  const PhaseModel& model() const { return now_; }

  template <class A>
  void archive(A& ar) {
    ar("known", now_.known), ar("phase", now_.phase), ar("place", now_.place), ar("age", age_), ar("last", last_);
    ar("said", said_), ar("heard", heard_), ar("heard phase", heard_phase_), ar("steer", steer_);
  }

 private:
  static constexpr double say_every = 0.25;  // s: clocks that differ by 100 ppm are then 25 us apart at most

  PhaseModel now_;
  double age_ = 0;
  double last_ = -1;    // s by its own clock, of the last step; negative: there was none
  double said_ = 0;     // s, since it has last said the phase
  bool heard_ = false;  // since the last step
  double heard_phase_ = 0;
  double steer_ = 0;  // rad
};

}  // namespace volvox::robots
