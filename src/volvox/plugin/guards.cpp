#include "volvox/plugin/guards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/physics/joint_friction.h"

namespace volvox::plugin {
namespace {

bool all_finite(const Value& value) {
  bool good = true;
  const_cast<Value&>(value).each_number([&](double& x) { good = good && std::isfinite(x); });
  return good;
}

template <class T>
std::unique_ptr<T> required(std::unique_ptr<T> made, const Guard& guard) {
  if (made == nullptr) throw PluginError(guard.plugin + " made nothing");
  return made;
}

// In all of these classes the guard, which owns the library, is declared before the object of the library, and so
// outlives it.

class GuardedBehavior final : public mind::Behavior {
 public:
  GuardedBehavior(Guard guard, std::unique_ptr<mind::Behavior> inner)
      : guard_(std::move(guard)), inner_(std::move(inner)) {}

  void start(mind::Agent& agent) override {
    run(agent, [&] { inner_->start(agent); });
  }
  void step(mind::Agent& agent) override {
    run(agent, [&] { inner_->step(agent); });
  }
  bool receive(mind::Agent& agent, const mind::Message& message) override {
    bool taken = false;
    run(agent, [&] { taken = inner_->receive(agent, message); });
    return taken;
  }
  void sent(mind::Agent& agent, const mind::SendReport& report) override {
    run(agent, [&] { inner_->sent(agent, report); });
  }
  void end_tick(mind::Agent& agent) override {
    run(agent, [&] { inner_->end_tick(agent); });
  }
  void tune(mind::Agent& agent) override {
    run(agent, [&] { inner_->tune(agent); });
  }
  OnBoard on_board() const override {
    return guard_.watched([&] { return inner_->on_board(); });
  }
  void control(mind::Agent& agent, double step) override {
    run(agent, [&] { inner_->control(agent, step); });
  }
  double period() const override {
    return guard_.watched([&] { return inner_->period(); });
  }
  bool omniscient() const override {
    return guard_.watched([&] { return inner_->omniscient(); });
  }
  bool lists_state() const override { return inner_->lists_state(); }
  void archive_state(Archive& ar) override { inner_->archive_state(ar); }

 private:
  template <class Call>
  void run(const mind::Agent& agent, Call&& call) {
    guard_.watched([&] { call(); });
    for (std::size_t i = 0; i < agent.actions().size(); ++i)
      if (agent.action_was_set(i) && !all_finite(agent.action_value(i)))
        throw PluginError(fmt::format("{} commanded a value that is not a number for the action '{}'", guard_.plugin,
                                      agent.actions()[i]));
  }

  Guard guard_;
  std::unique_ptr<mind::Behavior> inner_;
};

class GuardedSensor final : public mind::Sensor {
 public:
  GuardedSensor(Guard guard, std::unique_ptr<mind::Sensor> inner, std::string name)
      : guard_(std::move(guard)), inner_(std::move(inner)), name_(std::move(name)) {}

  const TypeInfo& type() const override { return inner_->type(); }
  bool casts_rays() const override { return inner_->casts_rays(); }
  void rays(const mind::SenseContext& context, std::vector<mind::Ray>& rays) const override {
    guard_.watched([&] { inner_->rays(context, rays); });
  }
  bool needs_contacts() const override { return inner_->needs_contacts(); }
  double neighbor_range() const override { return inner_->neighbor_range(); }
  void read(const mind::SenseContext& context, Value& reading) const override {
    guard_.watched([&] { inner_->read(context, reading); });
    if (!all_finite(reading))
      throw PluginError(fmt::format("{}: its sensor '{}' read a value that is not a number", guard_.plugin, name_));
  }

 private:
  Guard guard_;
  std::unique_ptr<mind::Sensor> inner_;
  std::string name_;
};

class GuardedActuator final : public mind::Actuator {
 public:
  GuardedActuator(Guard guard, std::unique_ptr<mind::Actuator> inner)
      : guard_(std::move(guard)), inner_(std::move(inner)) {}
  bool on_board() const override { return inner_->on_board(); }
  bool always() const override { return inner_->always(); }
  const TypeInfo& type() const override { return inner_->type(); }
  void apply(const mind::ActContext& context, const Value& command) const override {
    guard_.watched([&] { inner_->apply(context, command); });
  }

 private:
  Guard guard_;
  std::unique_ptr<mind::Actuator> inner_;
};

class GuardedNoise final : public mind::Noise {
 public:
  GuardedNoise(Guard guard, std::unique_ptr<mind::Noise> inner, std::string name)
      : guard_(std::move(guard)), inner_(std::move(inner)), name_(std::move(name)) {}
  bool acts_on_values() const override { return inner_->acts_on_values(); }
  bool acts_on_messages() const override { return inner_->acts_on_messages(); }
  void apply(Value& value, RandomStream& random) override {
    guard_.watched([&] { inner_->apply(value, random); });
    if (!all_finite(value))
      throw PluginError(fmt::format("{}: its noise '{}' made a value that is not a number", guard_.plugin, name_));
  }
  void apply(Payload& payload, mind::MessageFate& fate, RandomStream& random) override {
    guard_.watched([&] { inner_->apply(payload, fate, random); });
  }
  bool lists_state() const override { return inner_->lists_state(); }
  void archive_state(Archive& ar) override { inner_->archive_state(ar); }

