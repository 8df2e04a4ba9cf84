#include "volvox/ros/ros2_node.h"

#include <dds/dds.h>
#include <fmt/format.h>
#include <volvox/base/index.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <stdexcept>

#include "ros2_messages.h"

namespace volvox::ros {
namespace {

using Time = builtin_interfaces_msg_dds__Time_;
using Header = std_msgs_msg_dds__Header_;
using Float64 = std_msgs_msg_dds__Float64_;
using Transform = geometry_msgs_msg_dds__TransformStamped_;

// ROS 2 calls the topic "/arm/range" "rt/arm/range" in DDS.
std::string wire_topic(const std::string& topic) { return "rt" + topic; }

Time to_ros(std::int64_t ns) {
  return {narrow<std::int32_t>(ns / 1'000'000'000), narrow<std::uint32_t>(ns % 1'000'000'000)};
}
geometry_msgs_msg_dds__Vector3_ to_ros(const Node::Vector& v) { return {v.x, v.y, v.z}; }
// DDS only reads what it writes, but its C structs have no const.
char* to_ros(const std::string& text) { return const_cast<char*>(text.c_str()); }
template <class Sequence, class T>
Sequence sequence_of(const std::vector<T>& elements) {
  const auto length = narrow<std::uint32_t>(elements.size());
  return {length, length, const_cast<T*>(elements.data()), false};
}

// The default quality of service of ROS 2: reliable, volatile, keep last, plain CDR. Readers that ask for less (best
// effort, as for /clock and sensors) match it, too. The run never waits: slow readers lose messages.
class Quality {
 public:
  explicit Quality(int depth) {
    dds_qset_reliability(qos_, DDS_RELIABILITY_RELIABLE, 0);
    dds_qset_durability(qos_, DDS_DURABILITY_VOLATILE);
    dds_qset_history(qos_, DDS_HISTORY_KEEP_LAST, depth);
    dds_qset_writer_data_lifecycle(qos_, false);
    const dds_data_representation_id_t plain[] = {DDS_DATA_REPRESENTATION_XCDR1};
    dds_qset_data_representation(qos_, 1, plain);
  }
  ~Quality() { dds_delete_qos(qos_); }
  Quality(const Quality&) = delete;
  Quality& operator=(const Quality&) = delete;
  dds_qos_t* get() const { return qos_; }

 private:
  dds_qos_t* qos_ = dds_create_qos();
};

dds_entity_t required(dds_entity_t made, const std::string& what) {
  if (made < 0) throw std::runtime_error(fmt::format("DDS makes no {}: {}", what, dds_strretcode(made)));
  return made;
}

class Ros2Node final : public Node {
 public:
  explicit Ros2Node(dds_entity_t domain, dds_entity_t participant) : domain_(domain), participant_(participant) {
    clock_ = writer("/clock", rosgraph_msgs_msg_dds__Clock__desc);
    joints_ = writer("/joint_states", sensor_msgs_msg_dds__JointState__desc);
    frames_ = writer("/tf", tf2_msgs_msg_dds__TFMessage__desc);
  }
  ~Ros2Node() override {
    dds_delete(participant_);
    if (domain_ > 0) dds_delete(domain_);
  }

  void listen(const std::string& topic, int number) override {
    const dds_entity_t made = topic_entity(topic, std_msgs_msg_dds__Float64__desc);
    const Quality quality(deep);
    listeners_.push_back(
        {required(dds_create_reader(participant_, made, quality.get(), nullptr), "reader of " + topic), number});
  }
  std::vector<Heard> take_heard() override {
    std::vector<Heard> heard;
    for (const Listener& listener : listeners_) {
      while (heard.size() < most_heard) {
        Float64 message{};
        void* room = &message;
        dds_sample_info_t about;
        if (dds_take(listener.reader, &room, &about, 1, 1) != 1) break;
        if (about.valid_data) heard.push_back({listener.number, message.data});
      }
    }
    return heard;
  }
  bool ok() const override { return true; }

