// Who is in step with its parent, as somebody sees who looks on: the modules themselves know nothing of it.
#pragma once

#include "volvox/mind/roles.h"
#include "volvox/sim/simulation.h"

namespace volvox::experiments::roles {

class Synchrony {
 public:
  explicit Synchrony(mind::RoleBook book = {}) : book_(std::move(book)) {}

  void observe(const sim::Simulation& simulation);

  // Now: how many modules have a parent, and how many of them are where it should have them.
  int children() const { return children_; }
  int in_step() const { return in_step_; }
  double largest_error() const {
    return largest_error_;
  }  // steps, of any child; half a period if its parent does not lead it
  bool all_in_step() const { return in_step_ == children_; }

  // Since when all have been in step, s; sim::not_measured: they are not, or nobody follows anybody.
  double since() const;

  // How far apart, in steps, two modules may be that are in step. A signal takes a tick to cross a dock and
  // leaves in the nearest tick; and as clocks drift, the nearest tick becomes the next one now and then.
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
  double last_out_ = 0;  // s
  int children_ = 0, in_step_ = 0;
  double largest_error_ = 0;
};

}  // namespace volvox::experiments::roles
