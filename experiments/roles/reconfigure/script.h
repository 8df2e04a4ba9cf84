// Two hands re-arrange modules while the modules run: one holds the receiving module, the other takes a module, undocks
// it, carries it and docks it. The modules get no information about it. Lengths in m, times in s, world frame.
// What tears docks is avoided: no hand stops or turns what it takes hold of faster than its force can, a module leaves
// a dock straight out, and no two hands hold one chain, but for the tick in which a dock opens or closes between them.
#pragma once

#include <string>
#include <vector>

#include "volvox/sim/simulation.h"
#include "volvox/world/hand.h"

namespace volvox::experiments::roles {

struct Move {
  std::string module;
  std::string to;  // "m1.e": the dock for its dock s; empty: put it aside
};

class Script {
 public:
  explicit Script(std::vector<Move> moves = {}) : moves_(std::move(moves)) {}

  // Puts both hands into a world (world/hand.h).
  static void add_hands(model::WorldModel& world, double force, double torque);
  // Call between two ticks. Returns an error if a module or dock does not exist.
  Result<void> before_tick(sim::Simulation& simulation);
  bool done() const { return next_ >= moves_.size() && stage_ == Stage::hold && !hands_[swapped_ ? 1 : 0].holds(); }
  std::size_t moves_made() const { return next_; }
  int retries() const { return retries_; }

  template <class A>
  void archive(A& ar) {
    ar("next", next_);
    ar("stage", stage_);
    ar("since", since_);
    ar("retries", retries_);
    ar("by north", by_north_);
    ar("swapped", swapped_);
    for (world::Hand& hand : hands_) hand.archive(ar);
  }

 private:
  // The stages of a move, in this order; after the last move the hands put the robot down.
  enum class Stage : std::uint8_t { hold, grip, free, draw, lift, over, align, push, drop, down };

  Result<void> plan(sim::Simulation& simulation);
  Result<void> begin_move(sim::Simulation& simulation);
  void enter(Stage stage, double now) { stage_ = stage, since_ = now; }
  bool advance(sim::Simulation& simulation);
  void set_down(world::World& world, double now);
  void hold(world::World& world, double now);
  void grip(world::World& world, double now);
  void lift(world::World& world, double now);
  bool push(world::World& world, double now);
  bool late(double now) const;
  world::DockIndex leaving_dock(const world::World& world) const;
  world::Hand& holder() { return hands_[swapped_ ? 1 : 0]; }
  world::Hand& carrier() { return hands_[swapped_ ? 0 : 1]; }

  std::vector<Move> moves_;
  std::size_t next_ = 0;
  Stage stage_ = Stage::hold;
  double since_ = 0;  // s
  int retries_ = 0;
  world::Hand hands_[2];
  bool swapped_ = false;   // the second hand holds the receiving module, and the first one carries
  bool by_north_ = false;  // the present module left its robot by its dock n

  // Of the present move; looked up by name in every tick.
  world::PlacementIndex module_, receiver_;
  world::DockIndex target_;
};

}  // namespace volvox::experiments::roles
