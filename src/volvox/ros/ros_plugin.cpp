// The ROS 1 extension (seed 003's): publishes the run and takes commands. What its node hears waits
// until the boundary of the next tick and enters there as an input.
#include <volvox/plugin/plugin.h>

#include <algorithm>
#include <cctype>

#include "volvox/ros/ros_node.h"

namespace {

using namespace volvox;

// Names of topics hold letters, digits, '_' and '/' only.
std::string topic_name(std::string name) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

class RosExtension final : public sim::Extension {
 public:
  explicit RosExtension(const sim::ExtensionSetup& setup)
      : replay_(setup.replay), name_(setup.parameters.text("node", "volvox")), rate_(setup.parameters.number("rate", 50, 0.01, 1e4)) {}

  Result<void> init() override {
    if (replay_) return {};
    std::string why;
    node_ = RosNode::start(name_, why);
    if (!node_) return Error(why, "start roscore, and set ROS_MASTER_URI where it is elsewhere");
    return {};
  }

  void begin(const sim::Simulation& simulation) override {
    for (std::size_t i = 0; i < simulation.minds().size(); ++i) {
      const mind::Agent& agent = simulation.minds().agent(i);
      const model::ModuleModel& model = simulation.world().module_model(agent.placement());
      const std::string place = "/" + topic_name(agent.name()) + "/";
      for (const model::Joint& joint : model.joints)
        if (joint.motor) listen(place + topic_name(joint.name) + "/command", {"joint", agent.name(), joint.name, {}, 0, {}});
      for (const model::Sensor& sensor : model.sensors) {
        if (sensor.type == "external") listen(place + topic_name(sensor.name), {"percept", agent.name(), sensor.name, {}, 0, {}});
        else advertise(place + topic_name(sensor.name), i, agent, agent.name() + "/" + model.links[static_cast<std::size_t>(sensor.link)].name, sensor);
      }
    }
  }

  void before_tick(sim::Simulation& simulation) override {
    for (const RosNode::Heard& heard : node_->take_heard()) {
      sim::Input input = commands_[static_cast<std::size_t>(heard.number)];
      input.value = heard.value;
      simulation.give(std::move(input));
    }
  }

  void after_tick(const sim::Simulation& simulation) override {
    if (!node_->ok()) throw std::runtime_error("the ROS node was shut down from outside");
    const std::int64_t now = simulation.now().ns;
    node_->publish_clock(now);
    if (simulation.now().seconds() + 1e-9 < next_) return;
    next_ = simulation.now().seconds() + 1 / rate_;
    publish_bodies(simulation);
    for (const SensorTopic& topic : sensors_)
      if (node_->is_heard(topic.number)) publish(topic, simulation.minds().agent(topic.agent).percept_value(topic.percept), now);
  }

  void shutdown() override { node_.reset(); }

 private:
  struct SensorTopic {
    int number = 0;
    std::size_t agent = 0, percept = 0;
    double field_of_view = 0, max_range = 0;
  };

  void listen(const std::string& topic, sim::Input command) {
    node_->listen(topic, static_cast<int>(commands_.size()));
    commands_.push_back(std::move(command));
  }

  void advertise(const std::string& name, std::size_t index, const mind::Agent& agent, const std::string& frame, const model::Sensor& sensor) {
    const std::vector<std::string>& percepts = agent.percepts();
    const auto found = std::find(percepts.begin(), percepts.end(), sensor.name);
    if (found == percepts.end()) return;
    const Parameters parameters(sensor.parameters, "sensor");
    SensorTopic topic{0, index, static_cast<std::size_t>(found - percepts.begin()), parameters.number("field_of_view", 0), parameters.number("max_range", 100)};
    const Value& value = agent.percept_value(topic.percept);
    const auto shape = value.get<std::vector<double>>() != nullptr ? RosNode::Shape::scan
                       : value.get<double>() != nullptr            ? RosNode::Shape::number
                       : value.get<Vec3>() != nullptr              ? RosNode::Shape::vector
                                                                   : RosNode::Shape::text;
    topic.number = node_->advertise(name, shape, frame);
    sensors_.push_back(topic);
  }

  void publish_bodies(const sim::Simulation& simulation) {
    const world::World& world = simulation.world();
    std::vector<RosNode::Joint> joints;
    std::vector<RosNode::Frame> frames;
    for (const std::uint32_t placement : world.modules()) {
      const model::ModuleModel& model = world.module_model(placement);
      for (std::uint32_t j = 0; j < model.joints.size(); ++j) {
        if (model.joints[j].type != model::JointType::revolute && model.joints[j].type != model::JointType::prismatic) continue;
        const physics::JointState state = world.joint_state(world.part(placement).first_joint + j);
        joints.push_back({world.name(placement) + "/" + model.joints[j].name, state.position, state.velocity, state.torque});
      }
      for (std::uint32_t l = 0; l < model.links.size(); ++l) {
        const auto [p, q] = world.link_pose(world.part(placement).first_link + l);
        frames.push_back({world.name(placement) + "/" + model.links[l].name, {p.x, p.y, p.z}, {q.x, q.y, q.z, q.w}});
      }
    }
    node_->publish_bodies(simulation.now().ns, joints, frames);
  }

  void publish(const SensorTopic& topic, const Value& value, std::int64_t now) {
    if (const auto* distances = value.get<std::vector<double>>()) node_->publish_scan(topic.number, now, topic.field_of_view, topic.max_range, *distances);
    else if (const auto* number = value.get<double>()) node_->publish_number(topic.number, *number);
    else if (const auto* v = value.get<Vec3>()) node_->publish_vector(topic.number, now, v->x, v->y, v->z);
    else node_->publish_text(topic.number, value.describe());
  }

  bool replay_;
  std::string name_;
  double rate_, next_ = 0;  // Hz, and s of simulated time
  std::unique_ptr<RosNode> node_;
  std::vector<sim::Input> commands_;  // by the number under which they are heard
  std::vector<SensorTopic> sensors_;
};

}  // namespace

VOLVOX_PLUGIN("ros", "ROS 1: /clock, /joint_states, /tf, sensors and commands") {
  plugin.extensions.add("ros", [](const sim::ExtensionSetup& setup) { return std::make_unique<RosExtension>(setup); }, "a ROS 1 node: node, rate");
}
