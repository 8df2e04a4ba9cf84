// A node of ROS 1, through roscpp. C++17 too, as node.h.
#pragma once

#include <memory>

#include "volvox/ros/node.h"

namespace volvox::ros {

// Null, and why: no master answers. Its spinner has a thread of its own.
std::unique_ptr<Node> start_ros1_node(const std::string& name, std::string& why);

}  // namespace volvox::ros
