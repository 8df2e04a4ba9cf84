// A robot alone, without physics: its joints follow sliders, its docks have labels, and a second
// copy docks where a person tries it.
#pragma once

#include <atomic>

#include "volvox/model/module_model.h"
#include "volvox/view/web/viewer.h"

namespace volvox::view {

class ViewedRobot {
 public:
  static Result<std::unique_ptr<ViewedRobot>> create(Viewer& viewer, std::shared_ptr<const model::ModuleModel> robot);
  void loop(const std::atomic<bool>& stop);

 private:
  ViewedRobot(Viewer& viewer, std::shared_ptr<const model::ModuleModel> robot)
      : viewer_(viewer), robot_(std::move(robot)) {}
  Result<void> introduce();
  void handle(const Command& command);
  void show();
  // Where the second copy stands; and what to tell the person about it.
  Pose place_copy(std::string& says, bool& docked) const;

  Viewer& viewer_;
  std::shared_ptr<const model::ModuleModel> robot_;
  std::vector<double> positions_[2];  // of the joints of the robot and of its copy
  int dock_[2] = {-1, -1};            // that are tried: of the robot, of the copy; -1: none
  int turn_ = 0;
  double apart_ = 0.3;  // m, between the two while they are not docked
};

}  // namespace volvox::view
