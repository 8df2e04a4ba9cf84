#include "volvox/ros/ros_node.h"

#include <geometry_msgs/Vector3Stamped.h>
#include <ros/ros.h>
#include <rosgraph_msgs/Clock.h>
#include <sensor_msgs/JointState.h>
#include <sensor_msgs/LaserScan.h>
#include <std_msgs/Float64.h>
#include <std_msgs/String.h>
#include <tf2_msgs/TFMessage.h>

#include <mutex>

namespace {

constexpr std::size_t most_heard = 10'000;  // between two ticks; who sends more is not heard

ros::Time to_ros(std::int64_t ns) {
  ros::Time stamp;
  stamp.fromNSec(static_cast<std::uint64_t>(ns));
  return stamp;
}

class Node final : public RosNode {
 public:
  Node() {
    clock_ = node_.advertise<rosgraph_msgs::Clock>("/clock", 10);
    joints_ = node_.advertise<sensor_msgs::JointState>("/joint_states", 10);
    frames_ = node_.advertise<tf2_msgs::TFMessage>("/tf", 100);
    spinner_.start();
  }
  ~Node() override {
    spinner_.stop();
    ros::shutdown();
  }

  void listen(const std::string& topic, int number) override {
    const boost::function<void(const std_msgs::Float64ConstPtr&)> hear = [this, number](const std_msgs::Float64ConstPtr& message) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (heard_.size() < most_heard) heard_.push_back({number, message->data});
    };
    listeners_.push_back(node_.subscribe<std_msgs::Float64>(topic, 100, hear));
  }
  std::vector<Heard> take_heard() override {
    std::vector<Heard> heard;
    const std::lock_guard<std::mutex> lock(mutex_);
    heard.swap(heard_);
    return heard;
  }
  bool ok() const override { return ros::ok(); }

  void publish_clock(std::int64_t now_ns) override {
    rosgraph_msgs::Clock message;
    message.clock = to_ros(now_ns);
    clock_.publish(message);
  }
  void publish_bodies(std::int64_t now_ns, const std::vector<Joint>& joints, const std::vector<Frame>& frames) override {
    sensor_msgs::JointState states;
    states.header.stamp = to_ros(now_ns);
    for (const Joint& joint : joints) {
      states.name.push_back(joint.name);
      states.position.push_back(joint.position);
      states.velocity.push_back(joint.velocity);
      states.effort.push_back(joint.effort);
    }
    joints_.publish(states);
    tf2_msgs::TFMessage message;
    for (const Frame& frame : frames) {
      geometry_msgs::TransformStamped transform;
      transform.header.stamp = states.header.stamp;
      transform.header.frame_id = "world";
      transform.child_frame_id = frame.name;
      transform.transform.translation.x = frame.position[0];
      transform.transform.translation.y = frame.position[1];
      transform.transform.translation.z = frame.position[2];
      transform.transform.rotation.x = frame.rotation_xyzw[0];
      transform.transform.rotation.y = frame.rotation_xyzw[1];
      transform.transform.rotation.z = frame.rotation_xyzw[2];
      transform.transform.rotation.w = frame.rotation_xyzw[3];
      message.transforms.push_back(transform);
    }
    frames_.publish(message);
  }

  int advertise(const std::string& topic, Shape shape, const std::string& frame) override {
    ros::Publisher publisher;
    switch (shape) {
      case Shape::number: publisher = node_.advertise<std_msgs::Float64>(topic, 10); break;
      case Shape::vector: publisher = node_.advertise<geometry_msgs::Vector3Stamped>(topic, 10); break;
      case Shape::scan: publisher = node_.advertise<sensor_msgs::LaserScan>(topic, 10); break;
      case Shape::text: publisher = node_.advertise<std_msgs::String>(topic, 10); break;
    }
    topics_.push_back({publisher, frame});
    return static_cast<int>(topics_.size()) - 1;
  }
  bool is_heard(int topic) const override { return at(topic).publisher.getNumSubscribers() > 0; }
  void publish_number(int topic, double value) override {
    std_msgs::Float64 message;
    message.data = value;
    at(topic).publisher.publish(message);
  }
  void publish_vector(int topic, std::int64_t now_ns, double x, double y, double z) override {
    geometry_msgs::Vector3Stamped message;
    message.header.stamp = to_ros(now_ns);
    message.header.frame_id = at(topic).frame;
    message.vector.x = x;
    message.vector.y = y;
    message.vector.z = z;
    at(topic).publisher.publish(message);
  }
  void publish_scan(int topic, std::int64_t now_ns, double field_of_view, double max_range, const std::vector<double>& distances) override {
    sensor_msgs::LaserScan message;
    message.header.stamp = to_ros(now_ns);
    message.header.frame_id = at(topic).frame;
    message.angle_min = static_cast<float>(-field_of_view / 2);
    message.angle_max = static_cast<float>(field_of_view / 2);
    message.angle_increment = distances.size() > 1 ? static_cast<float>(field_of_view / static_cast<double>(distances.size() - 1)) : 0;
    message.range_max = static_cast<float>(max_range);
    for (const double distance : distances) message.ranges.push_back(static_cast<float>(distance));
    at(topic).publisher.publish(message);
  }
  void publish_text(int topic, const std::string& text) override {
    std_msgs::String message;
    message.data = text;
    at(topic).publisher.publish(message);
  }

 private:
  struct Topic {
    ros::Publisher publisher;
    std::string frame;
  };
  const Topic& at(int topic) const { return topics_[static_cast<std::size_t>(topic)]; }

  ros::NodeHandle node_;
  ros::Publisher clock_, joints_, frames_;
  std::vector<ros::Subscriber> listeners_;
  std::vector<Topic> topics_;
  std::mutex mutex_;
  std::vector<Heard> heard_;
  ros::AsyncSpinner spinner_{1};
};

}  // namespace

std::unique_ptr<RosNode> RosNode::start(const std::string& name, std::string& why) {
  const ros::M_string no_remappings;
  ros::init(no_remappings, name, ros::init_options::NoSigintHandler | ros::init_options::NoRosout);
  if (!ros::master::check()) {
    why = "no ROS master answers at " + ros::master::getURI();
    return nullptr;
  }
  return std::make_unique<Node>();
}