  void publish_clock(std::int64_t now_ns) override {
    const rosgraph_msgs_msg_dds__Clock_ message{to_ros(now_ns)};
    dds_write(clock_, &message);
  }
  void publish_bodies(std::int64_t now_ns, const std::vector<Joint>& joints,
                      const std::vector<Frame>& frames) override {
    std::vector<char*> names;
    std::vector<double> positions, velocities, efforts;
    for (const Joint& joint : joints) {
      names.push_back(to_ros(joint.name));
      positions.push_back(joint.position);
      velocities.push_back(joint.velocity);
      efforts.push_back(joint.effort);
    }
    const std::string none, world = "world";
    const sensor_msgs_msg_dds__JointState_ states{{to_ros(now_ns), to_ros(none)},
                                                  sequence_of<dds_sequence_string>(names),
                                                  sequence_of<dds_sequence_double>(positions),
                                                  sequence_of<dds_sequence_double>(velocities),
                                                  sequence_of<dds_sequence_double>(efforts)};
    dds_write(joints_, &states);
    std::vector<Transform> transforms;
    for (const Frame& frame : frames) {
      const double* q = frame.rotation_xyzw;
      transforms.push_back(
          {{to_ros(now_ns), to_ros(world)}, to_ros(frame.name), {to_ros(frame.position), {q[0], q[1], q[2], q[3]}}});
    }
    const tf2_msgs_msg_dds__TFMessage_ message{
        sequence_of<dds_sequence_geometry_msgs_msg_dds__TransformStamped_>(transforms)};
    dds_write(frames_, &message);
  }

  int advertise(const std::string& topic, Shape shape, const std::string& frame) override {
    const dds_topic_descriptor_t* type = &std_msgs_msg_dds__String__desc;
    switch (shape) {
      case Shape::number: type = &std_msgs_msg_dds__Float64__desc; break;
      case Shape::vector: type = &geometry_msgs_msg_dds__Vector3Stamped__desc; break;
      case Shape::scan: type = &sensor_msgs_msg_dds__LaserScan__desc; break;
      case Shape::imu: type = &sensor_msgs_msg_dds__Imu__desc; break;
      case Shape::cloud: type = &sensor_msgs_msg_dds__PointCloud2__desc; break;
      case Shape::text: break;
    }
    topics_.push_back({writer(topic, *type), frame});
    return narrow<int>(topics_.size()) - 1;
  }
  bool is_heard(int topic) const override {
    dds_publication_matched_status_t matched;
    return dds_get_publication_matched_status(at(topic).writer, &matched) == DDS_RETCODE_OK &&
           matched.current_count > 0;
  }
  void publish_number(int topic, double value) override {
    const Float64 message{value};
    dds_write(at(topic).writer, &message);
  }
  void publish_vector(int topic, std::int64_t now_ns, const Vector& vector) override {
    const geometry_msgs_msg_dds__Vector3Stamped_ message{header(topic, now_ns), to_ros(vector)};
    dds_write(at(topic).writer, &message);
  }
  void publish_scan(int topic, std::int64_t now_ns, const Scan& scan) override {
    const sensor_msgs_msg_dds__LaserScan_ message{header(topic, now_ns),
                                                  scan.angle_min,
                                                  scan.angle_max,
                                                  scan.angle_increment,
                                                  0,
                                                  0,
                                                  scan.range_min,
                                                  scan.range_max,
                                                  sequence_of<dds_sequence_float>(scan.ranges),
                                                  {}};
    dds_write(at(topic).writer, &message);
  }
  void publish_imu(int topic, std::int64_t now_ns, const Vector& angular_velocity,
                   const Vector& linear_acceleration) override {
    sensor_msgs_msg_dds__Imu_ message{};
    message.header = header(topic, now_ns);
    message.orientation.w = 1;
    message.orientation_covariance[0] = -1;  // by the message's definition: no orientation
    message.angular_velocity = to_ros(angular_velocity);
    message.linear_acceleration = to_ros(linear_acceleration);
    dds_write(at(topic).writer, &message);
  }
  void publish_text(int topic, const std::string& text) override {
    const std_msgs_msg_dds__String_ message{to_ros(text)};
    dds_write(at(topic).writer, &message);
  }
  void publish_cloud(int topic, std::int64_t now_ns, const std::vector<ColoredPoint>& points) override {
    std::vector<sensor_msgs_msg_dds__PointField_> fields;
    for (const PointFieldInfo& info : point_fields)
      fields.push_back({const_cast<char*>(info.name), info.offset, point_field_type, 1});
    const auto width = narrow<std::uint32_t>(points.size());
    const auto bytes = narrow<std::uint32_t>(points.size() * sizeof(ColoredPoint));
    sensor_msgs_msg_dds__PointCloud2_ message{};
    message.header = header(topic, now_ns);
    message.height = 1, message.width = width;
    message.fields = sequence_of<dds_sequence_sensor_msgs_msg_dds__PointField_>(fields);
    message.is_bigendian = false;
    message.point_step = sizeof(ColoredPoint), message.row_step = bytes;
    // DDS only reads it.
    message.data = {bytes, bytes, reinterpret_cast<std::uint8_t*>(const_cast<ColoredPoint*>(points.data())), false};
    message.is_dense = true;
    dds_write(at(topic).writer, &message);
  }

