// Two hands that re-arrange modules while they run: one holds the module that receives, the other takes a
// module, undocks it, carries it over and docks it. The modules are told nothing.
#pragma once

#include <string>
#include <vector>

#include "volvox/sim/simulation.h"
#include "volvox/world/hand.h"

namespace volvox::experiments::roles {

struct Move {
  std::string module;
  std::string to;  // "m1.e": the dock where its s goes; empty: it is put aside
};

class Script {
 public:
  explicit Script(std::vector<Move> moves = {}) : moves_(std::move(moves)) {}

  // Between two ticks. The error says what cannot be done.
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
  // Of a move, in this order; after the last one the hands set the robot down.
  enum class Stage : std::uint8_t { reach, free, lift, over, align, push, drop, down };

  Result<void> begin_move(sim::Simulation& simulation);
  void enter(Stage stage, double now) { stage_ = stage, since_ = now; }
  bool advance(sim::Simulation& simulation);

  std::vector<Move> moves_;
  std::size_t next_ = 0;
  Stage stage_ = Stage::reach;
  double since_ = 0;  // s
  int retries_ = 0;
  world::Hand holder_, carrier_;

  // Of the move under way, found again from its names.
  std::uint32_t module_ = world::nobody, receiver_ = world::nobody, target_ = world::nobody;  // placements, dock
};

}  // namespace volvox::experiments::roles