 private:
  Guard guard_;
  std::unique_ptr<mind::Noise> inner_;
  std::string name_;
};

class GuardedPropagation final : public net::Propagation {
 public:
  GuardedPropagation(Guard guard, std::unique_ptr<net::Propagation> inner, std::string name)
      : guard_(std::move(guard)), inner_(std::move(inner)), name_(std::move(name)) {}
  void gains(const net::LinkBlock& block, double* gain) const override {
    guard_.watched([&] { inner_->gains(block, gain); });
    for (std::size_t i = 0; i < block.count; ++i)
      if (!(gain[i] >= 0 && gain[i] <= 1))
        throw PluginError(fmt::format("{}: its propagation '{}' gave a gain of {}; it must be from 0 to 1",
                                      guard_.plugin, name_, gain[i]));
  }
  double added_noise_w(double distance, double bandwidth) const override {
    return guard_.watched([&] { return inner_->added_noise_w(distance, bandwidth); });
  }
  double near_field() const override { return inner_->near_field(); }

 private:
  Guard guard_;
  std::unique_ptr<net::Propagation> inner_;
  std::string name_;
};

class GuardedEngine final : public physics::Engine {
 public:
  GuardedEngine(Guard guard, std::unique_ptr<physics::Engine> inner, std::string name)
      : Engine(state_of(*inner)),
        guard_(std::move(guard)),
        inner_(std::move(inner)),
        name_(std::move(name)),
        info_(inner_->info()) {
    // Whatever the plugin's engine implements besides Engine does not reach through this guard.
    if (std::ranges::find(info_.cannot, physics::friction_by_load) == info_.cannot.end())
      info_.cannot.emplace_back(physics::friction_by_load);
  }

  const physics::EngineInfo& info() const override { return info_; }
  Result<physics::BodyId> add_body(const physics::BodyDesc& desc) override {
    return guard_.watched([&] { return inner_->add_body(desc); });
  }
  void remove_body(physics::BodyId id) override {
    guard_.watched([&] { inner_->remove_body(id); });
  }
  physics::JointId add_joint(const physics::JointDesc& desc) override {
    return guard_.watched([&] { return inner_->add_joint(desc); });
  }
  void remove_joint(physics::JointId id) override {
    guard_.watched([&] { inner_->remove_joint(id); });
  }
  void set_body(physics::BodyId id, const Pose& pose, const Twist& velocity) override {
    guard_.watched([&] { inner_->set_body(id, pose, velocity); });
  }
  void set_gravity(const Vec3& gravity) override {
    guard_.watched([&] { inner_->set_gravity(gravity); });
  }
  StepStatus advance(Time begin, Time end) override {
    StepStatus status = guard_.watched([&] { return inner_->advance(begin, end); });
    for (const Pose& pose : inner_->poses())
      if (status.ok() && !(finite(pose.position) &&
                           std::isfinite(pose.rotation.w + pose.rotation.x + pose.rotation.y + pose.rotation.z)))
        throw PluginError(fmt::format("{}: its physics engine '{}' moved a body to a place that is not a number",
                                      guard_.plugin, name_));
    return status;
  }
  bool has(physics::JointId id) const override { return inner_->has(id); }
  void contacts(std::vector<physics::Contact>& out) const override {
    guard_.watched([&] { inner_->contacts(out); });
  }
  std::vector<physics::WorkCount> work() const override {
    return guard_.watched([&] { return inner_->work(); });
  }
  void archive(Archive& ar) override {
    guard_.watched([&] { inner_->archive(ar); });
  }
  bool archive_common(Archive& ar) override {
    return guard_.watched([&] { return inner_->archive_common(ar); });
  }

 private:
  Guard guard_;
  std::unique_ptr<physics::Engine> inner_;
  std::string name_;
  physics::EngineInfo info_;
};

}  // namespace

mind::BehaviorFactory Guard::behavior(const mind::BehaviorFactory& make) const {
  return [*this, make] {
    return std::make_unique<GuardedBehavior>(*this, required(watched([&] { return make(); }), *this));
  };
}

mind::SensorFactory Guard::sensor(const mind::SensorFactory& make, const std::string& name) const {
  return [*this, make, name](const model::Sensor& sensor, const Parameters& parameters) {
    return std::make_unique<GuardedSensor>(*this, required(watched([&] { return make(sensor, parameters); }), *this),
                                           name);
  };
}

mind::ActuatorFactory Guard::actuator(const mind::ActuatorFactory& make) const {
  return [*this, make](const model::Actuator& actuator, const Parameters& parameters) {
    return std::make_unique<GuardedActuator>(*this,
                                             required(watched([&] { return make(actuator, parameters); }), *this));
  };
}

mind::NoiseFactory Guard::noise(const mind::NoiseFactory& make, const std::string& name) const {
  return [*this, make, name](const Parameters& parameters, const TypeInfo* type) {
    return std::make_unique<GuardedNoise>(*this, required(watched([&] { return make(parameters, type); }), *this),
                                          name);
  };
}

exchange::PropagationFactory Guard::propagation(const exchange::PropagationFactory& make,
                                                const std::string& name) const {
  return [*this, make, name](double frequency, const Parameters& parameters) {
    return std::make_unique<GuardedPropagation>(
        *this, required(watched([&] { return make(frequency, parameters); }), *this), name);
  };
}

physics::EngineFactory Guard::engine(const physics::EngineFactory& make, const std::string& name) const {
  return [*this, make, name](const physics::EngineSettings& settings) {
    return std::make_unique<GuardedEngine>(*this, required(watched([&] { return make(settings); }), *this), name);
  };
}

// Extensions are looked up by their own type, so they are not wrapped. They need no deleter that holds the library: the
// run's registries hold it longer than the extensions.
sim::ExtensionFactory Guard::extension(const sim::ExtensionFactory& make) const {
  return
      [*this, make](const sim::ExtensionSetup& setup) { return required(watched([&] { return make(setup); }), *this); };
}

}  // namespace volvox::plugin
