// What the gaits of seed 004 share: signals that get lost, a module whose power fails, and what is
// measured. Each world.sdf declares those of these parameters that it has.
#pragma once

#include "synchrony.h"
#include "volvox/sim/experiment.h"

namespace volvox::experiments::roles {

class Gait : public sim::Experiment {
 public:
  struct Course {                            // what the paper timed
    double distance = 0;                     // m
    double paper_time = 0, paper_speed = 0;  // s, m/s
    bool synchronising = false;              // the time that it takes to find into step counts
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
  Synchrony synchrony_;
  // What the world's parameters say.
  double settle_ = 5;                                    // s, before the speed is measured
  double dead_ = -1, dead_at_ = 0;                       // a module (negative: none) whose power fails, s
  double silent_ = -1, silent_at_ = 0, silent_for_ = 0;  // and one that says nothing for a while
  bool speaks_ = true;
  Vec3 start_, settled_;                      // where the centre of mass was
  double started_at_ = -1, covered_at_ = -1;  // s: when the course was begun and covered
};

}  // namespace volvox::experiments::roles
