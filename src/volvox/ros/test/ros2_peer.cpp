// Another process on the wire, as a node of ROS 2 would be: it looks at what the run offers, reads
// it, commands a joint, and waits until the joint is there. ros2_peer DOMAIN; says what is not so.
#include <dds/dds.h>
#include <dds/ddsi/ddsi_serdata.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ros2_messages.h"

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what) {
  fmt::print(stderr, "not so: {}\n", what);
  std::exit(1);
}
void expect(bool condition, const std::string& what) {
  if (!condition) fail(what);
}
dds_entity_t made(dds_entity_t entity, const std::string& what) {
  if (entity < 0) fail(fmt::format("{} is made ({})", what, dds_strretcode(entity)));
  return entity;
}

// Calls until it is true.
template <class Call>
void wait_for(const std::string& what, Call&& call) {
  for (const auto end = Clock::now() + std::chrono::seconds(40); Clock::now() < end;
       std::this_thread::sleep_for(std::chrono::milliseconds(10)))
    if (call()) return;
  fail(what);
}

// The default of ROS 2's nodes, and that of its readers of sensors and clocks.
dds_qos_t* quality(bool reliable) {
  dds_qos_t* qos = dds_create_qos();
  dds_qset_reliability(qos, reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, DDS_MSECS(100));
  dds_qset_durability(qos, DDS_DURABILITY_VOLATILE);
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 10);
  const dds_data_representation_id_t plain[] = {DDS_DATA_REPRESENTATION_XCDR1};
  dds_qset_data_representation(qos, 1, plain);
  return qos;
}

dds_entity_t reader_of(dds_entity_t participant, const char* topic, const dds_topic_descriptor_t& type, bool reliable) {
  const dds_entity_t known = made(dds_create_topic(participant, &type, topic, nullptr, nullptr), topic);
  return made(dds_create_reader(participant, known, quality(reliable), nullptr), topic);
}

// The newest message, looked at where it lies.
template <class Message, class Look>
bool with_newest(dds_entity_t reader, Look&& look) {
  void* loan[1] = {nullptr};
  dds_sample_info_t about[1];
  bool good = false;
  while (dds_take(reader, loan, about, 1, 1) == 1) {
    if (about[0].valid_data) good = look(*static_cast<const Message*>(loan[0]));
    dds_return_loan(reader, loan, 1);
    loan[0] = nullptr;
  }
  return good;
}

// Plain CDR taken apart by hand: what a reader without our IDL would find.
class Bytes {
 public:
  explicit Bytes(std::span<const unsigned char> bytes) : bytes_(bytes) {}
  template <class T>
  T take() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    expect(at_ + sizeof(T) <= bytes_.size(), "the message is as long as its fields");
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  std::string text() {
    const auto length = take<std::uint32_t>();
    expect(length > 0 && at_ + length <= bytes_.size(), "a text ends within the message");
    std::string value(reinterpret_cast<const char*>(bytes_.data() + at_), length - 1);
    at_ += length;
    return value;
  }
  std::size_t left() const { return bytes_.size() - at_; }

 private:
  std::span<const unsigned char> bytes_;
  std::size_t at_ = 0;
};

// The next message as it is sent; empty: there is none.
std::vector<unsigned char> take_bytes(dds_entity_t reader) {
  ddsi_serdata* data[1] = {nullptr};
  dds_sample_info_t about[1];
  if (dds_takecdr(reader, data, 1, about, DDS_ANY_STATE) != 1) return {};
  std::vector<unsigned char> bytes(about[0].valid_data ? ddsi_serdata_size(data[0]) : 0);
  if (!bytes.empty()) ddsi_serdata_to_ser(data[0], 0, bytes.size(), bytes.data());
  ddsi_serdata_unref(data[0]);
  return bytes;
}

