#include "volvox/plugin/isolated.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/child_process.h"
#include "volvox/base/platform/real_time.h"
#include "volvox/mind/transfer.h"
#include "volvox/plugin/guards.h"

namespace volvox::plugin {
namespace {

using nlohmann::json;
constexpr std::size_t capacity = 64 << 20;  // bytes of one call; unused memory costs nothing
constexpr double listing_limit = 10;        // s, to load a library and list it

// Parameters of a behaviour that the user must correct.
class BadParameters : public PluginError {
  using PluginError::PluginError;
};

// Lists what a library offers in another process, so that none of its code is loaded here.
std::string list_offers(const std::filesystem::path& file) {
  auto loaded = load_plugin(file);
  if (!loaded.ok()) return to_json_text(json{{"error", loaded.error().text()}});
  json listed = {{"name", loaded->facts.name},
                 {"description", loaded->facts.description},
                 {"build", loaded->facts.build},
                 {"offers", loaded->facts.offers}};
  listed["behaviors"] = json::array();
  for (const std::string& name : loaded->offered->behaviors.names()) {
    std::unique_ptr<mind::Behavior> made;
    try {
      made = (**loaded->offered->behaviors.find(name))();
    } catch (...) {
      // It will fail again when it is used, and then the error can name its module.
    }
    listed["behaviors"].push_back({{"name", name},
                                   {"description", loaded->offered->behaviors.description(name)},
                                   {"lists_state", made != nullptr && made->lists_state()},
                                   {"omniscient", made != nullptr && made->omniscient()}});
  }
  listed["sensors"] = json::array();
  for (const std::string& name : loaded->offered->sensors.names())
    listed["sensors"].push_back({{"name", name}, {"description", loaded->offered->sensors.description(name)}});
  return to_json_text(listed);
}

}  // namespace

// The proxy, in this process, of a behaviour that runs in the companion.
class IsolatedBehavior final : public mind::Behavior {
 public:
  IsolatedBehavior(std::shared_ptr<IsolatedLibrary> library, std::uint32_t number, bool lists_state)
      : library_(std::move(library)), number_(number), lists_state_(lists_state) {}

  void start(mind::Agent& agent) override { call(IsolatedLibrary::Operation::start, agent); }
  void step(mind::Agent& agent) override { call(IsolatedLibrary::Operation::step, agent); }
  bool receive(mind::Agent& agent, const mind::Message& message) override {
    SaveArchive more;
    more("message", message);
    call(IsolatedLibrary::Operation::receive, agent, more.take());
    return reply_.taken;
  }
  void sent(mind::Agent& agent, const mind::SendReport& report) override {
    SaveArchive more;
    more("outlet", report.outlet);
    more("fate", report.fate);
    more("attempts", report.attempts);
    call(IsolatedLibrary::Operation::sent, agent, more.take());
  }
  void end_tick(mind::Agent& agent) override { call(IsolatedLibrary::Operation::end_tick, agent); }
  void tune(mind::Agent& agent) override {
    SaveArchive more;
    more("given", mind::AgentTransfer::parameters(agent).given());
    call(IsolatedLibrary::Operation::tune, agent, more.take());
  }
  OnBoard on_board() const override { return reply_.on_board; }
  void control(mind::Agent& agent, double step) override {
    SaveArchive more;
    more("step", step);
    call(IsolatedLibrary::Operation::control, agent, more.take());
  }
  double period() const override { return reply_.period; }
  bool lists_state() const override { return lists_state_; }
  // The same bytes as of a behaviour that is not isolated: the same hash and the same snapshot.
  void archive_state(Archive& ar) override {
    if (ar.loading())
      return ar.fail("a behavior of an isolated plugin takes no snapshot in; restore it without --isolate");
    ar.raw(reply_.state.data(), reply_.state.size());
  }

 private:
  void call(IsolatedLibrary::Operation operation, mind::Agent& agent, std::vector<std::byte> more = {}) {
    reply_.taken = false;
    library_->call(operation, number_, agent, more, reply_);
  }

