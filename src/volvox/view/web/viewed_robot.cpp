#include "volvox/view/web/viewed_robot.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "volvox/model/world_builder.h"
#include "volvox/physics/engine.h"
#include "volvox/world/world.h"

namespace volvox::view {
using nlohmann::json;

Result<std::unique_ptr<ViewedRobot>> ViewedRobot::create(Viewer& viewer,
                                                         std::shared_ptr<const model::ModuleModel> robot) {
  std::unique_ptr<ViewedRobot> viewed(new ViewedRobot(viewer, std::move(robot)));
  if (auto introduced = viewed->introduce(); !introduced.ok()) return introduced.error();
  return viewed;
}

Result<void> ViewedRobot::introduce() {
  for (auto& positions : positions_) positions.assign(robot_->joints.size(), 0);
  const model::Bounds box = model::bounds(*robot_, model::forward_kinematics(*robot_, positions_[0]));
  if (!box.empty()) apart_ = 1.5 * (box.high.y - box.low.y) + 0.05;
  // The world is made only for its render tree; poses come from kinematics.
  model::WorldBuilder builder(robot_->name);
  for (const char* name : {"robot", "copy"}) builder.add(robot_, Pose{}, name, {});
  auto built = builder.build();
  if (!built.ok()) return built.error();
  auto engine = physics::built_in_engines().make("none", {});
  if (!engine.ok()) return engine.error();
  auto world = world::World::create(std::make_shared<const model::WorldModel>(std::move(*built)), std::move(*engine));
  if (!world.ok()) return world.error();

  json hello = {{"type", "hello"}, {"mode", "robot"}, {"name", robot_->name}, {"dt", 1}, {"ticks", 0}, {"modules", 2}};
  hello["joints"] = json::array();
  for (const model::Joint& joint : robot_->joints) {
    const bool moves = joint.type == model::JointType::revolute || joint.type == model::JointType::prismatic;
    const double span =
        joint.type == model::JointType::revolute ? pi : 0.1;  // range of the slider of a joint without limits
    hello["joints"].push_back({{"name", joint.name},
                               {"moves", moves},
                               {"lower", std::max(joint.lower, -span)},
                               {"upper", std::min(joint.upper, span)},
                               {"unit", joint.type == model::JointType::prismatic ? "m" : "rad"}});
  }
  hello["docks"] = json::array();
  for (const model::Dock& dock : robot_->docks)
    hello["docks"].push_back({{"name", dock.name},
                              {"gender", dock.gender == model::Gender::male     ? "male"
                                         : dock.gender == model::Gender::female ? "female"
                                                                                : "both"},
                              {"kind", dock.kind},
                              {"symmetry", dock.symmetry},
                              {"link", robot_->links[dock.link].name}});
  viewer_.set_tree(hello, encode_tree(RenderTree::of(**world)));
  return {};
}

Pose ViewedRobot::place_copy(std::string& says, bool& docked) const {
  const Pose aside{{0, apart_, 0}, {}};
  docked = false;
  if (dock_[0] < 0 || dock_[1] < 0) return aside;
  const model::Dock& a = robot_->docks[dock_[0]];
  const model::Dock& b = robot_->docks[dock_[1]];
  if (!model::fit(a, b)) {
    says =
        a.kind != b.kind
            ? fmt::format("'{}' is a dock of kind {}, '{}' of kind {}: they do not fit", a.name, a.kind, b.name, b.kind)
        : a.symmetry != b.symmetry ? fmt::format("'{}' engages at {} angles, '{}' at {}: they do not fit", a.name,
                                                 a.symmetry, b.name, b.symmetry)
                                   : fmt::format("'{}' and '{}' have the same gender: they do not fit", a.name, b.name);
    return aside;
  }
  docked = true;
  says = fmt::format("'{}' holds '{}' of the copy, turn {}", a.name, b.name, turn_);
  const Pose dock_a = model::forward_kinematics(*robot_, positions_[0])[a.link] * a.pose;
  const Pose dock_b = model::forward_kinematics(*robot_, positions_[1])[b.link] * b.pose;
  return dock_a * model::engaged_dock(a.symmetry, turn_) * dock_b.inverse();
}

void ViewedRobot::show() {
  Frame frame;
  std::string says;
  bool docked = false;
  const Pose placed[2] = {Pose{}, place_copy(says, docked)};
  for (int i = 0; i < 2; ++i)
    for (const Pose& link : model::forward_kinematics(*robot_, positions_[i]))
      frame.links.push_back(to_link_pose(placed[i] * link));
  for (int i = 0; i < 2; ++i) {
    const std::size_t first = frame.docks.size();
    frame.docks.resize(first + robot_->docks.size(), DockView{DockView::enabled, 0});
    if (docked) frame.docks[first + dock_[i]].flags |= DockView::engaged;
  }
  viewer_.publish(encode_frame(frame));
  viewer_.tell({{"type", "state"},
                {"tick", 0},
                {"time", 0},
                {"paused", true},
                {"ended", false},
                {"failure", ""},
                {"speed", 1},
                {"docking", says},
                {"docked", docked}});
}

void ViewedRobot::handle(const Command& command) {
  const json& what = *command.what;
  const auto number = [&](const char* key, double fallback) {
    return what.contains(key) && what[key].is_number() ? what[key].get<double>() : fallback;
  };
  const auto index = [&](const char* key, std::size_t size) {
    return truncated(std::clamp(number(key, -1), -1.0, real(size) - 1));
  };
  if (what["type"] == "joint") {
    const int joint = index("joint", robot_->joints.size());
    const bool copy = number("robot", 0) != 0;
    if (joint < 0) return;
    const model::Joint& limits = robot_->joints[joint];
    positions_[copy][joint] =
        std::clamp(number("position", 0), std::max(limits.lower, -1e3), std::min(limits.upper, 1e3));
  } else if (what["type"] == "dock") {
    dock_[0] = index("a", robot_->docks.size());
    dock_[1] = index("b", robot_->docks.size());
    turn_ = truncated(std::clamp(number("turn", 0), 0.0, 1000.0));
    if (dock_[0] >= 0) turn_ %= std::max(1, robot_->docks[dock_[0]].symmetry);
  }
}

void ViewedRobot::loop(const std::atomic<bool>& stop) {
  while (!stop) {
    const std::vector<Command> commands = viewer_.take_commands();
    for (const Command& command : commands) handle(command);
    if (!viewer_.take_newcomers().empty() || !commands.empty()) show();
    viewer_.take_left();
    viewer_.wait_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(100));
  }
}

}  // namespace volvox::view
