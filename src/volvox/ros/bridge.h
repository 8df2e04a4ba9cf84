// What a run publishes to ROS and what it takes from there, whichever ROS it is: a node says it in
// the words of its own.
#pragma once

#include <volvox/plugin/plugin.h>

#include <functional>
#include <memory>

#include "volvox/ros/node.h"

namespace volvox::ros {

// Joins the network of ROS.
using StartNode = std::function<Result<std::unique_ptr<Node>>()>;

// `rate` of the setup's parameters: Hz of simulated time.
std::unique_ptr<mind::Extension> make_bridge(const sim::ExtensionSetup& setup, StartNode start);

}  // namespace volvox::ros
