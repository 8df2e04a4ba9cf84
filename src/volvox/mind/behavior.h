// The program that a module runs. It knows only what its Agent tells it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "volvox/mind/agent.h"

namespace volvox::mind {

// A first behaviour:
//
//   class Wave : public Behavior {
//    public:
//     void start(Agent& agent) override { amplitude_ = agent.parameter("amplitude", 0.5); }
//     void step(Agent& agent) override { agent.move_to("pitch", amplitude_ * volvox::sin(agent.time())); }
//     VOLVOX_STATE(amplitude_)
//    private:
//     double amplitude_ = 0;
//   };
//
// step and receive are called from several threads at once for different modules; each has
// its own Behavior object, which must not share anything that changes.
class Behavior {
 public:
  virtual ~Behavior() = default;

  virtual void start(Agent&) {}   // once, before the first tick; percepts are there
  virtual void step(Agent&) = 0;  // once a tick, or once a period
  // A message arrived. True takes it; otherwise it waits in the mailbox.
  virtual bool receive(Agent&, const Message&) { return false; }
  // A message on the network was lost as far as its sender can know (its link was cut, nobody
  // acknowledged it), or has left, if it was sent with .report. Live, as receive.
  virtual void sent(Agent&, const SendReport&) {}
  virtual void end_tick(Agent&) {}  // all messages of the tick are in
  // A person has changed a parameter while the run goes on: read those that start() has kept.
  virtual void tune(Agent&) {}

  // The part of the program that runs on the module's own microcontroller, at every physics
  // substep: the percepts named here are read anew, with their noise, control() is called, and
  // the actions named here are carried out for the length of the substep. Asked once, after
  // start(); no actions: there is no such part. control() runs in parallel like step.
  struct OnBoard {
    std::vector<std::string> percepts, actions;
  };
  virtual OnBoard on_board() const { return {}; }
  virtual void control(Agent&, double /*step: s*/) {}

  virtual double period() const { return 0; }        // s between steps; 0: every tick
  virtual bool omniscient() const { return false; }  // may look at other modules' percepts

  // Snapshot: VOLVOX_STATE(members...) gives both; without it the run cannot be saved.
  virtual bool lists_state() const { return false; }
  virtual void archive_state(Archive&) {}
};

}  // namespace volvox::mind
