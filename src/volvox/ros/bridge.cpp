// Messages that the node receives wait until the boundary of the next tick and enter there as inputs.
#include "volvox/ros/bridge.h"

#include <volvox/base/index.h>
#include <volvox/base/letters.h>
#include <volvox/mind/range_sensors.h>
#include <volvox/sim/matter_cloud.h>

#include <algorithm>

namespace volvox::ros {
namespace {

// Names of topics hold letters, digits, '_' and '/' only.
std::string topic_name(std::string name) {
  for (char& c : name)
    if (!is_letter_or_digit(c)) c = '_';
  return name;
}

Node::Vector plain(const Vec3& v) { return {v.x, v.y, v.z}; }

class Bridge final : public mind::Extension {
 public:
  Bridge(const sim::ExtensionSetup& setup, StartNode start)
      : replay_(setup.replay), rate_(setup.parameters.number("rate", 50, 0.01, 1e4)), start_(std::move(start)) {}

  Result<void> init() override {
    if (replay_) return {};
    auto started = start_();
    if (!started.ok()) return started.error();
    node_ = std::move(*started);
    return {};
  }

  void begin(const sim::Simulation& simulation) override {
    for (std::size_t i = 0; i < simulation.minds().size(); ++i) {
      const mind::Agent& agent = simulation.minds().agent(i);
      const model::ModuleModel& model = simulation.world().module_model(agent.placement());
      const std::string place = "/" + topic_name(agent.name()) + "/";
      for (const model::Joint& joint : model.joints)
        if (joint.motor)
          listen(place + topic_name(joint.name) + "/command", [module = agent.name(), name = joint.name](double value) {
            return sim::JointInput{module, name, value};
          });
      for (const model::Sensor& sensor : model.sensors) {
        if (sensor.type == "external")
          listen(place + topic_name(sensor.name), [module = agent.name(), name = sensor.name](double value) {
            return sim::PerceptInput{module, name, value};
          });
        else advertise(place, i, simulation, sensor);
      }
      advertise_imu(place, i, simulation);
    }
    if (const world::Matter* matter = simulation.world().matter()) {
      cloud_ = std::make_unique<sim::MatterCloud>(*matter);
      cloud_topic_ = node_->advertise("/particles", Node::Shape::cloud, "world");
    }
  }

  void before_tick(sim::Simulation& simulation) override {
    for (const Node::Heard& heard : node_->take_heard()) simulation.give(commands_[heard.number](heard.value));
  }

  void after_tick(const sim::Simulation& simulation) override {
    if (!node_->ok()) throw std::runtime_error("the ROS node was shut down from outside");
    node_->publish_clock(simulation.now().ns);
    if (simulation.now().seconds() + 1e-9 < next_) return;
    next_ = simulation.now().seconds() + 1 / rate_;
    publish_bodies(simulation);
    for (const SensorTopic& topic : sensors_)
      if (node_->is_heard(topic.number)) publish(topic, simulation);
    if (cloud_ != nullptr && node_->is_heard(cloud_topic_)) publish_particles(simulation.now().ns);
  }

  void shutdown() override { node_.reset(); }

 private:
  struct SensorTopic {
    int number = 0;
    Node::Shape shape{};
    std::size_t agent = 0, percept = 0;
    std::size_t turning = 0;  // of an IMU: the index of the gyroscope's percept
    mind::ScanGeometry scan;
  };
  struct Mount {  // the frame of a sensor whose axes differ from its link's
    std::string frame;
    world::LinkIndex link;
    Pose pose;
  };

  using Command = std::function<sim::Input(double)>;
  void listen(const std::string& topic, Command command) {
    node_->listen(topic, narrow<int>(commands_.size()));
    commands_.push_back(std::move(command));
  }

  static std::optional<std::size_t> percept_of(const mind::Agent& agent, const std::string& sensor) {
    const auto found = std::find(agent.percepts().begin(), agent.percepts().end(), sensor);
    if (found == agent.percepts().end()) return std::nullopt;
    return found - agent.percepts().begin();
  }

  // The frame of the sensor's measurements.
  std::string frame_of(const mind::Agent& agent, const model::Sensor& sensor, const world::World& world) {
    const world::PlacementIndex placement = agent.placement();
    if (sensor.pose == Pose{}) return agent.name() + "/" + world.module_model(placement).links[sensor.link].name;
    std::string frame = agent.name() + "/" + sensor.name;
    if (std::none_of(mounts_.begin(), mounts_.end(), [&](const Mount& mount) { return mount.frame == frame; }))
      mounts_.push_back({frame, world.part(placement).first_link + sensor.link, sensor.pose});
    return frame;
  }

  void advertise(const std::string& place, std::size_t index, const sim::Simulation& simulation,
                 const model::Sensor& sensor) {
    const mind::Agent& agent = simulation.minds().agent(index);
    const auto percept = percept_of(agent, sensor.name);
    if (!percept) return;
    SensorTopic topic{0, Node::Shape::text, index, *percept, 0, {}};
    const Value& value = agent.percept_value(*percept);
    const auto scan = mind::scan_geometry(sensor);
    // A LaserScan is one row.
    if (scan && scan->rows == 1 && value.get<std::vector<double>>() != nullptr)
      topic.shape = Node::Shape::scan, topic.scan = *scan;
    else if (value.get<double>() != nullptr) topic.shape = Node::Shape::number;
    else if (value.get<Vec3>() != nullptr) topic.shape = Node::Shape::vector;
    topic.number =
        node_->advertise(place + topic_name(sensor.name), topic.shape, frame_of(agent, sensor, simulation.world()));
    sensors_.push_back(topic);
  }

