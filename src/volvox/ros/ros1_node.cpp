#include "volvox/ros/ros1_node.h"

#include <geometry_msgs/Vector3Stamped.h>
#include <ros/ros.h>
#include <rosgraph_msgs/Clock.h>
#include <sensor_msgs/Imu.h>
#include <sensor_msgs/JointState.h>
#include <sensor_msgs/LaserScan.h>
#include <sensor_msgs/PointCloud2.h>
#include <std_msgs/Float64.h>
#include <std_msgs/String.h>
#include <tf2_msgs/TFMessage.h>

#include <cstring>
#include <mutex>

namespace volvox::ros {
namespace {

::ros::Time to_ros(std::int64_t ns) {
  ::ros::Time stamp;
  stamp.fromNSec(ns);
  return stamp;
}
geometry_msgs::Vector3 to_ros(const Node::Vector& v) {
  geometry_msgs::Vector3 vector;
  vector.x = v.x;
  vector.y = v.y;
  vector.z = v.z;
  return vector;
}

class Ros1Node final : public Node {
 public:
  Ros1Node() {
    clock_ = node_.advertise<rosgraph_msgs::Clock>("/clock", 10);
    joints_ = node_.advertise<sensor_msgs::JointState>("/joint_states", 10);
    frames_ = node_.advertise<tf2_msgs::TFMessage>("/tf", 100);
    spinner_.start();
  }
  ~Ros1Node() override {
    spinner_.stop();
    ::ros::shutdown();
  }

  void listen(const std::string& topic, int number) override {
    const boost::function<void(const std_msgs::Float64ConstPtr&)> hear =
        [this, number](const std_msgs::Float64ConstPtr& message) {
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
  bool ok() const override { return ::ros::ok(); }

  void publish_clock(std::int64_t now_ns) override {
    rosgraph_msgs::Clock message;
    message.clock = to_ros(now_ns);
    clock_.publish(message);
  }
  void publish_bodies(std::int64_t now_ns, const std::vector<Joint>& joints,
                      const std::vector<Frame>& frames) override {
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
      transform.transform.translation = to_ros(frame.position);
      transform.transform.rotation.x = frame.rotation_xyzw[0];
      transform.transform.rotation.y = frame.rotation_xyzw[1];
      transform.transform.rotation.z = frame.rotation_xyzw[2];
      transform.transform.rotation.w = frame.rotation_xyzw[3];
      message.transforms.push_back(transform);
    }
    frames_.publish(message);
  }

  int advertise(const std::string& topic, Shape shape, const std::string& frame) override {
    ::ros::Publisher publisher;
    switch (shape) {
      case Shape::number: publisher = node_.advertise<std_msgs::Float64>(topic, 10); break;
      case Shape::vector: publisher = node_.advertise<geometry_msgs::Vector3Stamped>(topic, 10); break;
      case Shape::scan: publisher = node_.advertise<sensor_msgs::LaserScan>(topic, 10); break;
      case Shape::imu: publisher = node_.advertise<sensor_msgs::Imu>(topic, 10); break;
      case Shape::text: publisher = node_.advertise<std_msgs::String>(topic, 10); break;
      case Shape::cloud: publisher = node_.advertise<sensor_msgs::PointCloud2>(topic, 2); break;
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
  void publish_vector(int topic, std::int64_t now_ns, const Vector& vector) override {
    geometry_msgs::Vector3Stamped message;
    message.header = header(topic, now_ns);
    message.vector = to_ros(vector);
    at(topic).publisher.publish(message);
  }
  void publish_scan(int topic, std::int64_t now_ns, const Scan& scan) override {
    sensor_msgs::LaserScan message;
    message.header = header(topic, now_ns);
    message.angle_min = scan.angle_min;
    message.angle_max = scan.angle_max;
    message.angle_increment = scan.angle_increment;
    message.range_min = scan.range_min;
    message.range_max = scan.range_max;
    message.ranges = scan.ranges;
    at(topic).publisher.publish(message);
  }
  void publish_imu(int topic, std::int64_t now_ns, const Vector& angular_velocity,
                   const Vector& linear_acceleration) override {
    sensor_msgs::Imu message;
    message.header = header(topic, now_ns);
    message.orientation.w = 1;
    message.orientation_covariance[0] = -1;  // by the message's definition: no orientation
    message.angular_velocity = to_ros(angular_velocity);
    message.linear_acceleration = to_ros(linear_acceleration);
    at(topic).publisher.publish(message);
  }
  void publish_text(int topic, const std::string& text) override {
    std_msgs::String message;
    message.data = text;
    at(topic).publisher.publish(message);
  }
  void publish_cloud(int topic, std::int64_t now_ns, const std::vector<ColoredPoint>& points) override {
    sensor_msgs::PointCloud2 message;
    message.header = header(topic, now_ns);
    message.height = 1;
    message.width = static_cast<std::uint32_t>(points.size());
    for (const PointFieldInfo& info : point_fields) {
      sensor_msgs::PointField field;
      field.name = info.name;
      field.offset = info.offset;
      field.datatype = point_field_type;
      field.count = 1;
      message.fields.push_back(field);
    }
    message.is_bigendian = 0;
    message.point_step = sizeof(ColoredPoint);
    message.row_step = message.point_step * message.width;
    message.data.resize(points.size() * sizeof(ColoredPoint));
    if (!points.empty()) std::memcpy(message.data.data(), points.data(), message.data.size());
    message.is_dense = 1;
    at(topic).publisher.publish(message);
  }

 private:
  struct Topic {
    ::ros::Publisher publisher;
    std::string frame;
  };
  std_msgs::Header header(int topic, std::int64_t now_ns) const {
    std_msgs::Header header;
    header.stamp = to_ros(now_ns);
    header.frame_id = at(topic).frame;
    return header;
  }
  const Topic& at(int topic) const { return topics_[topic]; }

  ::ros::NodeHandle node_;
  ::ros::Publisher clock_, joints_, frames_;
  std::vector<::ros::Subscriber> listeners_;
  std::vector<Topic> topics_;
  std::mutex mutex_;
  std::vector<Heard> heard_;
  ::ros::AsyncSpinner spinner_{1};
};

}  // namespace

std::unique_ptr<Node> start_ros1_node(const std::string& name, std::string& why) {
  const ::ros::M_string no_remappings;
  ::ros::init(no_remappings, name, ::ros::init_options::NoSigintHandler | ::ros::init_options::NoRosout);
  if (!::ros::master::check()) {
    why = "no ROS master answers at " + ::ros::master::getURI();
    return nullptr;
  }
  return std::make_unique<Ros1Node>();
}

}  // namespace volvox::ros
