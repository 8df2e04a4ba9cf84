// Shows one robot in the viewer, without physics: its joints follow sliders, its docks have labels, and a
// second copy is docked to the dock that a person selects. `loop` runs on the caller's thread.
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
  // The pose of the second copy; `says` becomes the text that explains it to the person.
  Pose place_copy(std::string& says, bool& docked) const;

  Viewer& viewer_;
  std::shared_ptr<const model::ModuleModel> robot_;
  std::vector<double> positions_[2];  // of the joints of the robot and of its copy
  int dock_[2] = {-1, -1};            // the selected docks of the robot and of its copy; -1: none
  int turn_ = 0;                      // the angle of docking, of Dock::symmetry
  double apart_ = 0.3;                // m, between the two while they are not docked
};

}  // namespace volvox::view
