#include "volvox/device/targets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "volvox/base/index.h"

namespace volvox::device {
namespace {

// Splits "module.name factor". Names of percepts may contain dots, names of modules here may not.
struct Words {
  std::string module, name;
  double scale = 1;

  static Result<Words> parse(const std::string& text) {
    const auto bad = [&] {
      return Error(fmt::format("'{}' is not MODULE.NAME or MODULE.NAME FACTOR", text),
                   "write it as rover.stick_x or rover.neck 1.57");
    };
    Words words;
    const auto space = text.find(' '), dot = text.find('.');
    if (dot == std::string::npos || dot == 0 || dot + 1 >= std::min(space, text.size())) return bad();
    words.module = text.substr(0, dot);
    words.name = text.substr(dot + 1, space == std::string::npos ? space : space - dot - 1);
    if (space == std::string::npos) return words;
    char* end = nullptr;
    words.scale = std::strtod(text.c_str() + space, &end);
    if (end == text.c_str() + space || *end != 0 || !std::isfinite(words.scale)) return bad();
    return words;
  }
};

Result<std::size_t> find_agent(const std::string& module, const sim::Simulation& simulation) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < simulation.minds().size(); ++i) {
    names.push_back(simulation.minds().agent(i).name());
    if (names.back() == module) return i;
  }
  const std::string nearest = nearest_name(module, names);
  return Error(fmt::format("there is no module '{}'", module),
               nearest.empty() ? "choose one of this world" : fmt::format("did you mean '{}'?", nearest));
}

}  // namespace

Result<Target> Target::find(const std::string& text, const sim::Simulation& simulation) {
  const auto words = Words::parse(text);
  if (!words.ok()) return words.error();
  const auto agent = find_agent(words->module, simulation);
  if (!agent.ok()) return agent.error();
  const model::ModuleModel& model = simulation.world().module_model(simulation.minds().agent(*agent).placement());
  std::vector<std::string> there;
  for (const model::Sensor& sensor : model.sensors)
    if (sensor.type == "external") there.push_back(sensor.name);
  const std::size_t percepts = there.size();
  for (const model::Joint& joint : model.joints)
    if (joint.motor) there.push_back(joint.name);
  const auto found = std::find(there.begin(), there.end(), words->name);
  if (found == there.end())
    return Error(fmt::format("module '{}' has neither a sensor of type external nor a motor named '{}'", words->module,
                             words->name),
                 fmt::format("choose one of: {}", fmt::join(there, ", ")));
  return Target{std::cmp_less(found - there.begin(), percepts), words->module, words->name, words->scale};
}

Result<Source> Source::find(const std::string& text, const sim::Simulation& simulation) {
  const auto words = Words::parse(text);
  if (!words.ok()) return words.error();
  const auto agent = find_agent(words->module, simulation);
  if (!agent.ok()) return agent.error();
  const std::vector<std::string>& percepts = simulation.minds().agent(*agent).percepts();
  const auto found = std::find(percepts.begin(), percepts.end(), words->name);
  if (found == percepts.end())
    return Error(fmt::format("module '{}' has no percept '{}'", words->module, words->name),
                 fmt::format("choose one of: {}", fmt::join(percepts, ", ")));
  return Source{*agent, narrow<std::size_t>(found - percepts.begin()), words->module + "." + words->name, words->scale};
}

double Source::number(const sim::Simulation& simulation) const {
  std::optional<double> first;
  const_cast<Value&>(value(simulation)).each_number([&](double& x) {
    if (!first) first = x;
  });
  return scale * first.value_or(0);
}

}  // namespace volvox::device
