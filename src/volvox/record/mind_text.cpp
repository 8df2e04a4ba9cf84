#include "volvox/record/mind_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace volvox::record {
namespace {

constexpr std::size_t messages_shown = 8;  // of a mailbox
constexpr std::size_t brief = 1500;        // characters

// Writes one JSON object, member by member.
class ObjectText {
 public:
  explicit ObjectText(std::string& out) : out_(out) { out_ += '{'; }
  ~ObjectText() { out_ += '}'; }
  ObjectText(const ObjectText&) = delete;
  ObjectText& operator=(const ObjectText&) = delete;
  std::string& member(const std::string& name) {
    if (!first_) out_ += ',';
    first_ = false;
    detail::describe_text(out_, name);
    out_ += ':';
    return out_;
  }

 private:
  std::string& out_;
  bool first_ = true;
};

void describe(std::string& out, const mind::Agent& agent, std::set<std::size_t>* too_long) {
  // A value that was too long before is skipped.
  const auto add = [&](ObjectText& object, const std::string& name, std::size_t place, const auto& make) {
    if (too_long != nullptr && too_long->contains(place)) return;
    const std::string text = make();
    if (too_long != nullptr && text.size() > brief) too_long->insert(place);
    else if (!text.empty()) object.member(name) += text;
  };
  ObjectText mind(out);
  {
    mind.member("percepts");
    ObjectText percepts(out);
    for (std::size_t i = 0; i < agent.percepts().size(); ++i)
      add(percepts, agent.percepts()[i], i, [&] { return agent.percept_value(i).describe(); });
  }
  {
    mind.member("actions");
    ObjectText actions(out);
    for (std::size_t i = 0; i < agent.actions().size(); ++i)
      if (agent.action_was_set(i)) actions.member(agent.actions()[i]) += agent.action_value(i).describe();
  }
  add(mind, "knows", agent.percepts().size(), [&] {
    std::string knows;
    const std::string model = agent.describe_model();
    if (model.empty()) return knows;
    {
      ObjectText object(knows);
      detail::describe_text(object.member("type"), agent.type_of_model());
      object.member("value") += model;
    }
    return knows;
  });
  mind.member("mailbox") += '[';
  for (std::size_t i = 0; i < std::min(agent.mailbox().size(), messages_shown); ++i) {
    const mind::Message& message = agent.mailbox()[i];
    if (i > 0) out += ',';
    ObjectText object(out);
    detail::describe_text(object.member("dock"), agent.where(message));
    fmt::format_to(std::back_inserter(object.member("sent")), "{}", message.sent.seconds());
    fmt::format_to(std::back_inserter(object.member("bytes")), "{}", message.payload.size());
  }
  out += ']';
  fmt::format_to(std::back_inserter(mind.member("waiting")), "{}", agent.mailbox().size());
}

}  // namespace

void describe_mind(std::string& out, const mind::Agent& agent) { describe(out, agent, nullptr); }
void describe_mind_briefly(std::string& out, const mind::Agent& agent, std::set<std::size_t>& too_long) {
  describe(out, agent, &too_long);
}

}  // namespace volvox::record
