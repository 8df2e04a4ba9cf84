// Two hands re-arrange modules while the modules run: one holds the receiving module, the other takes a module, undocks
// it, carries it and docks it. The modules get no information about it. Lengths in m, times in s, world frame.
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

  // Call between two ticks. Returns an error if a module or dock does not exist.
  Result<void> before_tick(sim::Simulation& simulation);
  bool done() const { return next_ >= moves_.size() && stage_ == Stage::reach && !holder_.holds(); }
  std::size_t moves_made() const { return next_; }
  int retries() const { return retries_; }

  template <class A>
  void archive(A& ar) {
    ar("next", next_);
    ar("stage", stage_);
    ar("since", since_);
    ar("retries", retries_);
    holder_.archive(ar);
    carrier_.archive(ar);
  }

 private:
  // The stages of a move, in this order; after the last move the hands put the robot down.
  enum class Stage : std::uint8_t { reach, free, lift, over, align, push, drop, down };

  Result<void> begin_move(sim::Simulation& simulation);
  void enter(Stage stage, double now) { stage_ = stage, since_ = now; }
  bool advance(sim::Simulation& simulation);
  void set_down(world::World& world, double now);
  void reach(world::World& world, double now);
  void lift(world::World& world, double now);
  bool push(world::World& world, double now);
  bool late(double now) const;

  std::vector<Move> moves_;
  std::size_t next_ = 0;
  Stage stage_ = Stage::reach;
  double since_ = 0;  // s
  int retries_ = 0;
  world::Hand holder_, carrier_;

  // Of the present move; looked up by name in every tick.
  world::PlacementIndex module_, receiver_;
  world::DockIndex target_;
};

}  // namespace volvox::experiments::roles