 private:
  static constexpr int deep = 10;  // messages kept for slow readers
  struct Topic {
    dds_entity_t writer;
    std::string frame;
  };
  struct Listener {
    dds_entity_t reader;
    int number;
  };

  dds_entity_t topic_entity(const std::string& topic, const dds_topic_descriptor_t& type) {
    return required(dds_create_topic(participant_, &type, wire_topic(topic).c_str(), nullptr, nullptr),
                    "topic " + topic);
  }
  dds_entity_t writer(const std::string& topic, const dds_topic_descriptor_t& type) {
    const Quality quality(deep);
    return required(dds_create_writer(participant_, topic_entity(topic, type), quality.get(), nullptr),
                    "writer of " + topic);
  }
  const Topic& at(int topic) const { return topics_[topic]; }
  Header header(int topic, std::int64_t now_ns) const { return {to_ros(now_ns), to_ros(at(topic).frame)}; }

  dds_entity_t domain_, participant_;  // no domain: CYCLONEDDS_URI has made it
  dds_entity_t clock_ = 0, joints_ = 0, frames_ = 0;
  std::vector<Listener> listeners_;
  std::vector<Topic> topics_;
};

// The loopback interface often has no multicast, so participants there are found by unicast: each uses one of the first
// ports, and all these ports are listed as peers.
std::string configuration(const std::string& interface) {
  const bool loopback = interface == "lo" || interface.rfind("127.", 0) == 0;
  const bool address = !interface.empty() && std::isdigit(static_cast<unsigned char>(interface.front())) != 0;
  const std::string chosen =
      interface == "any" ? "autodetermine=\"true\"" : fmt::format("{}=\"{}\"", address ? "address" : "name", interface);
  const std::string discovery =
      loopback
          ? "<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>"
            "<Peers><Peer address=\"127.0.0.1\"/></Peers></Discovery>"
          : "";
  return fmt::format(
      "<CycloneDDS><Domain id=\"any\"><General><Interfaces><NetworkInterface "
      "{}/></Interfaces>{}</General>{}</Domain></CycloneDDS>",
      chosen, loopback ? "<AllowMulticast>false</AllowMulticast>" : "", discovery);
}

}  // namespace

Result<std::unique_ptr<Node>> start_ros2_node(const Ros2Setup& setup) {
  if (setup.domain < 0 || setup.domain > 232)
    return Error("ROS_DOMAIN_ID is not a number from 0 to 232", "correct it, or give <domain> in the plugin");
  if (setup.interface.empty() || !std::all_of(setup.interface.begin(), setup.interface.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '.' || c == ':' || c == '_' || c == '-';
      }))
    return Error(fmt::format("'{}' is not the name or the address of a network interface", setup.interface),
                 "write lo, 127.0.0.1, eth0 or any");
  const auto failed = [&](dds_entity_t code) {
    return Error(
        fmt::format("DDS does not start in domain {} on '{}': {}", setup.domain, setup.interface, dds_strretcode(code)),
        "correct <domain> and <interface> of the plugin, or CYCLONEDDS_URI if it is set");
  };
  dds_entity_t domain = 0;
  if (std::getenv("CYCLONEDDS_URI") == nullptr) {
    domain = dds_create_domain(setup.domain, configuration(setup.interface).c_str());
    if (domain < 0) return failed(domain);
  }
  dds_qos_t* named = dds_create_qos();
  dds_qset_entity_name(named, setup.name.c_str());
  const dds_entity_t participant = dds_create_participant(setup.domain, named, nullptr);
  dds_delete_qos(named);
  if (participant < 0) {
    if (domain > 0) dds_delete(domain);
    return failed(participant);
  }
  return std::unique_ptr<Node>(std::make_unique<Ros2Node>(domain, participant));
}

}  // namespace volvox::ros
