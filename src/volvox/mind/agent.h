// All that a module can know and do: its percepts, actions, docks, mailbox, model of the
// world, clock and random stream. A behaviour sees nothing else, so that the same behaviour
// could run on the hardware.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "volvox/mind/anatomy.h"
#include "volvox/mind/message.h"

namespace volvox::mind {

// A behaviour asked for something that its module does not have. The run stops and names the
// module, the behaviour and what is wrong.
class AgentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Where a percept is, found once by name: faster than asking by name in every tick.
template <class T>
struct Percept {
  int index = -1;
};

class Agent {
 public:
  static constexpr std::size_t mailbox_capacity = 4096;  // the oldest is dropped beyond it

  // --- What it senses -------------------------------------------------------------------
  template <class T>
  const T& percept(std::string_view name) const { return percept(find_percept<T>(name)); }
  template <class T>
  Percept<T> find_percept(std::string_view name) const {
    const int index = percept_index(name);
    if (percepts_[index].template get<T>() == nullptr) wrong_type("percept", name, percepts_[index], type_name<T>());
    return {index};
  }
  template <class T>
  const T& percept(Percept<T> handle) const {
    const T* value = handle.index >= 0 && static_cast<std::size_t>(handle.index) < percepts_.size()
                         ? percepts_[static_cast<std::size_t>(handle.index)].template get<T>() : nullptr;
    if (value == nullptr) throw AgentError("it used a percept handle that it did not get from find_percept");
    return *value;
  }
  double angle(std::string_view joint) const { return percept<double>(std::string(joint) + ".angle"); }
  const DockState& dock(std::string_view name) const { return percept<DockState>(std::string(name) + ".dock"); }
  bool has_percept(std::string_view name) const { return anatomy_->percepts.contains(name); }
  const std::vector<std::string>& percepts() const { return anatomy_->percept_names; }
  const std::vector<model::Dock>& docks() const { return anatomy_->model->docks; }

  // --- What it does: commands hold until they are changed ---------------------------------
  void move_to(std::string_view joint, double position) { act(joint, JointCommand{physics::Control::position, position}); }
  void turn(std::string_view joint, double velocity) { act(joint, JointCommand{physics::Control::velocity, velocity}); }
  void push(std::string_view joint, double torque) { act(joint, JointCommand{physics::Control::torque, torque}); }
  void relax(std::string_view joint) { act(joint, JointCommand{physics::Control::off, 0}); }
  void enable_dock(std::string_view dock, bool enabled = true) { act(dock, enabled); }
  void disable_dock(std::string_view dock) { act(dock, false); }
  template <class T>
  void act(std::string_view action, const T& command) {
    const int index = action_index(action);
    T* slot = actions_[index].template get<T>();
    if (slot == nullptr) wrong_type("action", action, actions_[index], type_name<T>());
    *slot = command;
    action_set_[static_cast<std::size_t>(index)] = 1;
  }
  const std::vector<std::string>& actions() const { return anatomy_->action_names; }

  // --- What it says and hears ------------------------------------------------------------
  // To whoever is attached at the dock; nobody hears it if the dock is free.
  template <class T>
  void send(std::string_view dock, const T& content) { outbox_.push_back({dock_index(dock), Payload::of(content)}); }
  template <class T>
  void broadcast(const T& content) {
    for (std::size_t d = 0; d < docks().size(); ++d) outbox_.push_back({static_cast<int>(d), Payload::of(content)});
  }
  // The oldest message, or the oldest that came in at a dock; reading consumes it.
  std::optional<Message> read();
  std::optional<Message> read(std::string_view dock);
  std::size_t waiting() const { return mailbox_.size(); }
  const std::string& dock_name(const Message& message) const { return docks()[static_cast<std::size_t>(message.dock)].name; }