void check_bytes_of_joint_states(dds_entity_t reader) {
  wait_for("joint states arrive as bytes", [&] {
    const std::vector<unsigned char> bytes = take_bytes(reader);
    if (bytes.empty()) return false;
    expect(bytes.size() > 4 && bytes[0] == 0 && bytes[1] == 1, "it is plain CDR, little endian");
    Bytes message(std::span<const unsigned char>(bytes).subspan(4));
    expect(message.take<std::int32_t>() >= 0 && message.take<std::uint32_t>() < 1'000'000'000, "a stamp is first");
    expect(message.text().empty(), "the frame of joint states is empty");
    expect(message.take<std::uint32_t>() == 1 && message.text() == "arm/neck", "one joint is named");
    for (int field = 0; field < 3; ++field) {
      expect(message.take<std::uint32_t>() == 1, "one number a joint");
      expect(std::fabs(message.take<double>()) < 0.1, "the joint is at rest");
    }
    expect(message.left() < 4, "nothing is left over but padding");
    return true;
  });
}

// What is offered, as discovery tells it.
void check_offers(dds_entity_t participant) {
  const std::map<std::string, std::string> wanted = {{"rt/clock", "rosgraph_msgs::msg::dds_::Clock_"},
                                                     {"rt/joint_states", "sensor_msgs::msg::dds_::JointState_"},
                                                     {"rt/tf", "tf2_msgs::msg::dds_::TFMessage_"},
                                                     {"rt/arm/range", "sensor_msgs::msg::dds_::LaserScan_"},
                                                     {"rt/arm/imu", "sensor_msgs::msg::dds_::Imu_"},
                                                     {"rt/arm/gyro", "geometry_msgs::msg::dds_::Vector3Stamped_"},
                                                     {"rt/particles", "sensor_msgs::msg::dds_::PointCloud2_"}};
  const dds_entity_t found = made(dds_create_reader(participant, DDS_BUILTIN_TOPIC_DCPSPUBLICATION, nullptr, nullptr),
                                  "reader of what is offered");
  std::map<std::string, std::string> offered;
  wait_for("all topics are offered", [&] {
    with_newest<dds_builtintopic_endpoint_t>(found, [&](const dds_builtintopic_endpoint_t& endpoint) {
      offered[endpoint.topic_name] = endpoint.type_name;
      dds_reliability_kind_t reliability{};
      dds_durability_kind_t durability{};
      dds_qget_reliability(endpoint.qos, &reliability, nullptr);
      dds_qget_durability(endpoint.qos, &durability);
      expect(reliability == DDS_RELIABILITY_RELIABLE && durability == DDS_DURABILITY_VOLATILE,
             fmt::format("{} is reliable and volatile", endpoint.topic_name));
      return true;
    });
    for (const auto& [topic, type] : wanted) {
      if (!offered.contains(topic)) return false;
      expect(offered[topic] == type, fmt::format("{} is a {}, not a {}", topic, type, offered[topic]));
    }
    return true;
  });
}

// Plain CDR again: red grains on the ground half a metre away, as a viewer of point clouds reads them.
void check_bytes_of_particles(dds_entity_t reader) {
  wait_for("particles arrive as bytes", [&] {
    const std::vector<unsigned char> bytes = take_bytes(reader);
    if (bytes.empty()) return false;
    Bytes message(std::span<const unsigned char>(bytes).subspan(4));
    message.take<std::int32_t>(), message.take<std::uint32_t>();
    expect(message.text() == "world", "particles are in the world's frame");
    expect(message.take<std::uint32_t>() == 1, "a cloud without order has one row");
    const auto width = message.take<std::uint32_t>();
    expect(width >= 20, "there are grains");
    expect(message.take<std::uint32_t>() == 4, "a point has four fields");
    for (const char* name : {"x", "y", "z", "rgb"}) {
      expect(message.text() == name, fmt::format("there is the field {}", name));
      const auto offset = message.take<std::uint32_t>();
      expect(offset < 16 && offset % 4 == 0, "fields lie within a point");
      expect(message.take<std::uint8_t>() == 7 && message.take<std::uint32_t>() == 1, "a field is one float");
    }
    expect(message.take<std::uint8_t>() == 0, "it is little endian");
    expect(message.take<std::uint32_t>() == 16 && message.take<std::uint32_t>() == 16 * width, "points have 16 bytes");
    expect(message.take<std::uint32_t>() == 16 * width, "all points are there");
    for (std::uint32_t i = 0; i < width; ++i) {
      const auto x = message.take<float>(), y = message.take<float>(), z = message.take<float>();
      const auto rgb = message.take<std::uint32_t>();
      expect(std::fabs(x - 0.5f) < 0.3f && std::fabs(y) < 0.3f && z > 0 && z < 0.1f, "grains lie where they were put");
      expect((rgb >> 16 & 0xff) > 150 && (rgb & 0xffff) == 0, "and are red");
    }
    expect(message.take<std::uint8_t>() == 1 && message.left() < 4, "there is nothing but points");
    return true;
  });
}

}  // namespace

