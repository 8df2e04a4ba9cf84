#include "volvox/sim/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "volvox/base/index.h"
#include "volvox/base/parse.h"
#include "volvox/mind/actuator.h"
#include "volvox/sim/simulation.h"

namespace volvox::sim {
namespace {

constexpr double largest_force = 1e6;  // N; larger forces by mistake would end the run
constexpr double farthest = 1e6;       // m and m/s; beyond it numbers lose the precision of a millimetre
// In the order of the variant.
constexpr const char* kinds[] = {"parameter", "joint", "dock", "push", "percept", "pose", "tap", "action"};
constexpr const char* controls[] = {"off", "position", "velocity", "torque"};  // in the order of physics::Control
constexpr std::size_t widest_action = 3;

std::string pose_text(const PoseInput& input) {
  const auto& [p, q] = input.pose;
  std::string text = fmt::format("{} {} {} {} {} {} {}", p.x, p.y, p.z, q.x, q.y, q.z, q.w);
  if (input.velocity) {
    const auto& [v, w] = *input.velocity;
    text += fmt::format(" {} {} {} {} {} {}", v.x, v.y, v.z, w.x, w.y, w.z);
  }
  return text;
}

Error not_a_pose(const std::string& text) {
  return Error(fmt::format("'{}' is not a pose", text),
               "give x y z in m and a unit quaternion qx qy qz qw, and optionally six velocities");
}

Result<Input> parse_pose(const InputRecord& record) {
  std::array<double, 13> n{};
  std::size_t count = 0;
  const char* at = record.text.c_str();
  for (char* end = nullptr; count < n.size(); at = end) {
    const double value = std::strtod(at, &end);
    if (end == at) break;
    n[count++] = value;
  }
  if (at[std::strspn(at, " ")] != 0 || (count != 7 && count != 13)) return not_a_pose(record.text);
  PoseInput input{record.module, {{n[0], n[1], n[2]}, {n[6], n[3], n[4], n[5]}}};
  if (count == 13) input.velocity = {{n[7], n[8], n[9]}, {n[10], n[11], n[12]}};
  return Input(std::move(input));
}

std::string actions_text(const ActionInput& input) {
  std::string text = fmt::format("{} {}", controls[number_of(input.control)], input.width);
  for (std::size_t k = 0; k < input.agents.size(); ++k) {
    fmt::format_to(std::back_inserter(text), " {} {}", input.agents[k], input.actions[k]);
    for (std::size_t i = 0; i < input.width; ++i)
      fmt::format_to(std::back_inserter(text), " {}", input.values[k * input.width + i]);  // the same bits when read
  }
  return text;
}

Error not_actions() {
  return Error("an input of kind 'action' cannot be read",
               "give CONTROL WIDTH, and for each action AGENT ACTION and its values");
}

Result<Input> parse_actions(const std::string& text) {
  ActionInput input;
  std::string_view rest = text;
  const auto word = [&] {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const std::string_view found = rest.substr(0, rest.find(' '));
    rest.remove_prefix(found.size());
    return found;
  };
  const auto read = [&](auto& number) {
    const auto value = to_number<std::remove_reference_t<decltype(number)>>(word());
    if (value) number = *value;
    return value.has_value();
  };
  const auto control = std::find(std::begin(controls), std::end(controls), word());
  if (control == std::end(controls) || !read(input.width) || input.width < 1 || input.width > widest_action)
    return not_actions();
  input.control = static_cast<physics::Control>(control - std::begin(controls));
  while (rest.find_first_not_of(' ') != std::string_view::npos) {
    if (!read(input.agents.emplace_back()) || !read(input.actions.emplace_back())) return not_actions();
    for (std::size_t i = 0; i < input.width; ++i)
      if (!read(input.values.emplace_back())) return not_actions();
  }
  return Input(std::move(input));
}

std::size_t width_of(const Value& action) {
  if (action.get<mind::JointCommand>() != nullptr || action.get<double>() != nullptr || action.get<bool>() != nullptr)
    return 1;
  return action.get<Vec3>() != nullptr || action.get<mind::Light>() != nullptr ? 3 : 0;
}

void set_action(mind::Agent& agent, std::size_t index, physics::Control control, const double* row) {
  const Value& value = agent.action_value(index);
  const int i = narrow<int>(index);
  if (value.get<mind::JointCommand>() != nullptr)
    agent.act(mind::Action<mind::JointCommand>{i}, mind::JointCommand{control, *row});
  else if (value.get<bool>() != nullptr) agent.act(mind::Action<bool>{i}, *row != 0);
  else if (value.get<double>() != nullptr) agent.act(mind::Action<double>{i}, *row);
  else if (value.get<Vec3>() != nullptr) agent.act(mind::Action<Vec3>{i}, Vec3{row[0], row[1], row[2]});
  else agent.act(mind::Action<mind::Light>{i}, mind::Light{row[0], row[1], row[2]});
}

struct ToRecord {
  InputRecord& record;
  void operator()(const ParameterInput& i) { record.name = i.parameter, record.text = i.value; }
  void operator()(const JointInput& i) { record.name = i.joint, record.value = i.position; }
  void operator()(const DockInput& i) { record.name = i.dock, record.value = i.enabled ? 1 : 0; }
  void operator()(const PushInput& i) { record.name = i.link, record.force = i.force; }
  void operator()(const PerceptInput& i) { record.name = i.sensor, record.value = i.value; }
  void operator()(const PoseInput& i) { record.text = pose_text(i); }
  void operator()(const TapInput& i) { record.value = i.item; }
  void operator()(const ActionInput& i) { record.text = actions_text(i); }
};

// The index of the first element of this name; negative if there is none.
template <class Named>
int find(const std::vector<Named>& list, const std::string& name) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name) return narrow<int>(i);
  return -1;
}

