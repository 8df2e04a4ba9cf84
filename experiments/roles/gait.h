// The common base of the role-based control paper's gaits: lost signals, a module that fails, and the metrics. A
// world.sdf declares the parameters that it supports. SI units, world frame.
#pragma once

#include "hardware.h"
#include "synchrony.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::roles {

class Gait : public sim::Experiment {
 public:
  struct Course {                            // what the paper timed
    double distance = 0;                     // m
    double paper_time = 0, paper_speed = 0;  // s, m/s
    bool synchronising = false;              // the time includes synchronization
    std::string source;
  };
  Gait(mind::RoleBook book, Course course) : course_(std::move(course)), synchrony_(std::move(book)) {}

  Result<model::WorldModel> init(sim::Setup& setup) override;
  void begin(const sim::Simulation& simulation) override;
  void before_tick(sim::Simulation& simulation) override;
  void observe(const sim::Simulation& simulation) override;
  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override;
  void archive_state(Archive& ar) override;

 protected:
  virtual Result<model::WorldModel> make_world(sim::Setup& setup) { return Experiment::init(setup); }
  void watch(mind::RoleBook book) { synchrony_ = Synchrony(std::move(book)); }

 private:
  Course course_;
  Hardware hardware_;
  Synchrony synchrony_;
  // From the world's parameters.
  double settle_ = 5;                                    // s, before the speed is measured
  double dead_ = -1, dead_at_ = 0;                       // index of a module that fails (negative: none); s
  double silent_ = -1, silent_at_ = 0, silent_for_ = 0;  // index of a module that sends nothing for a while; s
  bool speaks_ = true;
  Vec3 start_, settled_;                      // centre of mass at the start of the course, and at settle_
  double started_at_ = -1, covered_at_ = -1;  // s, start and end of the course; negative: not yet
};

}  // namespace volvox::experiments::roles
