// A node of ROS 1, through roscpp. Compiles as C++17, like node.h.
// Threads as in node.h.
#pragma once

#include <memory>

#include "volvox/ros/node.h"

namespace volvox::ros {

// Null, with the reason: no master answers. Its spinner has its own thread.
std::unique_ptr<Node> start_ros1_node(const std::string& name, std::string& why);

}  // namespace volvox::ros
