// Names of the targets of values from outside, and of the sources of values for outside.
// Values are in SI units and rad, after the scale. Targets and sources hold names and numbers, not pointers; they are
// for the thread of the loop.
#pragma once

#include <optional>
#include <string>

#include "volvox/sim/simulation.h"

namespace volvox::device {

// "rover.stick_x": a sensor of type external, or the motor of a joint; the error lists the choices.
struct Target {
  bool percept = false;  // false: a joint
  std::string module, name;
  double scale = 1;

  // "rover.stick_x" or, with a factor, "rover.neck 1.57".
  static Result<Target> find(const std::string& text, const sim::Simulation& simulation);
  sim::Input input(double value) const {
    if (percept) return sim::PerceptInput{module, name, scale * value};
    return sim::JointInput{module, name, scale * value};
  }
};

// "rover.range": a percept.
struct Source {
  std::size_t agent = 0, percept = 0;
  std::string text;
  double scale = 1;

  static Result<Source> find(const std::string& text, const sim::Simulation& simulation);
  const Value& value(const sim::Simulation& simulation) const {
    return simulation.minds().agent(agent).percept_value(percept);
  }
  // Its first number, scaled; 0 if it has none.
  double number(const sim::Simulation& simulation) const;
};

}  // namespace volvox::device
