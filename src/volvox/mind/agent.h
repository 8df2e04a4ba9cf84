// Everything that a module can know and do: its percepts, actions, docks, mailbox, model of the world, clock and random
// stream. A behaviour has access to nothing else, so that the same behaviour could run on the hardware.
//
// Units are SI, angles in rad. Minds owns the agents. Behaviours of different modules run in several threads at once;
// each uses its own agent only. Random numbers must come from random() and times from time(): runs then repeat exactly.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "volvox/base/index.h"
#include "volvox/exchange/message.h"
#include "volvox/mind/anatomy.h"
#include "volvox/mind/message_types.h"
#include "volvox/world/indices.h"

namespace volvox::mind {

using exchange::Bytes;
using exchange::everyone;
using exchange::Fate;
using exchange::largest_mailbox;
using exchange::MailboxNumber;
using exchange::Message;
using exchange::Outgoing;
using exchange::SendOptions;
using exchange::SendReport;

// A behaviour asked for something that its module does not have. The run stops with an error that names the module, the
// behaviour and the mistake.
class AgentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A handle of a percept: it is faster to find it once in start() than to look its name up in every tick.
template <class T>
struct Percept {
  int index = -1;
};

// A handle of an action, likewise.
template <class T>
struct Action {
  int index = -1;
};

class Agent {
 public:
  static constexpr std::size_t mailbox_capacity = 4096;  // messages; a full mailbox drops its oldest

  // --- Percepts -------------------------------------------------------------------------
  template <class T>
  const T& percept(std::string_view name) const {
    return percept(find_percept<T>(name));
  }
  template <class T>
  Percept<T> find_percept(std::string_view name) const {
    const int index = percept_index(name);
    if (percepts_[index].template get<T>() == nullptr) wrong_type("percept", name, percepts_[index], type_name<T>());
    return {index};
  }
  template <class T>
  const T& percept(Percept<T> handle) const {
    const T* value =
        handle.index >= 0 && handle.index < std::ssize(percepts_) ? percepts_[handle.index].template get<T>() : nullptr;
    if (value == nullptr) throw AgentError("it used a percept handle that it did not get from find_percept");
    return *value;
  }
  double angle(std::string_view joint) const { return percept<double>(std::string(joint) + ".angle"); }
  const DockState& dock(std::string_view name) const { return percept<DockState>(std::string(name) + ".dock"); }
  bool has_percept(std::string_view name) const { return anatomy_->percepts.contains(name); }
  const std::vector<std::string>& percepts() const { return anatomy_->percept_names; }
  const std::vector<model::Dock>& docks() const { return anatomy_->model->docks; }

  // --- Actions: a command holds until it is changed ---------------------------------------
  void move_to(std::string_view joint, double position) {  // rad or m
    act(joint, JointCommand{physics::Control::position, position});
  }
  void turn(std::string_view joint, double velocity) { act(joint, JointCommand{physics::Control::velocity, velocity}); }
  void push(std::string_view joint, double torque) { act(joint, JointCommand{physics::Control::torque, torque}); }
  void enable_dock(std::string_view dock, bool enabled = true) { act(dock, enabled); }
  void disable_dock(std::string_view dock) { act(dock, false); }
  template <class T>
  void act(std::string_view action, const T& command) {
    act(find_action<T>(action), command);
  }
  template <class T>
  Action<T> find_action(std::string_view name) const {
    const int index = action_index(name);
    if (actions_[index].template get<T>() == nullptr) wrong_type("action", name, actions_[index], type_name<T>());
    return {index};
  }
  template <class T>
  void act(Action<T> handle, const T& command) {
    T* slot =
        handle.index >= 0 && handle.index < std::ssize(actions_) ? actions_[handle.index].template get<T>() : nullptr;
    if (slot == nullptr) throw AgentError("it used an action handle that it did not get from find_action");
    *slot = command;
    action_set_[handle.index] = 1;
  }
  const std::vector<std::string>& actions() const { return anatomy_->action_names; }

  // --- Messages --------------------------------------------------------------------------
  // An outlet is a dock, a radio or a bus. A message sent at a dock reaches the attached module, and is lost if the
  // dock is free. A message on a radio or bus reaches every listening module, or only the module that it is addressed
  // to.
  template <class T>
  void send(std::string_view outlet, const T& content, const SendOptions& options = {}) {
    remember_message_type<T>();
    put(outlet_index(outlet), Payload::of(content), options);
  }
  template <class T>
  void broadcast(const T& content, const SendOptions& options = {}) {  // at all docks
    remember_message_type<T>();
    for (std::size_t d = 0; d < docks().size(); ++d) put(narrow<int>(d), Payload::of(content), options);
  }
  // As the master of a serial bus: asks a slave for the first message of its queue.
  void poll(std::string_view bus, int slave) { outbox_.push_back({outlet_index(bus), {}, {.to = slave}, true}); }
  int address() const { return address_; }  // of this module on radios and buses

