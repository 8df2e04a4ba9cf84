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
    if (engaged_ >= 0 && slipped_ < 0) {
      const double load = world.dock_load(jaws_).axial;
      if (world.dock_slip(jaws_) == 0) held_ = std::max(held_, load);
      else rubbed_ = load;
    }
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
    const bool known = std::find(cannot.begin(), cannot.end(), physics::sliding_jaws) == cannot.end();
    metrics.set("held_ratio", sim::measured_if(known && held_ > 0, held_ / limit),
                "largest load before it slid, in multiples of friction times force; -: the engine cannot tell");
    metrics.set("slid_ratio", sim::measured_if(known && slipped_ >= 0, rubbed_ / limit),
                "load while it slid, the same");
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
    ar("rubbed", rubbed_);
  }

 private:
  world::DockIndex jaws_ = 0;
  std::int64_t captures_ = 0, jams_ = 0;
  double captured_ = -1, engaged_ = -1, slipped_ = -1;  // s; -1: not yet
  double close_time_ = 0;                               // s
  double held_ = 0, rubbed_ = 0;                        // N
};

}  // namespace

sim::ExperimentFactory clamps() { return make<Clamps>(); }

}  // namespace volvox::experiments::remod3d
