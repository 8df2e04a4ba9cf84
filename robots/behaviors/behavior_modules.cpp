#include "behavior_modules.h"

#include <fmt/format.h>

#include "volvox/base/parse.h"
#include "volvox/mind/transfer.h"

namespace volvox::robots {

// The names by which worlds know the code module and its messages.
struct BehaviorOnLattice {};
VOLVOX_TYPE(BehaviorOnLattice)
struct BehaviorLetter {};
VOLVOX_TYPE(BehaviorLetter)

namespace {

using lattice::CatomError;
using mind::AgentTransfer;

std::string dock_name(int port) { return fmt::format("p{}", port); }

// What a catom has: docks and a lamp. See the header for what it has not.
Result<std::shared_ptr<const mind::Anatomy>> anatomy_of_catom(int ports, bool has_radio) {
  auto model = std::make_shared<model::ModuleModel>();
  model->name = "catom";
  auto anatomy = std::make_shared<mind::Anatomy>();
  for (int port = 0; port < ports; ++port) {
    model::Dock dock;
    dock.name = dock_name(port);
    model->docks.push_back(dock);
    anatomy->percepts.emplace(dock.name + ".dock", port);
    anatomy->percept_names.push_back(dock.name + ".dock");
    anatomy->sensors.push_back(mind::make_dock_state_sensor(port));
    anatomy->outlets.emplace(dock.name, port);
    anatomy->outlet_names.push_back(dock.name);
  }
  if (has_radio) {
    anatomy->outlets.emplace("radio", ports);
    anatomy->outlet_names.emplace_back("radio");
  }
  const mind::ActuatorRegistry actuators = mind::built_in_actuators();
  const auto lamp = actuators.find("lamp");
  if (!lamp.ok()) return lamp.error();
  model::Actuator description;
  description.name = description.type = "lamp";
  anatomy->actions.emplace("lamp", 0);
  anatomy->action_names.emplace_back("lamp");
  anatomy->actuators.push_back((**lamp)(description, Parameters({}, "lamp", "", 0)));
  anatomy->model = std::move(model);
  return std::shared_ptr<const mind::Anatomy>(std::move(anatomy));
}

// Passes all bytes on, and no sections: the parts of ranks have none, and hashes must not depend on ranks.
class WithoutSections final : public Archive {
 public:
  explicit WithoutSections(Archive& to) : to_(to) {}
  bool hashing() const override { return to_.hashing(); }

