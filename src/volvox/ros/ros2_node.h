// A node of ROS 2 at the wire level: its topics, types and quality of service over DDS (CycloneDDS), without the
// libraries of ROS.
// Threads as in node.h.
#pragma once

#include <memory>
#include <string>

#include "volvox/base/result.h"
#include "volvox/ros/node.h"

namespace volvox::ros {

struct Ros2Setup {
  std::string name;       // of the participant
  int domain = 0;         // ROS_DOMAIN_ID
  std::string interface;  // a name or an address; "any": DDS chooses
};
Result<std::unique_ptr<Node>> start_ros2_node(const Ros2Setup& setup);

}  // namespace volvox::ros
