// Measures from outside which modules are in step with their parents. The modules do not know it. Phases in steps of
// the role book, times in s.
#pragma once

#include "volvox/mind/roles.h"
#include "volvox/sim/simulation.h"

namespace volvox::experiments::roles {

class Synchrony {
 public:
  explicit Synchrony(mind::RoleBook book = {}) : book_(std::move(book)) {}

  void observe(const sim::Simulation& simulation);

  // In the last observed tick: modules that have a parent, and those of them in step with it.
  int children() const { return children_; }
  int in_step() const { return in_step_; }
  // Largest phase error of a child, in steps; half a period if its parent does not lead it.
  double largest_error() const { return largest_error_; }
  bool all_in_step() const { return in_step_ == children_; }

  // The time from which all have been in step, in s; sim::not_measured if they are not, or if no module has a parent.
  double since() const;

  // The phase error, in steps, that still counts as in step. A signal leaves at the nearest tick and takes one tick to
  // cross a dock; as clocks drift, the nearest tick changes now and then.
  double tolerance(const sim::Simulation& simulation) const {
    return 2.5 * simulation.settings().dt.seconds() / book_.step + 0.05;
  }

  template <class A>
  void archive(A& ar) {
    ar("last out", last_out_);
    ar("children", children_);
    ar("in step", in_step_);
    ar("error", largest_error_);
  }

 private:
  mind::RoleBook book_;
  double last_out_ = 0;  // s, last time when a child was out of step
  int children_ = 0, in_step_ = 0;
  double largest_error_ = 0;
};

}  // namespace volvox::experiments::roles