int main(int count, char** arguments) {
  const dds_domainid_t domain = count > 1 ? static_cast<dds_domainid_t>(std::atoi(arguments[1])) : 0;
  const dds_entity_t participant = made(dds_create_participant(domain, nullptr, nullptr), "participant");
  check_offers(participant);

  using ClockMessage = rosgraph_msgs_msg_dds__Clock_;
  const dds_entity_t clock = reader_of(participant, "rt/clock", rosgraph_msgs_msg_dds__Clock__desc, false);
  std::int64_t first = -1;
  wait_for("the clock runs", [&] {
    return with_newest<ClockMessage>(clock, [&](const ClockMessage& message) {
      const std::int64_t now = message.clock.sec * 1'000'000'000LL + message.clock.nanosec;
      if (first < 0) first = now;
      return now > first;
    });
  });

  const dds_entity_t joints = reader_of(participant, "rt/joint_states", sensor_msgs_msg_dds__JointState__desc, true);
  check_bytes_of_joint_states(joints);

  const dds_entity_t frames = reader_of(participant, "rt/tf", tf2_msgs_msg_dds__TFMessage__desc, true);
  wait_for("the head's frame is above the world's", [&] {
    return with_newest<tf2_msgs_msg_dds__TFMessage_>(frames, [](const tf2_msgs_msg_dds__TFMessage_& message) {
      for (std::uint32_t i = 0; i < message.transforms._length; ++i) {
        const auto& frame = message.transforms._buffer[i];
        if (std::string(frame.child_frame_id) == "arm/head" && std::string(frame.header.frame_id) == "world")
          return std::fabs(frame.transform.translation.z - 0.13) < 0.01 && std::fabs(frame.transform.rotation.w) > 0.99;
      }
      return false;
    });
  });
  const dds_entity_t scans = reader_of(participant, "rt/arm/range", sensor_msgs_msg_dds__LaserScan__desc, false);
  wait_for("a scan of three free rays", [&] {
    return with_newest<sensor_msgs_msg_dds__LaserScan_>(scans, [](const sensor_msgs_msg_dds__LaserScan_& scan) {
      return scan.ranges._length == 3 && scan.ranges._buffer[0] == 5 && scan.range_max == 5 &&
             scan.angle_min == -0.5f && scan.angle_increment == 0.5f;
    });
  });
  const dds_entity_t imus = reader_of(participant, "rt/arm/imu", sensor_msgs_msg_dds__Imu__desc, false);
  wait_for("the imu feels its weight", [&] {
    return with_newest<sensor_msgs_msg_dds__Imu_>(imus, [](const sensor_msgs_msg_dds__Imu_& imu) {
      return std::fabs(imu.linear_acceleration.z - 9.81) < 0.1 && imu.orientation_covariance[0] == -1 &&
             std::string(imu.header.frame_id) == "arm/head";
    });
  });

  check_bytes_of_particles(reader_of(participant, "rt/particles", sensor_msgs_msg_dds__PointCloud2__desc, false));

  const dds_entity_t command_topic =
      made(dds_create_topic(participant, &std_msgs_msg_dds__Float64__desc, "rt/arm/neck/command", nullptr, nullptr),
           "topic");
  const dds_entity_t commands = made(dds_create_writer(participant, command_topic, quality(true), nullptr), "writer");
  wait_for("the run listens to commands", [&] {
    dds_publication_matched_status_t matched;
    return dds_get_publication_matched_status(commands, &matched) == DDS_RETCODE_OK && matched.current_count > 0;
  });
  const std_msgs_msg_dds__Float64_ command{1.0};
  expect(dds_write(commands, &command) == DDS_RETCODE_OK, "a command is sent");
  wait_for("the command moves the joint to 1 rad", [&] {
    return with_newest<sensor_msgs_msg_dds__JointState_>(joints, [](const sensor_msgs_msg_dds__JointState_& states) {
      return states.position._length == 1 && std::fabs(states.position._buffer[0] - 1) < 0.05;
    });
  });
  dds_delete(participant);
  fmt::print("ROS 2: offers, clock, joints, frames, scan, imu, particles and a command\n");
}