Error no_such(const std::string& module, const char* what, const std::string& name) {
  return Error(fmt::format("module '{}' has no {} '{}'", module, what, name), "choose one that it has");
}

Error out_of_bounds(const char* kind) {
  return Error(fmt::format("an input of kind '{}' holds a number that is out of bounds", kind),
               "give finite numbers, and a force of at most 1e6 N");
}

class Apply {
 public:
  explicit Apply(Simulation& simulation)
      : simulation_(simulation), world_(simulation.world()), minds_(simulation.minds()) {}

  Result<void> operator()(const TapInput& input) {
    if (simulation_.tap(input.item)) return {};
    return Error(fmt::format("item {} cannot be tapped in this run", input.item),
                 "tap a catom of a program that feels it");
  }

  Result<void> operator()(const ParameterInput& input) {
    bool found = false;
    for (std::size_t i = 0; i < minds_.size(); ++i)
      if (input.module.empty() || minds_.agent(i).name() == input.module)
        found = minds_.tune(i, input.parameter, input.value) || found;
    if (!found)
      return Error(
          fmt::format("no behavior has a parameter '{}' that takes the value '{}'", input.parameter, input.value),
          "choose one that it has");
    return {};
  }

  Result<void> operator()(const PerceptInput& input) {
    if (!std::isfinite(input.value)) return out_of_bounds("percept");
    for (std::size_t i = 0; i < minds_.size(); ++i)
      if (minds_.agent(i).name() == input.module && minds_.agent(i).set_external(input.sensor, input.value)) return {};
    return no_such(input.module, "sensor of type external named", input.sensor);
  }

  Result<void> operator()(const JointInput& input) {
    if (!std::isfinite(input.position)) return out_of_bounds("joint");
    const auto placement = placement_of(input.module);
    if (!placement.ok()) return placement.error();
    const model::ModuleModel& module = world_.module_model(*placement);
    const int joint = find(module.joints, input.joint);
    if (joint < 0 || !module.joints[joint].motor) return no_such(input.module, "motor", input.joint);
    world_.command(world_.part(*placement).first_joint + joint, physics::Control::position, input.position);
    return {};
  }

  Result<void> operator()(const DockInput& input) {
    const auto placement = placement_of(input.module);
    if (!placement.ok()) return placement.error();
    const int dock = find(world_.module_model(*placement).docks, input.dock);
    if (dock < 0) return no_such(input.module, "dock", input.dock);
    world_.enable_dock(world_.part(*placement).first_dock + dock, input.enabled);
    return {};
  }

  Result<void> operator()(const PushInput& input) {
    if (!finite(input.force) || length(input.force) > largest_force) return out_of_bounds("push");
    const auto placement = placement_of(input.module);
    if (!placement.ok()) return placement.error();
    const int link = input.link.empty() ? 0 : find(world_.module_model(*placement).links, input.link);
    if (link < 0) return no_such(input.module, "link", input.link);
    world_.push(world_.part(*placement).first_link + link, Wrench{input.force, {}});
    return {};
  }

