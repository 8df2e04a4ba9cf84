// The control program of a module. It senses, acts and communicates only through its Agent.
// The minds own it (mind/minds.h). Units as in agent.h; threads and determinism are said below.
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
// Every module has its own Behavior object. Different modules' objects are called from several threads at once, so they
// must not share data that changes. The same seed gives the same run, at any number of threads.
class Behavior {
 public:
  virtual ~Behavior() = default;

  virtual void start(Agent&) {}   // once, before the first tick; percepts can be read
  virtual void step(Agent&) = 0;  // once a tick, or once a period
  // A message has arrived. True consumes it; otherwise it waits in the mailbox.
  virtual bool receive(Agent&, const Message&) { return false; }
  // A message on the network was lost as far as its sender can know (the link was cut, no receiver acknowledged it), or
  // it was sent with .report and has left. Called at the exact time of the event, like receive.
  virtual void sent(Agent&, const SendReport&) {}
  virtual void end_tick(Agent&) {}  // all messages of the tick have arrived
  // A user has changed a parameter during the run. Read again the parameters that start() has stored.
  virtual void tune(Agent&) {}

  // The inner control loop, which runs on the module's own microcontroller at every physics substep: the percepts named
  // here are read again, with their noise; control() is called; the actions named here are applied during the substep.
  // on_board() is called once, after start(); without actions there is no inner loop. control() runs in parallel like
  // step().
  struct OnBoard {
    std::vector<std::string> percepts, actions;
  };
  virtual OnBoard on_board() const { return {}; }
  virtual void control(Agent&, double /*step: s*/) {}

  virtual double period() const { return 0; }        // s between steps; 0: every tick
  virtual bool omniscient() const { return false; }  // true: may read other modules' percepts

  // For snapshots: VOLVOX_STATE(members...) defines both functions; without it the run cannot be saved.
  virtual bool lists_state() const { return false; }
  virtual void archive_state(Archive&) {}
};

}  // namespace volvox::mind
