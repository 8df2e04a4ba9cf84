#include "volvox/mind/agent.h"

#include <algorithm>

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
int Agent::dock_index(std::string_view name) const { return find_or_throw(anatomy_->docks, name, "dock"); }

void Agent::wrong_type(const char* kind, std::string_view name, const Value& value, const std::string& wanted) {
  throw AgentError(fmt::format("its {} '{}' is of type {}, not {}", kind, name, value.type()->name, wanted));
}

std::optional<Message> Agent::read() {
  if (mailbox_.empty()) return std::nullopt;
  Message message = std::move(mailbox_.front());
  mailbox_.erase(mailbox_.begin());
  return message;
}

std::optional<Message> Agent::read(std::string_view dock) {
  const int index = dock_index(dock);
  const auto it = std::find_if(mailbox_.begin(), mailbox_.end(), [&](const Message& m) { return m.dock == index; });
  if (it == mailbox_.end()) return std::nullopt;
  Message message = std::move(*it);
  mailbox_.erase(it);
  return message;
}

const Agent& Agent::look_at(std::size_t module) const {
  if (everyone_ == nullptr)
    throw AgentError("it looked at another module's percepts; only a behavior whose omniscient() returns true may");
  if (module >= everyone_->size())
    throw AgentError(fmt::format("there is no module {}; there are {}", module, everyone_->size()));
  return (*everyone_)[module];
}

std::size_t Agent::module_count() const {
  if (everyone_ == nullptr)
    throw AgentError("it counted the other modules; only a behavior whose omniscient() returns true may");
  return everyone_->size();
}

}  // namespace volvox::mind