  // --- What it knows -----------------------------------------------------------------------
  double time() const { return clock_.offset + now_.seconds() * (1 + clock_.drift_ppm * 1e-6); }  // by its own clock
  double dt() const { return dt_; }
  RandomStream& random() { return random_; }
  // Its model of the world: any type declared by VOLVOX_TYPE, made when first asked for.
  template <class T>
  T& model() {
    if (!restored_model_.empty()) unpack_model<T>();
    return model_.emplace<T>();
  }
  template <class T>
  const T& model() const {  // for those who look on
    const T* known = model_.get<T>();
    if (known == nullptr) throw AgentError("it has no model of type " + type_name<T>());
    return *known;
  }
  // Parameters of the behaviour, as given in SDF.
  double parameter(const std::string& name, double fallback) const { return parameters_.number(name, fallback); }
  std::int64_t parameter(const std::string& name, std::int64_t fallback) const { return parameters_.integer(name, fallback); }
  int parameter(const std::string& name, int fallback) const {
    return static_cast<int>(parameters_.integer(name, fallback, INT32_MIN, INT32_MAX));
  }
  bool parameter(const std::string& name, bool fallback) const { return parameters_.flag(name, fallback); }
  std::string parameter(const std::string& name, const char* fallback) const { return parameters_.text(name, fallback); }

  // --- For people ----------------------------------------------------------------------------
  const std::string& name() const { return name_; }
  template <class... Args>
  void log(fmt::format_string<Args...> format, Args&&... args) { log_.push_back(fmt::format(format, std::forward<Args>(args)...)); }

  // For viewers and recorders: values of any type, to be described. By the names' order.
  const Value& percept_value(std::size_t i) const { return percepts_[i]; }
  const Value& action_value(std::size_t i) const { return actions_[i]; }
  bool action_was_set(std::size_t i) const { return action_set_[i] != 0; }
  const std::vector<Message>& mailbox() const { return mailbox_; }
  std::string describe_model() const { return model_.describe(); }  // JSON; empty: it has none
  const std::string& type_of_model() const {
    static const std::string nothing;
    return model_.empty() ? nothing : model_.type()->name;
  }
  const Parameters& behavior_parameters() const { return parameters_; }
  std::uint32_t placement() const { return placement_; }

  // For a behaviour that is declared omniscient: another module's percept in this tick.
  template <class T>
  const T& other(std::size_t module, std::string_view name) const { return look_at(module).template percept<T>(name); }
  std::size_t module_count() const;

 private:
  friend class Minds;

  int percept_index(std::string_view name) const;
  int action_index(std::string_view name) const;
  int dock_index(std::string_view name) const;
  const Agent& look_at(std::size_t module) const;
  [[noreturn]] static void wrong_type(const char* kind, std::string_view name, const Value& value, const std::string& wanted);

  template <class T>
  void unpack_model() {
    const auto model = restored_model_.as<T>();
    if (!model) throw AgentError("the snapshot holds a model of another type than " + type_name<T>());
    model_.emplace<T>() = *model;
    restored_model_ = {};
  }

  template <class A>
  void archive(A& ar) {
    ar.section(name_, "percepts");
    ar("percepts", percepts_);
    ar.section(name_, "actions");
    ar("actions", actions_);
    ar("set", action_set_);
    ar.section(name_, "mailbox and outbox");
    ar("mailbox", mailbox_);
    ar("outbox", outbox_);
    ar("dropped", dropped_);
    ar.section(name_, "model");
    Payload model = model_.empty() ? restored_model_ : Payload::of(model_);
    ar("model", model);
    if (ar.loading()) {
      log_.clear();
      model_ = {};
      restored_model_ = std::move(model);
    }
    ar.section(name_, "random stream");
    ar("random", random_);
    ar("next step", next_step_);
    ar("tuned", tuned_);
  }

  std::string name_;
  std::uint32_t placement_ = 0;
  std::shared_ptr<const Anatomy> anatomy_;
  const std::vector<Agent>* everyone_ = nullptr;  // null unless the behaviour is omniscient
  Parameters parameters_;
  model::Clock clock_;
  Time now_;
  double dt_ = 0;

  std::vector<Value> percepts_, actions_;
  std::vector<std::uint8_t> action_set_;
  std::vector<Message> mailbox_;
  std::vector<Outgoing> outbox_;  // what start, receive and end_tick send waits here for the next tick
  std::int64_t dropped_ = 0;      // messages, because the mailbox was full
  Value model_;
  Payload restored_model_;  // out of a snapshot, until the behaviour says of what type it is
  RandomStream random_;
  double period_ = 0;  // s, of its behaviour; 0: every tick
  Time next_step_;
  std::map<std::string, std::string> tuned_;  // parameters that were changed while the run went on
  std::vector<std::string> log_;
};

}  // namespace volvox::mind