  // Takes the oldest message out of this behaviour's mailboxes: of all of them, of those that came in at one outlet, or
  // of one mailbox.
  std::optional<Message> read();
  std::optional<Message> read(std::string_view outlet);
  std::optional<Message> read(MailboxNumber mailbox);
  std::size_t waiting() const;
  // From now on this behaviour receives the messages for that mailbox. Mailbox 0 always belongs to the module's first
  // behaviour. A message for a mailbox that no behaviour has opened is lost.
  void open(MailboxNumber mailbox);
  // The outlet at which a message came in: agent.send(agent.where(message), ...) answers it.
  const std::string& where(const Message& message) const { return anatomy_->outlet_names[message.outlet]; }
  // The state of a network interface.
  const LinkState& link(std::string_view outlet) const { return percept<LinkState>(std::string(outlet) + ".link"); }
  const Signal& signal(std::string_view radio) const { return percept<Signal>(std::string(radio) + ".signal"); }

  // --- Knowledge ---------------------------------------------------------------------------
  double time() const { return clock_.offset + now_.seconds() * (1 + clock_.drift_ppm * 1e-6); }  // s, own clock
  double dt() const { return dt_; }  // s, the length of a tick
  RandomStream& random() { return program().random; }
  // The behaviour's model of the world: any type declared by VOLVOX_TYPE. The first call makes it.
  template <class T>
  T& model() {
    if (!program().template unpack<T>())
      throw AgentError("the snapshot holds a model of another type than " + type_name<T>());
    return program().model.template emplace<T>();
  }
  template <class T>
  const T& model() const {  // for observers: of the first behaviour that has one of this type
    const T* known = find_model<T>();
    if (known == nullptr) throw AgentError("it has no model of type " + type_name<T>());
    return *known;
  }
  template <class T>
  const T* find_model() const {  // null: there is none
    for (const Program& p : programs_) {
      p.template unpack<T>();
      if (const T* known = p.model.template get<T>()) return known;
    }
    return nullptr;
  }
  // An extension of the run (mind/extension.h), by name: agent.extension<Joystick>("joystick").axis(0).
  template <class T>
  T& extension(std::string_view name) const {
    T* known = dynamic_cast<T*>(find_extension(name));
    if (known == nullptr) throw AgentError("the extension '" + std::string(name) + "' is of another type");
    return *known;
  }
  // Parameters of the behaviour, as given in SDF.
  double parameter(const std::string& name, double fallback) const { return parameters().number(name, fallback); }
  std::int64_t parameter(const std::string& name, std::int64_t fallback) const {
    return parameters().integer(name, fallback);
  }
  int parameter(const std::string& name, int fallback) const {
    return narrow<int>(parameters().integer(name, fallback, INT32_MIN, INT32_MAX));
  }
  bool parameter(const std::string& name, bool fallback) const { return parameters().flag(name, fallback); }
  std::string parameter(const std::string& name, const char* fallback) const {
    return parameters().text(name, fallback);
  }