 private:
  void pass(void* data, std::size_t size) override { to_.raw(data, size); }
  Archive& to_;
};

}  // namespace

BehaviorModules::BehaviorModules(const model::Mind& mind, mind::BehaviorFactory factory,
                                 const lattice::CatomWorld& world)
    : mind_(mind),
      factory_(std::move(factory)),
      seed_(world.options().seed),
      ports_(world.ensemble().lattice().ports()),
      has_radio_(world.options().radio_range > 0) {
  stride_ = sizeof(std::unique_ptr<Mind>);
  links_.push_back({behavior_mailbox, heard, &type_of<BehaviorLetter>()});
  start = start_catom;
  new_tick = begin_tick_of_catom;
  end_tick = end_tick_of_catom;
}

Result<std::unique_ptr<BehaviorModules>> BehaviorModules::make(const model::Mind& mind,
                                                               const mind::BehaviorRegistry& registry,
                                                               const lattice::CatomWorld& world) {
  const auto refused = [&](const std::string& what, const std::string& fix) {
    return Diagnostic{mind.file, mind.line, fmt::format("behavior '{}' {}", mind.behavior, what), fix};
  };
  if (!mind.further.empty())
    return refused("is one of several", "give a catom one behavior; code modules can be several");
  const auto factory = registry.find(mind.behavior, mind.file, mind.line);
  if (!factory.ok()) return factory.error();
  const auto sample = (**factory)();
  if (sample->omniscient())
    return refused("reads what other modules sense, which a catom of a lattice cannot",
                   "use one that is not omniscient");
  if (const auto on_board = sample->on_board(); !on_board.actions.empty())
    return refused(fmt::format("commands '{}' on board, which a catom of a lattice does not have", on_board.actions[0]),
                   "use one that only talks, or a physical world");
  std::unique_ptr<BehaviorModules> modules(new BehaviorModules(mind, **factory, world));
  auto anatomy = anatomy_of_catom(modules->ports_, modules->has_radio_);
  if (!anatomy.ok()) return anatomy.error();
  modules->anatomy_ = std::move(*anatomy);
  if (const auto read = modules->read_parameters(); !read.ok()) return read.error();
  return modules;
}

Result<void> BehaviorModules::read_parameters() {
  for (const auto& [name, value] : mind_.parameters) {
    const std::size_t dot = name.find('.');
    const auto catom = to_number<std::uint32_t>(name.substr(0, dot));
    if (dot == std::string::npos || !catom) parameters_[name] = value;
    else parameters_of_[*catom][name.substr(dot + 1)] = value;
  }
  return {};
}

std::unique_ptr<BehaviorModules::Mind> BehaviorModules::make_mind(std::uint32_t catom) const {
  auto mind = std::make_unique<Mind>();
  std::map<std::string, std::string> parameters = parameters_;
  if (const auto own = parameters_of_.find(catom); own != parameters_of_.end())
    for (const auto& [name, value] : own->second) parameters[name] = value;
  AgentTransfer::make(mind->agent,
                      {fmt::format("catom {}", catom), catom, anatomy_,
                       Parameters(parameters, fmt::format("behavior '{}'", mind_.behavior), mind_.file, mind_.line),
                       RandomStream(seed_, catom, "behavior")});
  mind->behavior = factory_();
  return mind;
}

// What a behaviour may not do ends the tick with an error that names catom and behaviour.
template <class Call>
void BehaviorModules::guarded(const char* doing, const Call& call) const {
  try {
    call();
  } catch (const std::exception& error) {
    throw CatomError(fmt::format(
        "behavior '{}' failed in {}: {}; a catom of a lattice has the docks {} to {}, a lamp{}", mind_.behavior, doing,
        error.what(), dock_name(0), dock_name(ports_ - 1), has_radio_ ? " and a radio" : ""));
  }
}

void BehaviorModules::sense(Mind& mind, const lattice::Catom& catom) const {
  for (int port = 0; port < ports_; ++port) {
    mind::DockState& state = *AgentTransfer::percept(mind.agent, static_cast<std::size_t>(port)).get<mind::DockState>();
    state.enabled = true;
    state.engaged = catom.has_neighbor(port);
    state.neighbor = state.engaged ? dock_name(catom.port_of_neighbor(port)) : "";
  }
}

void BehaviorModules::start_catom(void* state, lattice::Catom& catom) {
  BehaviorModules& self = of(catom);
  Mind& mind = mind_of(state);
  AgentTransfer::set_time(mind.agent, self.begin_of(catom.tick()), self.tick_.seconds());
  self.sense(mind, catom);
  self.guarded("start", [&] {
    mind.behavior->start(mind.agent);
    const double period = mind.behavior->period();
    if (!(period >= 0 && period < 1e9))
      throw mind::AgentError(fmt::format("its period is {} s; give 0 or a positive time", period));
    AgentTransfer::set_period(mind.agent, period);
    if (const auto read = AgentTransfer::parameters(mind.agent).check(); !read.ok())
      throw mind::AgentError(read.error().text());
  });
  mind.started = true;
}

bool BehaviorModules::heard(void* state, lattice::Catom& catom, int port, std::span<const std::byte> content) {
  BehaviorModules& self = of(catom);
  Mind& mind = mind_of(state);
  LoadArchive ar(content);
  mind::Message message;
  ar("mailbox", message.mailbox);
  ar("sent", message.sent);
  ar("payload", message.payload);
  if (!ar.ok() || ar.remaining() != 0) return false;
  const bool by_radio = port == lattice::far_port;
  message.outlet = by_radio ? self.ports_ : port;
  if (by_radio) message.from = narrow<int>(catom.sender());
  message.arrived = self.begin_of(catom.tick());
  AgentTransfer::set_time(mind.agent, message.arrived, self.tick_.seconds());
  if (!AgentTransfer::has_opened(mind.agent, message.mailbox)) return true;
  bool taken = false;
  self.guarded("receive", [&] { taken = mind.behavior->receive(mind.agent, message); });
  if (!taken) AgentTransfer::put_in_mailbox(mind.agent, std::move(message));
  return true;
}

// The end of the tick before, when all of its messages are in; then this one.
void BehaviorModules::end_tick_of_catom(void* state, lattice::Catom& catom) {
  BehaviorModules& self = of(catom);
  Mind& mind = mind_of(state);
  const Time now = self.begin_of(catom.tick());
  AgentTransfer::set_time(mind.agent, now, self.tick_.seconds());
  if (catom.tick() > 0) self.guarded("end_tick", [&] { mind.behavior->end_tick(mind.agent); });
  self.sense(mind, catom);
  self.guarded("an observer", [&] { AgentTransfer::call_observers(mind.agent); });
  if (AgentTransfer::take_step(mind.agent, now)) self.guarded("step", [&] { mind.behavior->step(mind.agent); });
  self.send(mind, catom);
  (void)AgentTransfer::take_log(mind.agent);
}

void BehaviorModules::send(Mind& mind, lattice::Catom& catom) const {
  for (const mind::Outgoing& out : AgentTransfer::take_outbox(mind.agent)) {
    if (out.poll) throw CatomError(fmt::format("behavior '{}' polls a bus, and a lattice has none", mind_.behavior));
    SaveArchive ar;
    ar("mailbox", out.options.mailbox);
    ar("sent", begin_of(catom.tick()));
    ar("payload", out.payload);
    if (out.outlet < ports_) catom.send_bytes(out.outlet, ar.bytes(), behavior_mailbox);
    else catom.radio_bytes(ar.bytes(), behavior_mailbox);
  }
}

const TypeInfo& BehaviorModules::type() const { return type_of<BehaviorOnLattice>(); }

std::string BehaviorModules::describe(std::uint32_t catom) const {
  const std::string model = agent(catom).describe_model();
  return model.empty() ? mind_.behavior : fmt::format("{}: {}", mind_.behavior, model);
}

std::optional<std::array<double, 3>> BehaviorModules::light(std::uint32_t catom) const {
  if (!region().has(catom)) return std::nullopt;
  const mind::Agent& own = agent(catom);
  const auto* light = own.action_was_set(0) ? own.action_value(0).get<mind::Light>() : nullptr;
  if (light == nullptr) return std::nullopt;
  return std::array<double, 3>{light->red, light->green, light->blue};
}

void BehaviorModules::resize(std::size_t catoms) {
  catoms_ = catoms;
  const std::size_t own = region().count(catoms), before = minds_.size();
  minds_.resize(own);
  for (std::size_t i = before; i < own; ++i) minds_[i] = make_mind(narrow<std::uint32_t>(first_ + i));
  data_ = reinterpret_cast<std::byte*>(minds_.data());
}

void BehaviorModules::reset(std::uint32_t catom) { minds_[catom - first_] = make_mind(catom); }

void BehaviorModules::archive_mind(Archive& ar, Mind& mind) const {
  AgentTransfer::archive(mind.agent, ar);
  if (mind.behavior->lists_state()) mind.behavior->archive_state(ar);
  else if (!ar.hashing()) ar.fail(fmt::format("behavior '{}' does not list its state (VOLVOX_STATE)", mind_.behavior));
}

void BehaviorModules::archive(Archive& ar) {
  ar.section("behavior", "state");
  std::string behavior = mind_.behavior;
  ar("behavior", behavior);
  if (behavior != mind_.behavior) return ar.fail(fmt::format("the snapshot is of another behavior, '{}'", behavior));
  if (!ar.loading()) {
    region().archive_parts(ar, [&](Archive& part) {
      WithoutSections flat(part);
      for (const auto& mind : minds_) archive_mind(flat, *mind);
      if (!flat.ok()) part.fail(flat.failure());
    });
    return;
  }
  for (std::uint32_t catom = 0; catom < catoms_ && ar.ok(); ++catom) {
    if (region().has(catom)) archive_mind(ar, *minds_[catom - first_]);
    else archive_mind(ar, *make_mind(catom));  // another rank has it
  }
}

std::size_t BehaviorModules::memory_bytes() const {
  std::size_t bytes = minds_.capacity() * sizeof minds_[0];
  for (const auto& mind : minds_) bytes += sizeof *mind + ports_ * (sizeof(Value) + sizeof(mind::DockState));
  return bytes;
}

}  // namespace volvox::robots
