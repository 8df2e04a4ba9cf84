#pragma once

#include <algorithm>

#include "volvox/mind/behavior.h"

namespace volvox::robots {

// Seed 003, section 2: a door that opens when something comes near, and closes `hold` seconds after its
// sensors last saw it. It uses all its range sensors; the parameter NAME_distance is the distance (m)
// below which the sensor NAME opens the door. The panel is on the joint `slide`.
class AutomaticDoor final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override {
    width_ = agent.parameter("width", 1.0);
    hold_ = agent.parameter("hold", 2.0);
    for (const std::string& name : agent.percepts()) {
      if (!name.ends_with("range")) continue;
      eyes_.push_back({agent.find_percept<std::vector<double>>(name), agent.parameter(name + "_distance", 1.0)});
    }
    if (eyes_.empty()) throw mind::AgentError("it has no sensor whose name ends in 'range'");
  }
  void step(mind::Agent& agent) override {
    const bool near = std::any_of(eyes_.begin(), eyes_.end(), [&](const Eye& eye) {
      const std::vector<double>& ranges = agent.percept(eye.range);
      return std::any_of(ranges.begin(), ranges.end(), [&](double range) { return range < eye.distance; });
    });
    if (near) open_until_ = agent.time() + hold_;
    agent.move_to("slide", agent.time() < open_until_ ? width_ : 0);
  }
  VOLVOX_STATE(open_until_)

 private:
  struct Eye {
    mind::Percept<std::vector<double>> range;
    double distance = 1;  // m
  };
  std::vector<Eye> eyes_;
  double width_ = 1, hold_ = 2;  // m, s
  double open_until_ = -1;       // s
};

}  // namespace volvox::robots