  // --- For users -----------------------------------------------------------------------------
  const std::string& name() const { return name_; }
  template <class... Args>
  void log(fmt::format_string<Args...> format, Args&&... args) {
    log_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  // For viewers and recorders. The index is that of the name in percepts() or actions().
  const Value& percept_value(std::size_t i) const { return percepts_[i]; }
  const Value& action_value(std::size_t i) const { return actions_[i]; }
  bool action_was_set(std::size_t i) const { return action_set_[i] != 0; }
  const std::vector<Message>& mailbox() const { return mailbox_; }
  // Sets the reading of a sensor of type external, in the input phase. False: there is no such percept.
  bool set_external(std::string_view percept, double value);
  // The model of the first behaviour that has one, as JSON; empty if none has.
  std::string describe_model() const {
    for (const Program& p : programs_) {
      if (!p.model.empty()) return p.model.describe();
    }
    return {};
  }
  const std::string& type_of_model() const {
    static const std::string nothing;
    for (const Program& p : programs_) {
      if (!p.model.empty()) return p.model.type()->name;
    }
    return nothing;
  }
  // The parameters that the module's behaviours have read and that can be tuned; the default if the world gives no
  // value. If several behaviours share a name, the value is that of the first.
  std::map<std::string, std::string> behavior_parameters() const;
  const std::vector<std::string>& outlets() const { return anatomy_->outlet_names; }
  world::PlacementIndex placement() const { return placement_; }

  // --- Callbacks for percepts (seed 003's SensorCallbacks) -------------------------------------
  // To be called in start(). From then on callback(const T&) gets that percept (with its noise, not copied) in every
  // tick, after all modules have sensed and before step(), whatever the behaviour's period is.
  template <class T, class Callback>
  void observe(std::string_view name, Callback callback) {
    watch<T>(*this, name, std::move(callback));
  }
  // The same with another module's percept: only for a behaviour whose omniscient() returns true.
  template <class T, class Callback>
  void observe(std::size_t module, std::string_view name, Callback callback) {
    watch<T>(look_at(module), name, std::move(callback));
  }

  // Another module's percept in this tick: only for a behaviour whose omniscient() returns true.
  template <class T>
  const T& other(std::size_t module, std::string_view name) const {
    return look_at(module).template percept<T>(name);
  }
  // How many there are, for other() and observe(): only for such a behaviour.
  std::size_t module_count() const;

 private:
  friend class Minds;
  friend class AgentTransfer;

  // The part of the agent that each behaviour of the module has for itself.
  struct Program {
    Parameters parameters;
    // After a restore the model is kept as bytes until a caller asks for it by its type.
    mutable Value model;
    mutable Payload restored_model;
    RandomStream random;
    bool omniscient = false;
    double period = 0;  // s; 0: every tick
    Time next_step;
    std::map<std::string, std::string> tuned;  // parameters that were changed during the run

    // Makes the model from the restored bytes, if there are any. False: they hold another type.
    template <class T>
    bool unpack() const {
      if (restored_model.empty()) return true;
      const auto known = restored_model.template as<T>();
      if (!known) return false;
      model.template emplace<T>() = *known;
      restored_model = {};
      return true;
    }
    template <class A>
    void archive(A& ar) {
      Payload packed = model.empty() ? restored_model : Payload::of(model);
      ar("model", packed);
      if (ar.loading()) {
        model = {};
        restored_model = std::move(packed);
      }
      ar("random", random);
      ar("next step", next_step);
      ar("tuned", tuned);
    }
  };
  struct OpenMailbox {
    MailboxNumber number = 0;
    std::uint32_t program = 0;
    template <class A>
    void archive(A& ar) {
      ar("number", number);
      ar("program", program);
    }
  };

  struct Observation {
    const Agent* of = nullptr;
    std::size_t percept = 0, program = 0;  // program: the behaviour that gets the callback
    std::function<void(const Value&)> call;
  };
  template <class T, class Callback>
  void watch(const Agent& of, std::string_view name, Callback callback) {
    const Percept<T> percept = of.find_percept<T>(name);
    observations_.push_back(
        {&of, narrow<std::size_t>(percept.index), running_,
         [callback = std::move(callback)](const Value& value) { callback(*value.template get<T>()); }});
  }
  Extension* find_extension(std::string_view name) const;

  Program& program() { return programs_[running_]; }
  const Parameters& parameters() const { return programs_[running_].parameters; }
  // The index of the behaviour that has opened the mailbox; -1 if none has.
  int owner_of(MailboxNumber mailbox) const;
  template <class Wanted>
  std::optional<Message> take(Wanted&& wanted);
  void put(int outlet, Payload payload, const SendOptions& options);

  int percept_index(std::string_view name) const;
  int action_index(std::string_view name) const;
  int outlet_index(std::string_view name) const;
  const Agent& look_at(std::size_t module) const;
  bool sees_all() const { return everyone_ != nullptr && programs_[running_].omniscient; }
  [[noreturn]] static void wrong_type(const char* kind, std::string_view name, const Value& value,
                                      const std::string& wanted);

  template <class A>
  void archive(A& ar) {
    ar.section(name_, "percepts");
    ar("percepts", percepts_);
    ar.section(name_, "actions");
    ar("actions", actions_);
    ar("set", action_set_);
    ar.section(name_, "mailbox and outbox");
    ar("mailbox", mailbox_);
    ar("open", open_);
    ar("outbox", outbox_);
    ar("dropped", dropped_);
    ar.section(name_, "models, random streams and clock");
    ar("now", now_);
    for (Program& p : programs_) p.archive(ar);
    ar("clock offset", clock_.offset);
    ar("clock drift", clock_.drift_ppm);
    ar("off", off_);
    if (ar.loading()) log_.clear();
  }

  std::string name_;
  world::PlacementIndex placement_ = 0;
  std::shared_ptr<const Anatomy> anatomy_;
  const Extensions* extensions_ = nullptr;
  std::vector<Observation> observations_;
  const std::vector<Agent>* everyone_ = nullptr;  // null unless a behaviour is omniscient
  int address_ = 0;
  std::vector<Program> programs_;  // one for each behaviour; a module without behaviours has one
  std::size_t running_ = 0;        // the index of the behaviour that is being called
  model::Clock clock_;
  bool off_ = false;  // its power has failed
  Time now_;
  double dt_ = 0;

  std::vector<Value> percepts_, actions_;
  std::vector<std::uint8_t> action_set_;
  std::vector<Message> mailbox_;   // of all mailboxes
  std::vector<OpenMailbox> open_;  // beside mailbox 0, which is the first behaviour's
  std::vector<Outgoing> outbox_;   // messages from start, receive and end_tick leave in the next tick
  std::int64_t dropped_ = 0;       // messages that a full mailbox dropped
  std::vector<std::string> log_;
};

}  // namespace volvox::mind
