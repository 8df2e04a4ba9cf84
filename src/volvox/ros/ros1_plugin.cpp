// The plugin for ROS 1 (seed 003).
#include "volvox/ros/bridge.h"
#include "volvox/ros/ros1_node.h"

VOLVOX_PLUGIN("ros", "ROS 1: /clock, /joint_states, /tf, sensors and commands") {
  using namespace volvox;
  const auto make = [](const sim::ExtensionSetup& setup) {
    return ros::make_bridge(
        setup, [name = setup.parameters.text("node", "volvox")]() -> Result<std::unique_ptr<ros::Node>> {
          std::string why;
          auto node = ros::start_ros1_node(name, why);
          if (!node) return Error(why, "start roscore, and set ROS_MASTER_URI if it runs on another machine");
          return node;
        });
  };
  plugin.extensions.add("ros", make, "a ROS 1 node: node, rate");
}
