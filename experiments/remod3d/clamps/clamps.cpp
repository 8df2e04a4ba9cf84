#include <algorithm>

#include "experiments.h"
#include "volvox/base/index.h"
#include "volvox/physics/joint_friction.h"
#include "volvox/sim/experiment.h"
#include "volvox/world/latches.h"

namespace volvox::experiments::remod3d {
namespace {

// The ReMod3D paper's future work: docks with actuated clamps.
class Clamps final : public sim::Experiment {
 public:
  std::string camera() const override { return "0.16,-0.34,0.42:0.02,0,0.2"; }

  void begin(const sim::Simulation& simulation) override {
    const world::World& world = simulation.world();
    jaws_ = world.part(world.modules().front()).first_dock;
  }

  void observe(const sim::Simulation& simulation) override {
    const world::World& world = simulation.world();
    const double now = simulation.now().seconds();
    for (const world::DockEvent& event : simulation.dock_events()) {
      switch (event.kind) {
        case world::DockEvent::Kind::captured:
          captured_ = now;
          ++captures_;
          break;
        case world::DockEvent::Kind::jammed: ++jams_; break;
        case world::DockEvent::Kind::engaged:
          engaged_ = now;
          close_time_ = now - captured_;
          break;
        case world::DockEvent::Kind::slipped: slipped_ = now; break;
        case world::DockEvent::Kind::released:
        case world::DockEvent::Kind::broken: break;
      }
    }
    if (engaged_ >= 0 && slipped_ < 0) weigh(world);
  }

  void shutdown(const sim::Simulation& simulation, sim::Metrics& metrics) override {
    const world::World& world = simulation.world();
    const model::Latch& latch = *world.latches()->model(jaws_);
    const double limit = latch.force * latch.friction;
    metrics.set("latched", engaged_ >= 0 ? 1 : 0, "1: the jaws have closed on the socket");
    metrics.set("captures", real(captures_), "times that the socket was in reach");
    metrics.set("jams", real(jams_), "of these, jaws that jammed on it");
    metrics.set("latched_s", sim::measured_time(engaged_), "when they closed; -: never");
    metrics.set("close_time_ratio", sim::mean_of(engaged_ < 0 ? 0 : close_time_, latch.travel / latch.speed),
                "time from capture to closed, in multiples of travel / speed");
    const auto& cannot = world.engine_info().cannot;
    const bool slides = std::find(cannot.begin(), cannot.end(), physics::sliding_jaws) == cannot.end();
    metrics.set("held_ratio", sim::measured_if(slides && held_ > 0, held_ / limit),
                "the hand's pull when it began to slide, in multiples of friction times force; -: the engine does not "
                "let them slide so");
    metrics.set("slid_ratio", sim::measured_if(slides && slid_ > 0, (work_ - moving_) / slid_ / limit),
                "what the pull's work did not set in motion, over the way that it slid, the same");
    metrics.set("slipped", slipped_ >= 0 ? 1 : 0, "1: it was pulled out");
  }

  void archive_state(Archive& ar) override {
    ar("captures", captures_);
    ar("jams", jams_);
    ar("captured", captured_);
    ar("engaged", engaged_);
    ar("slipped", slipped_);
    ar("close time", close_time_);
    ar("held", held_);
    ar("at", at_);
    ar("work", work_);
    ar("moving", moving_);
    ar("slid", slid_);
  }

 private:
  // By the motor that pulls the hand, and how the hand moves: not by the load of the dock, by which the jaws are ruled.
  void weigh(const world::World& world) {
    const world::Part& hand = world.part(world.modules().front());
    const model::ModuleModel& model = world.module_model(world.modules().front());
    const physics::JointState axis = world.joint_state(hand.first_joint + model.joint_index("x"));
    const double pull = -axis.torque, way = at_ - axis.position;
    at_ = axis.position;
    if (world.dock_slip(jaws_) == 0) {
      held_ = std::max(held_, pull);
      return;
    }
    double mass = 0;
    for (const model::Link& link : model.links) mass += link.mass;
    work_ += pull * way;
    moving_ = 0.5 * mass * axis.velocity * axis.velocity;
    slid_ += way;
  }

  world::DockIndex jaws_ = 0;
  std::int64_t captures_ = 0, jams_ = 0;
  double captured_ = -1, engaged_ = -1, slipped_ = -1;  // s; -1: not yet
  double close_time_ = 0;                               // s
  double held_ = 0;                                     // N
  double at_ = 0, slid_ = 0;                            // m, of the hand along its axis
  double work_ = 0, moving_ = 0;                        // J
};

}  // namespace

sim::ExperimentFactory clamps() { return make<Clamps>(); }

}  // namespace volvox::experiments::remod3d
