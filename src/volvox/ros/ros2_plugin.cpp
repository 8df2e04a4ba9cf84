// The plugin for ROS 2.
#include <volvox/base/index.h>

#include <cstdlib>
#include <string_view>

#include "volvox/base/parse.h"
#include "volvox/ros/bridge.h"
#include "volvox/ros/ros2_node.h"

namespace {

// ROS_DOMAIN_ID, as all nodes of ROS 2 read it; -1, which is refused, if it is not a number.
int usual_domain() {
  const char* given = std::getenv("ROS_DOMAIN_ID");
  const std::string_view text = given == nullptr || *given == 0 ? "0" : given;
  return volvox::to_number<int>(text).value_or(-1);
}

}  // namespace

VOLVOX_PLUGIN("ros2", "ROS 2 on the wire, by CycloneDDS: /clock, /joint_states, /tf, sensors and commands") {
  using namespace volvox;
  const auto make = [](const sim::ExtensionSetup& setup) {
    const Parameters& p = setup.parameters;
    const ros::Ros2Setup node{p.text("node", "volvox"), narrow<int>(p.integer("domain", usual_domain(), 0, 232)),
                              p.text("interface", "127.0.0.1")};
    return ros::make_bridge(setup, [node] { return ros::start_ros2_node(node); });
  };
  plugin.extensions.add("ros2", make, "a node of ROS 2: node, rate, domain, interface");
}
