#include "clamp_on.h"

#include <algorithm>
#include <cmath>

namespace volvox::robots {
namespace {

constexpr double near = 0.055, far = 0.0;       // m along x: 5 mm before the socket, and off it
constexpr double patience = 1.5;                // s, to be captured
constexpr double bears = 0.001, turns = 0.035;  // m, rad: what the jaws bear askew, as their latch has it
constexpr double pull_rate = 4;                 // N/s
constexpr double there = 1e-3;                  // m, rad
constexpr double missed = 20;                   // multiples, of a socket that was not captured

}  // namespace

void ClampOn::start(mind::Agent& agent) {
  const double error = agent.parameter("error", 0.006), turned = agent.parameter("turned", 0.15);
  best_ = aim_ = {agent.random().uniform(-error, error), agent.random().uniform(-turned, turned)};
}

void ClampOn::archive_state(Archive& ar) {
  ar("stage", stage_);
  ar("since", since_);
  for (Aim* aim : {&aim_, &best_}) {
    ar("y", aim->y);
    ar("yaw", aim->yaw);
  }
  ar("best misfit", best_misfit_);
  if (ar.loading() && stage_ > Stage::done) ar.fail("a hand is in no stage");
}

void ClampOn::go(Stage stage, const mind::Agent& agent) {
  stage_ = stage;
  since_ = agent.time();
}

// A place nearby, as near as the best is good.
void ClampOn::judge(mind::Agent& agent, double misfit) {
  if (best_misfit_ == 0 || misfit < best_misfit_) best_ = aim_, best_misfit_ = misfit;
  const double reach = std::min(best_misfit_, 8.0);
  RandomStream& random = agent.random();
  aim_.y = best_.y + random.uniform(-1, 1) * reach * bears;
  aim_.yaw = best_.yaw + random.uniform(-1, 1) * reach * turns;
}

void ClampOn::step(mind::Agent& agent) {
  const mind::DockState& dock = agent.dock("jaws");
  const mind::LatchState& latch = agent.percept<mind::LatchState>("jaws.latch");
  agent.move_to("y", aim_.y);
  agent.move_to("yaw", aim_.yaw);
  const double waited = agent.time() - since_;
  switch (stage_) {
    case Stage::leaving:
      agent.move_to("x", far);
      agent.enable_dock("jaws", false);
      if (std::fabs(agent.angle("x") - far) < there && std::fabs(agent.angle("y") - aim_.y) < there &&
          std::fabs(agent.angle("yaw") - aim_.yaw) < 5 * there && latch.opening >= 1)
        go(Stage::approaching, agent);
      break;
    case Stage::approaching:
      agent.move_to("x", near);
      agent.enable_dock("jaws");
      if (dock.latching) go(Stage::closing, agent);
      else if (waited > patience) judge(agent, missed), go(Stage::leaving, agent);
      break;
    case Stage::closing:
      agent.move_to("x", agent.angle("x"));
      if (dock.engaged) {
        agent.log("closed");
        go(Stage::pulling, agent);
      } else if (latch.jammed) {
        agent.log("jammed, {:.2f} open", latch.opening);
        judge(agent, 1 / (1 - latch.opening));
        go(Stage::opening, agent);
      } else if (!dock.latching) {
        go(Stage::leaving, agent);
      }
      break;
    case Stage::opening:
      // The old place until they are open: to turn in jaws that are jammed would tear at them.
      agent.move_to("x", agent.angle("x"));
      agent.move_to("y", agent.angle("y"));
      agent.move_to("yaw", agent.angle("yaw"));
      agent.enable_dock("jaws", false);
      if (!dock.latching && !dock.engaged) go(Stage::leaving, agent);
      break;
    case Stage::pulling:
      agent.push("x", -pull_rate * waited);
      if (!dock.engaged) {
        agent.log("slipped");
        go(Stage::done, agent);
      }
      break;
    case Stage::done:
      agent.move_to("x", far);
      agent.enable_dock("jaws", false);
      break;
  }
}

}  // namespace volvox::robots
