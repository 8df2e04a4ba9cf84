#include "volvox/mind/agent.h"

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/base/index.h"

namespace volvox::mind {
namespace {

int find_or_throw(const NameIndex& names, std::string_view name, const char* kind) {
  if (const auto it = names.find(name); it != names.end()) return it->second;
  std::vector<std::string> known;
  for (const auto& [n, i] : names) known.push_back(n);
  std::sort(known.begin(), known.end());
  const std::string nearest = nearest_name(std::string(name), known);
  throw AgentError(fmt::format("it has no {} named '{}'; {}", kind, name,
                               nearest.empty() ? fmt::format("there are: {}", fmt::join(known, ", "))
                                               : fmt::format("did you mean '{}'?", nearest)));
}

}  // namespace

int Agent::percept_index(std::string_view name) const { return find_or_throw(anatomy_->percepts, name, "percept"); }
int Agent::action_index(std::string_view name) const { return find_or_throw(anatomy_->actions, name, "action"); }
int Agent::outlet_index(std::string_view name) const {
  const bool only_docks = anatomy_->outlet_names.size() == docks().size();
  return find_or_throw(anatomy_->outlets, name, only_docks ? "dock" : "dock, radio or bus");
}

void Agent::wrong_type(const char* kind, std::string_view name, const Value& value, const std::string& wanted) {
  throw AgentError(fmt::format("its {} '{}' is of type {}, not {}", kind, name, value.type()->name, wanted));
}

int Agent::owner_of(MailboxNumber mailbox) const {
  if (mailbox == 0) return 0;
  for (const OpenMailbox& open : open_)
    if (open.number == mailbox) return narrow<int>(open.program);
  return -1;
}

void Agent::open(MailboxNumber mailbox) {
  VOLVOX_ASSERT(running_ < programs_.size());
  if (mailbox > largest_mailbox)
    throw AgentError(fmt::format("it opened mailbox {}; the largest number is {}", mailbox, largest_mailbox));
  const int owner = owner_of(mailbox);
  if (owner == narrow<int>(running_)) return;
  if (owner >= 0) throw AgentError(fmt::format("it opened mailbox {}, which is another behavior's", mailbox));
  open_.push_back({mailbox, narrow<std::uint32_t>(running_)});
}

void Agent::put(int outlet, Payload payload, const SendOptions& options) {
  VOLVOX_ASSERT(outlet >= 0 && outlet < std::ssize(anatomy_->outlet_names));
  if (options.mailbox > largest_mailbox)
    throw AgentError(fmt::format("it sent to mailbox {}; the largest number is {}", options.mailbox, largest_mailbox));
  outbox_.push_back({outlet, std::move(payload), options});
}

// Takes the oldest of this behaviour's messages that `wanted` accepts.
template <class Wanted>
std::optional<Message> Agent::take(Wanted&& wanted) {
  const auto it = std::find_if(mailbox_.begin(), mailbox_.end(), [&](const Message& m) {
    return wanted(m) && owner_of(m.mailbox) == narrow<int>(running_);
  });
  if (it == mailbox_.end()) return std::nullopt;
  Message message = std::move(*it);
  mailbox_.erase(it);
  return message;
}

std::optional<Message> Agent::read() {
  return take([](const Message&) { return true; });
}

std::optional<Message> Agent::read(std::string_view outlet) {
  const int index = outlet_index(outlet);
  return take([index](const Message& m) { return m.outlet == index; });
}

std::optional<Message> Agent::read(MailboxNumber mailbox) {
  return take([mailbox](const Message& m) { return m.mailbox == mailbox; });
}

std::size_t Agent::waiting() const {
  return std::count_if(mailbox_.begin(), mailbox_.end(),
                       [&](const Message& m) { return owner_of(m.mailbox) == narrow<int>(running_); });
}

std::map<std::string, std::string> Agent::behavior_parameters() const {
  std::map<std::string, std::string> all;
  for (const Program& p : programs_) {
    const auto& given = p.parameters.given();
    for (const auto& [name, usual] : p.parameters.defaults())
      all.emplace(name, given.contains(name) ? given.at(name) : usual);
  }
  return all;
}

bool Agent::set_external(std::string_view percept, double value) {
  for (std::size_t i = 0; i < anatomy_->percept_names.size(); ++i) {
    const bool external =
        std::any_of(anatomy_->model->sensors.begin(), anatomy_->model->sensors.end(),
                    [&](const model::Sensor& s) { return s.name == percept && s.type == "external"; });
    double* reading = anatomy_->percept_names[i] == percept && external ? percepts_[i].get<double>() : nullptr;
    if (reading == nullptr) continue;
    *reading = value;
    return true;
  }
  return false;
}

Extension* Agent::find_extension(std::string_view name) const {
  if (Extension* known = extensions_ == nullptr ? nullptr : extensions_->find(name)) return known;
  std::string all;
  if (extensions_ != nullptr)
    for (const std::string& known : extensions_->names()) all += (all.empty() ? "" : ", ") + known;
  throw AgentError(
      fmt::format("the run has no extension '{}'; {}", name, all.empty() ? "it has none at all" : "it has " + all));
}

const Agent& Agent::look_at(std::size_t module) const {
  if (!sees_all())
    throw AgentError("it looked at another module's percepts; only a behavior whose omniscient() returns true may");
  if (module >= everyone_->size())
    throw AgentError(fmt::format("there is no module {}; there are {}", module, everyone_->size()));
  return (*everyone_)[module];
}

std::size_t Agent::module_count() const {
  if (!sees_all())
    throw AgentError("it counted the other modules; only a behavior whose omniscient() returns true may");
  return everyone_->size();
}

}  // namespace volvox::mind
