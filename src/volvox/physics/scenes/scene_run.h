// Runs a scene in an engine, tick by tick, and measures it.
// SI units unless a name says mm or degrees. One thread. The state is deterministic as the engine is; times are
// measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "volvox/physics/scenes/bench_scene.h"
#include "volvox/physics/scenes/penetration.h"

namespace volvox::physics::scenes {

// Errors of the state: the worst over all measured instants.
struct Quality {
  double hinge_mm = 0, hinge_deg = 0;  // the gap and the tilt of a hinge
  double dock_mm = 0, dock_deg = 0;    // of a closed dock
  double lift_m = 0;                   // the highest centre of a body
  double penetration_mm = 0;
  bool has_hinges = false, has_docks = false;
};

class SceneRun {
 public:
  // An error if the engine does not support a shape of the scene. The scene must outlive the run.
  static Result<SceneRun> create(const BenchScene& scene, Engine& engine, TickLength tick);

  void command();      // motors and forces for the next tick
  int change_docks();  // the docking events of this tick; returns their number
  StepStatus step();
  double time() const { return now().seconds(); }
  std::int64_t ticks() const { return ticks_; }

  void look(Quality& worst) const;              // errors of joints, and heights
  void look_at_contacts(Quality& worst) const;  // penetration; slower
  Vec3 centre_of_mass() const;

 private:
  SceneRun(const BenchScene& scene, Engine& engine, TickLength tick)
      : scene_(scene), engine_(engine), tick_(tick), meter_(scene) {}
  Time now() const { return tick_.start_of(ticks_); }

  const BenchScene& scene_;
  Engine& engine_;
  TickLength tick_;
  PenetrationMeter meter_;
  std::int64_t ticks_ = 0;
  std::vector<BodyId> bodies_;      // by body of the scene
  std::vector<JointId> joints_;     // by joint of the scene; not valid while it is undocked
  std::vector<std::size_t> docks_;  // joints of the scene that are docks
  std::vector<std::size_t> undocked_;
  std::size_t next_dock_ = 0;
};

struct MeasureOptions {
  double substep = 1.0 / 240;
  std::optional<Precision> precision{};  // none: as the engine likes
  double seconds = 3;                    // to simulate
  double limit = 1e300;                  // s of wall time, after which the run ends early
  int threads = 1;
  std::uint64_t seed = 1;
};

struct Measurement {
  std::string failure;   // empty: the run reached its end or the limit
  std::string settings;  // of the engine
  Quality worst;
  double settle = 0;                                               // s at the start that are not measured
  double simulated = 0;                                            // s
  int ticks = 0;                                                   // measured
  double ms_median = 0, ms_min = 0, ms_mean = 0, cpu_ms_mean = 0;  // of a tick
  double contacts = 0;                                             // mean
  double travel_m = 0;                                             // of the centre of mass, along the ground
  std::uint64_t state_hash = 0;
  std::vector<std::pair<std::string, double>> work;  // of the engine (Engine::work), mean of a tick
  // The cost of a docking event in CPU time: its calls and the following step, minus a step without events.
  std::optional<double> undock_us, dock_us;
};

// Runs the scene in a new engine. Times are wall time; nothing else should run in the process.
Measurement measure(const BenchScene& scene, const EngineRegistry& engines, const std::string& engine,
                    const MeasureOptions& options);

}  // namespace volvox::physics::scenes