  std::shared_ptr<IsolatedLibrary> library_;
  std::uint32_t number_;
  bool lists_state_;
  IsolatedLibrary::Reply reply_;
};

Result<std::shared_ptr<IsolatedLibrary>> IsolatedLibrary::create(const std::filesystem::path& file,
                                                                 const IsolationLimits& limits, Log& log) {
  std::shared_ptr<IsolatedLibrary> library(new IsolatedLibrary(file, limits, log));
  const auto bad = [&](const std::string& what) {
    return Diagnostic{file.string(), 0, what, "correct the plugin, or leave it out"};
  };
  const platform::ChildOutcome outcome = platform::run_in_child([&] { return list_offers(file); }, listing_limit,
                                                                nullptr, {.memory_bytes = limits.memory});
  if (!outcome.failure.empty()) return bad("the plugin cannot be loaded: its process " + outcome.failure);
  try {
    const json listed = json::parse(outcome.text);
    if (listed.contains("error")) return Error(listed["error"].get<std::string>(), "");
    library->take_offers(listed);
  } catch (const json::exception&) {
    return bad("the plugin says nothing of itself");
  }
  return library;
}

// Throws what json throws: the plugin can have written into the list.
void IsolatedLibrary::take_offers(const json& listed) {
  const auto text = [](const json& from, const char* key) { return from.value(key, std::string()); };
  facts_ = {text(listed, "name"),
            text(listed, "description"),
            text(listed, "build"),
            file_,
            listed.at("offers").get<std::vector<std::pair<std::string, std::vector<std::string>>>>(),
            0};
  for (const json& behavior : listed.at("behaviors"))
    known_.push_back({text(behavior, "name"), text(behavior, "description"), behavior.value("lists_state", false),
                      behavior.value("omniscient", false)});
  for (const json& sensor : listed.at("sensors"))
    known_sensors_.emplace_back(text(sensor, "name"), text(sensor, "description"));
}

std::vector<std::string> IsolatedLibrary::behaviors() const {
  std::vector<std::string> names;
  for (const Known& known : known_) names.push_back(known.name);
  return names;
}

void IsolatedLibrary::add_to(mind::Registries& minds) {
  for (const Known& known : known_) minds.behaviors.add(known.name, behavior_factory(known), known.description);
  for (const auto& [type, description] : known_sensors_) minds.sensors.add(type, sensor_factory(type), description);
}

mind::BehaviorFactory IsolatedLibrary::behavior_factory(const Known& known) {
  return [self = shared_from_this(), known]() -> std::unique_ptr<mind::Behavior> {
    if (known.omniscient)
      throw PluginError(fmt::format(
          "plugin '{}': it looks at other modules, which another process does not have; run it without --isolate",
          self->facts_.name));
    self->behaviors_.push_back({known.name});
    return std::make_unique<IsolatedBehavior>(self, narrow<std::uint32_t>(self->behaviors_.size() - 1),
                                              known.lists_state);
  };
}

sim::TimeDistribution IsolatedLibrary::round_trips() const {
  const std::lock_guard lock(mutex_);
  return round_trips_;
}

// --- in this process ----------------------------------------------------------------------------

void IsolatedLibrary::disable(const std::string& how, const std::string& where) {
  disabled_ = how;
  log_.warning(fmt::format("plugin '{}' ({}) {} in {}: it is disabled, and the run goes on", facts_.name,
                           file_.string(), how, where));
}

std::optional<std::span<const std::byte>> IsolatedLibrary::exchange(const SaveArchive& ar, const std::string& where) {
  // Forked at the first call: by then all agents and sensors exist, so the companion has them, too.
  if (!companion_) {
    auto started = platform::Companion::start([this](std::span<const std::byte> bytes) { return answer(bytes); },
                                              capacity, limits_.memory);
    if (!started.ok()) return disable("has no process: " + started.error().text(), where), std::nullopt;
    companion_ = std::move(*started);
  }
  const auto answered = companion_->call(ar.bytes(), limits_.call);
  if (!answered.ok()) return disable(answered.error().diagnostics().front().what, where), std::nullopt;
  return *answered;
}

bool IsolatedLibrary::take_outcome(LoadArchive& back, const std::string& where, bool& stopped) {
  Outcome outcome{};
  std::string failure;
  back("outcome", outcome);
  back("failure", failure);
  if (back.ok() && outcome == Outcome::bad_parameters) throw PluginError(failure);
  if (!back.ok() || outcome > Outcome::bad_parameters) return disable("gave a malformed answer", where), false;
  if (outcome == Outcome::done) return true;
  stopped = part_disabled_ = true;
  log_.warning(fmt::format("{}, in {}: it is disabled, and the run goes on", failure.substr(0, 1000), where));
  return false;
}

void IsolatedLibrary::call(Operation operation, std::uint32_t behavior, mind::Agent& agent,
                           const std::vector<std::byte>& more, Reply& reply) {
  const std::lock_guard lock(mutex_);
  VOLVOX_ASSERT(behavior < behaviors_.size());
  if (!disabled_.empty() || behaviors_[behavior].stopped) return;
  const std::int64_t begin = platform::monotonic_ns();
  const std::string where = fmt::format("behavior '{}' of module '{}'", behaviors_[behavior].name, agent.name());
  SaveArchive ar;
  auto address = reinterpret_cast<std::uintptr_t>(&agent);  // valid there, too: the companion is a copy of this process
  std::vector<std::byte> rest = more;
  ar("operation", operation);
  ar("behavior", behavior);
  ar("agent", address);
  ar("more", rest);
  const std::size_t before_agent = ar.bytes().size();
  mind::AgentTransfer::archive(agent, ar);
  const auto answered = exchange(ar, where);
  if (!answered) return;
  LoadArchive back(*answered);
  if (!take_outcome(back, where, behaviors_[behavior].stopped)) {
    // One that threw in start has not read all its parameters, and need not: none of them is unknown.
    const auto all = mind::AgentTransfer::parameters(agent).given();
    for (const auto& [key, value] : all) mind::AgentTransfer::parameters(agent).text(key, "");
    return;
  }
  Reply given;
  bool sound = true;
  try {
    given.archive(back);
  } catch (const std::exception&) {
    sound = false;
  }
  if (!sound || !back.ok() || !mind::AgentTransfer::load(agent, back, std::span(ar.bytes()).subspan(before_agent)))
    return disable("gave a malformed answer", where);
  reply = std::move(given);
  for (const std::string& key : reply.asked) mind::AgentTransfer::parameters(agent).text(key, "");
  if (operation != Operation::start) round_trips_.add(platform::monotonic_ns() - begin);
}

// --- in the companion ---------------------------------------------------------------------------

const LoadedPlugin& IsolatedLibrary::library_here() {
  if (!loaded_) {
    auto loaded = load_plugin(file_);
    if (!loaded.ok()) throw PluginError(loaded.error().text());
    loaded_ = std::make_unique<LoadedPlugin>(std::move(*loaded));
  }
  return *loaded_;
}

Guard IsolatedLibrary::guard_here() {
  return {fmt::format("plugin '{}' ({})", facts_.name, file_.string()), library_here().library};
}

mind::Behavior& IsolatedLibrary::behavior_here(std::uint32_t number) {
  running_.resize(behaviors_.size());
  if (!running_[number])
    running_[number] = guard_here().behavior(**library_here().offered->behaviors.find(behaviors_[number].name))();
  return *running_[number];
}

std::vector<std::byte> IsolatedLibrary::answer(std::span<const std::byte> call) {
  Outcome outcome = Outcome::done;
  std::string failure;
  try {
    SaveArchive back;
    LoadArchive ar(call);
    Operation operation{};
    back("outcome", outcome);
    back("failure", failure);
    ar("operation", operation);
    if (operation == Operation::rays || operation == Operation::read) answer_sensor(operation, ar, back);
    else answer_behavior(operation, ar, back);
    return back.take();
  } catch (const BadParameters& error) {
    outcome = Outcome::bad_parameters;
    failure = error.what();
  } catch (const std::exception& error) {
    outcome = Outcome::threw;
    failure = error.what();
  }
  SaveArchive failed;
  failed("outcome", outcome);
  failed("failure", failure);
  return failed.take();
}

void IsolatedLibrary::answer_behavior(Operation operation, LoadArchive& ar, SaveArchive& back) {
  std::uint32_t number = 0;
  std::uintptr_t address = 0;
  std::vector<std::byte> more;
  ar("behavior", number);
  ar("agent", address);
  ar("more", more);
  auto& agent = *reinterpret_cast<mind::Agent*>(address);
  mind::AgentTransfer::archive(agent, ar);
  const std::size_t log_before = mind::AgentTransfer::log_lines(agent);
  Reply reply = carry_out(operation, behavior_here(number), agent, more);
  Parameters& parameters = mind::AgentTransfer::parameters(agent);
  const auto checked = parameters.check(false);
  parameters.forget_errors();
  mind::AgentTransfer::shorten_log(agent, log_before);
  if (!checked.ok()) throw BadParameters(checked.error().text());
  reply.asked.assign(parameters.asked().begin(), parameters.asked().end());
  if (running_[number]->lists_state()) {
    SaveArchive state;
    running_[number]->archive_state(state);
    reply.state = state.take();
  }
  reply.archive(back);
  mind::AgentTransfer::archive(agent, back);
}

IsolatedLibrary::Reply IsolatedLibrary::carry_out(Operation operation, mind::Behavior& behavior, mind::Agent& agent,
                                                  std::span<const std::byte> more) {
  Reply reply;
  LoadArchive ar(more);
  switch (operation) {
    case Operation::start: behavior.start(agent); break;
    case Operation::step:
      mind::AgentTransfer::call_observers(agent);
      behavior.step(agent);
      break;
    case Operation::receive: {
      mind::Message message;
      ar("message", message);
      reply.taken = behavior.receive(agent, message);
      break;
    }
    case Operation::sent: {
      mind::SendReport report;
      ar("outlet", report.outlet);
      ar("fate", report.fate);
      ar("attempts", report.attempts);
      behavior.sent(agent, report);
      break;
    }
    case Operation::end_tick: behavior.end_tick(agent); break;
    case Operation::control: {
      double step = 0;
      ar("step", step);
      behavior.control(agent, step);
      break;
    }
    case Operation::tune: {
      std::map<std::string, std::string> given;
      ar("given", given);
      Parameters& parameters = mind::AgentTransfer::parameters(agent);
      const auto before = parameters.given();
      for (const auto& [key, value] : before)
        if (!given.contains(key)) parameters.unset(key);
      for (const auto& [key, value] : given) parameters.set(key, value);
      behavior.tune(agent);
      break;
    }
    case Operation::rays:
    case Operation::read: break;  // of sensors
  }
  reply.period = behavior.period();
  reply.on_board = behavior.on_board();
  return reply;
}

}  // namespace volvox::plugin
