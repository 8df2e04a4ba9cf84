#include "stepper.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace volvox::robots {

void Stepper::start(mind::Agent& agent) {
  features_.clear();
  const std::vector<std::string>& actions = agent.actions();
  for (int k = 0;; ++k) {
    const std::string name = fmt::format("f{}", k);
    if (std::find(actions.begin(), actions.end(), name) == actions.end()) break;
    features_.push_back(agent.find_action<double>(name));
  }
  first_ = agent.parameter("first", std::int64_t{0});
  steps_ = agent.parameter("steps", std::int64_t{1'000'000});
  direction_ = agent.parameter("backwards", false) ? -1 : 1;
  rate_ = agent.parameter("rate", 4.0);
  begin_ = agent.parameter("begin", 0.5);
  pole_ = agent.parameter("pole", 1.0);
  repel_ = agent.parameter("repel", false);
  micro_ = agent.parameter("micro", false);
}

void Stepper::step(mind::Agent& agent) {
  if (features_.empty()) return;
  const std::int64_t count = std::ssize(features_);
  const auto feature = [&](std::int64_t k) { return features_[(((first_ + direction_ * k) % count) + count) % count]; };
  for (const mind::Action<double>& f : features_) agent.act(f, 0.0);
  const double due = clamp((agent.time() - begin_) * rate_ + 1e-9, -1, real(steps_));
  if (micro_) {
    const double at = std::max(0.0, due), part = at - std::floor(at);
    const auto step = truncated<std::int64_t>(at);
    agent.act(feature(step), pole_ * volvox::cos(pi / 2 * part));
    if (part > 0) agent.act(feature(step + 1), pole_ * volvox::sin(pi / 2 * part));
    return;
  }
  const std::int64_t step = due < 0 ? 0 : std::min(steps_, truncated<std::int64_t>(due) + 1);  // the first at `begin`
  // Both catoms make the feature behind a north pole: those two push each other off.
  if (repel_ && step > 0) agent.act(feature(step - 1), 1.0);
  agent.act(feature(step), pole_);
}

}  // namespace volvox::robots
