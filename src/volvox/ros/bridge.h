// Connects a run with ROS 1 or ROS 2: publishes its state and takes commands. The node hides which ROS it is.
// For the thread of the loop; the node has threads of its own. SI units. What arrives enters as inputs, which are
// recorded.
#pragma once

#include <volvox/plugin/plugin.h>

#include <functional>
#include <memory>

#include "volvox/ros/node.h"

namespace volvox::ros {

// Starts the node of ROS.
using StartNode = std::function<Result<std::unique_ptr<Node>>()>;

// The parameter `rate` is in Hz of simulated time.
std::unique_ptr<mind::Extension> make_bridge(const sim::ExtensionSetup& setup, StartNode start);

}  // namespace volvox::ros
