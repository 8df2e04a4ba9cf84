// A node of ROS 2 on the wire: its topics, types and qualities of service over DDS (CycloneDDS),
// without any library of ROS.
#pragma once

#include <memory>
#include <string>

#include "volvox/base/result.h"
#include "volvox/ros/node.h"

namespace volvox::ros {

struct Ros2Setup {
  std::string name;       // of the participant
  int domain = 0;         // ROS_DOMAIN_ID
  std::string interface;  // a name or an address; "any": those that DDS chooses
};
Result<std::unique_ptr<Node>> start_ros2_node(const Ros2Setup& setup);

}  // namespace volvox::ros
