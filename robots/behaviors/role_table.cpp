#include "role_table.h"

#include <algorithm>

namespace volvox::robots {

void RoleTable::start(mind::Agent& agent) {
  constexpr double steps = 180;  // of a period, as in the paper
  constexpr std::string_view angle = ".angle";
  mind::RoleBook book;
  book.parent = agent.parameter("parent", "back");
  const double period = agent.parameter("period", 2.5);
  if (!(period > 0)) throw mind::AgentError("period is a time of more than 0 s");
  book.step = period / steps;
  std::map<std::string, double> delays;
  std::vector<std::string> roles = {"root"};
  for (const model::Dock& dock : agent.docks()) {
    if (dock.name == book.parent) continue;
    roles.push_back(dock.name);
    delays[dock.name] = steps * clamp(agent.parameter(dock.name + ".delay", 0.2), 0, 1);
  }
  for (const std::string& name : roles) {
    mind::Role role{name, steps, {}, delays};
    for (const std::string& percept : agent.percepts()) {
      if (!percept.ends_with(angle)) continue;
      const std::string joint = percept.substr(0, percept.size() - angle.size());
      if (std::ranges::find(agent.actions(), joint) == agent.actions().end()) continue;
      const std::string prefix = name + "." + joint;
      const double amplitude = agent.parameter(prefix + ".amplitude", 0.0);
      const double offset = agent.parameter(prefix + ".offset", 0.0), phase = agent.parameter(prefix + ".phase", 0.0);
      role.motion[joint] = [=](double t) { return offset + amplitude * volvox::sin(2 * pi * t / steps + phase); };
    }
    book.roles.push_back(std::move(role));
    if (name == "root") book.rules.push_back({{}, name, [](const mind::Situation& s) { return s.is_root(); }});
    else
      book.rules.push_back(
          {{}, name, [name, parent = book.parent](const mind::Situation& s) { return s.neighbor(parent) == name; }});
  }
  player_ = std::make_unique<mind::RolePlayer>(std::make_shared<const mind::RoleBook>(std::move(book)));
  player_->start(agent);
}

}  // namespace volvox::robots