  // The first accelerometer and gyroscope with the same mounting form an inertial measurement unit.
  void advertise_imu(const std::string& place, std::size_t index, const sim::Simulation& simulation) {
    const mind::Agent& agent = simulation.minds().agent(index);
    const model::ModuleModel& model = simulation.world().module_model(agent.placement());
    for (const model::Sensor& pulled : model.sensors) {
      for (const model::Sensor& turned : model.sensors) {
        if (pulled.type != "accelerometer" || turned.type != "gyroscope" || pulled.link != turned.link ||
            pulled.pose != turned.pose)
          continue;
        const auto force = percept_of(agent, pulled.name), turning = percept_of(agent, turned.name);
        const bool taken = std::any_of(model.sensors.begin(), model.sensors.end(),
                                       [](const model::Sensor& sensor) { return topic_name(sensor.name) == "imu"; });
        if (!force || !turning || taken) return;
        const int number =
            node_->advertise(place + "imu", Node::Shape::imu, frame_of(agent, pulled, simulation.world()));
        sensors_.push_back({number, Node::Shape::imu, index, *force, *turning, {}});
        return;
      }
    }
  }

  static Node::Frame framed(const std::string& name, const Pose& pose) {
    const Quat& q = pose.rotation;
    return {name, plain(pose.position), {q.x, q.y, q.z, q.w}};
  }

  void publish_bodies(const sim::Simulation& simulation) {
    const world::World& world = simulation.world();
    std::vector<Node::Joint> joints;
    std::vector<Node::Frame> frames;
    for (const world::PlacementIndex placement : world.modules()) {
      const model::ModuleModel& model = world.module_model(placement);
      for (std::uint32_t j = 0; j < model.joints.size(); ++j) {
        if (model.joints[j].type != model::JointType::revolute && model.joints[j].type != model::JointType::prismatic)
          continue;
        const physics::JointState state = world.joint_state(world.part(placement).first_joint + j);
        joints.push_back(
            {world.name(placement) + "/" + model.joints[j].name, state.position, state.velocity, state.torque});
      }
      for (std::uint32_t l = 0; l < model.links.size(); ++l)
        frames.push_back(framed(world.name(placement) + "/" + model.links[l].name,
                                world.link_pose(world.part(placement).first_link + l)));
    }
    for (const Mount& mount : mounts_) frames.push_back(framed(mount.frame, world.link_pose(mount.link) * mount.pose));
    node_->publish_bodies(simulation.now().ns, joints, frames);
  }

  void publish(const SensorTopic& topic, const sim::Simulation& simulation) {
    const mind::Agent& agent = simulation.minds().agent(topic.agent);
    const Value& value = agent.percept_value(topic.percept);
    const std::int64_t now = simulation.now().ns;
    switch (topic.shape) {
      case Node::Shape::number: return node_->publish_number(topic.number, *value.get<double>());
      case Node::Shape::vector: return node_->publish_vector(topic.number, now, plain(*value.get<Vec3>()));
      case Node::Shape::scan:
        return node_->publish_scan(topic.number, now, scanned(topic.scan, *value.get<std::vector<double>>()));
      case Node::Shape::imu:
        return node_->publish_imu(topic.number, now, plain(*agent.percept_value(topic.turning).get<Vec3>()),
                                  plain(*value.get<Vec3>()));
      case Node::Shape::text: return node_->publish_text(topic.number, value.describe());
      case Node::Shape::cloud: break;  // of no sensor
    }
  }

  // Water, grains and cloth, without those that are not there yet or any more.
  void publish_particles(std::int64_t now_ns) {
    cloud_->cloud_items(items_);
    points_.clear();
    for (const sim::CloudItem& item : items_) {
      if (item.shown == sim::CloudItem::gone) continue;
      const auto& [red, green, blue] = item.color;
      const std::uint32_t rgb = std::uint32_t{red} << 16 | std::uint32_t{green} << 8 | blue;
      points_.push_back({item.position[0], item.position[1], item.position[2], rgb});
    }
    node_->publish_cloud(cloud_topic_, now_ns, points_);
  }

  static Node::Scan scanned(const mind::ScanGeometry& geometry, const std::vector<double>& distances) {
    const float half = to_float(geometry.field_of_view / 2);
    Node::Scan scan{-half, half, 0, to_float(geometry.min_range), to_float(geometry.max_range), {}};
    if (distances.size() > 1) scan.angle_increment = 2 * half / to_float(real(distances.size() - 1));
    else scan.angle_min = scan.angle_max = 0;
    for (const double distance : distances) scan.ranges.push_back(to_float(distance));
    return scan;
  }

  bool replay_;
  double rate_, next_ = 0;  // Hz, and s of simulated time
  StartNode start_;
  std::unique_ptr<Node> node_;
  std::vector<Command> commands_;  // by the number of the subscription
  std::vector<SensorTopic> sensors_;
  std::vector<Mount> mounts_;
  std::unique_ptr<sim::MatterCloud> cloud_;  // null: the world has no particles
  int cloud_topic_ = 0;
  std::vector<sim::CloudItem> items_;
  std::vector<Node::ColoredPoint> points_;
};

}  // namespace

std::unique_ptr<mind::Extension> make_bridge(const sim::ExtensionSetup& setup, StartNode start) {
  return std::make_unique<Bridge>(setup, std::move(start));
}

}  // namespace volvox::ros