  Result<void> operator()(const ActionInput& input) {
    const std::size_t count = input.agents.size();
    if (input.actions.size() != count || input.values.size() != count * input.width) return not_actions();
    for (const double value : input.values)
      if (!std::isfinite(value)) return out_of_bounds("action");
    for (std::size_t k = 0; k < count; ++k) {
      if (input.agents[k] >= minds_.size())
        return Error(fmt::format("there is no module {}", input.agents[k]),
                     fmt::format("this world has {} modules", minds_.size()));
      const mind::Agent& agent = minds_.agent(input.agents[k]);
      if (input.actions[k] >= agent.actions().size())
        return Error(fmt::format("module '{}' has no action {}", agent.name(), input.actions[k]),
                     fmt::format("it has: {}", fmt::join(agent.actions(), ", ")));
      if (const std::size_t wanted = width_of(agent.action_value(input.actions[k])); wanted != input.width)
        return Error(fmt::format("the action '{}' of module '{}' takes {} number(s), and was given {}",
                                 agent.actions()[input.actions[k]], agent.name(), wanted, input.width),
                     wanted == 0 ? "this action can only be given by a behavior" : "give as many numbers as it takes");
    }
    for (std::size_t k = 0; k < count; ++k)
      set_action(minds_.agent(input.agents[k]), input.actions[k], input.control, &input.values[k * input.width]);
    return {};
  }

  Result<void> operator()(const PoseInput& input) {
    const auto placement = placement_of(input.module);
    if (!placement.ok()) return placement.error();
    if (!world_.module_model(*placement).driven)
      return Error(fmt::format("module '{}' is not driven from outside", input.module),
                   "give its model <volvox:driven/>");
    const Twist velocity = input.velocity.value_or(Twist{});
    const auto& [p, q] = input.pose;
    const auto bounded = [](const Vec3& v) {  // false for NaN
      return std::fabs(v.x) <= farthest && std::fabs(v.y) <= farthest && std::fabs(v.z) <= farthest;
    };
    const double norm = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    if (!bounded(p) || !bounded(velocity.linear) || !bounded(velocity.angular) || !(std::fabs(norm - 1) < 1e-3))
      return not_a_pose(pose_text(input));
    world_.place_link(world_.part(*placement).first_link, {p, normalized(q)}, velocity);
    return {};
  }

 private:
  Result<world::PlacementIndex> placement_of(const std::string& module) const {
    for (world::PlacementIndex p = 0; p < world_.placements(); ++p)
      if (world_.name(p) == module) return p;
    return Error(fmt::format("there is no module '{}'", module), "choose one of this world");
  }

  Simulation& simulation_;
  world::World& world_;
  mind::Minds& minds_;
};

}  // namespace

const std::string& module_of(const Input& input) {
  static const std::string none;
  return std::visit(
      [](const auto& i) -> const std::string& {
        if constexpr (requires { i.module; }) return i.module;
        else return none;
      },
      input);
}

InputRecord record_of(const Input& input) {
  InputRecord record{kinds[input.index()], module_of(input), {}, {}, 0, {}};
  std::visit(ToRecord{record}, input);
  return record;
}

Result<Input> input_of(const InputRecord& r) {
  if (!std::isfinite(r.value) || !finite(r.force)) return out_of_bounds(r.kind.c_str());
  if (r.kind == "parameter") return Input(ParameterInput{r.module, r.name, r.text});
  if (r.kind == "joint") return Input(JointInput{r.module, r.name, r.value});
  if (r.kind == "dock") return Input(DockInput{r.module, r.name, r.value != 0});
  if (r.kind == "push") return Input(PushInput{r.module, r.name, r.force});
  if (r.kind == "percept") return Input(PerceptInput{r.module, r.name, r.value});
  if (r.kind == "pose") return parse_pose(r);
  if (r.kind == "action") return parse_actions(r.text);
  if (r.kind == "tap" && r.value >= 0 && r.value <= UINT32_MAX)
    return Input(TapInput{truncated<std::uint32_t>(r.value)});
  return Error(fmt::format("there is no input of kind '{}'", r.kind),
               "use parameter, joint, dock, push, percept, pose, action or tap (of an item from 0 on)");
}

Result<void> apply_input(const Input& input, Simulation& simulation) { return std::visit(Apply(simulation), input); }

}  // namespace volvox::sim
