// The simulation loop: a world, its minds, and one tick after another (docs/step.md).
//
// Units are SI. All functions are to be called from one thread; phases use SimulationSettings::threads inside. The same
// world, settings and inputs give the same bits, at any number of threads (docs/determinism.md).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "volvox/base/log.h"
#include "volvox/base/step_status.h"
#include "volvox/base/thread_pool.h"
#include "volvox/mind/extension.h"
#include "volvox/mind/minds.h"
#include "volvox/physics/engine.h"
#include "volvox/sim/input.h"
#include "volvox/sim/phases.h"
#include "volvox/world/world.h"

namespace volvox::sim {

struct SimulationSettings {
  std::string engine = physics::default_engine;
  std::uint64_t seed = 1;
  int threads = 1;
  TickLength dt;                                  // usually that of the world file
  double max_substep = 1.0 / 240;                 // s
  std::optional<physics::Precision> precision{};  // none: as the engine likes
};

class Simulation {
 public:
  // The registries and the log must outlive the simulation.
  static Result<std::unique_ptr<Simulation>> create(std::shared_ptr<const model::WorldModel> model,
                                                    const SimulationSettings& settings,
                                                    const physics::EngineRegistry& engines,
                                                    const mind::Registries& registries, Log& log);

  // In the .cpp: else every file that includes this would compile the destructors of all members.
  ~Simulation();

  StepStatus step();  // one tick; a failed tick leaves the state as it was at the failure
  // The same in two halves, for many simulations whose engines are moved together (Population): the phases before the
  // engine moves, and from there on. Between them somebody moves engine_to_move() from now() to the end of the tick, in
  // so many seconds of wall time. To be used where cannot_be_moved() is empty; it says why not, in words.
  StepStatus begin_step();
  physics::Engine& engine_to_move() { return world_->begin_move(); }
  StepStatus end_step(StepStatus moved, double seconds);
  std::string cannot_be_moved() const;

  // Queues an input from outside for the input phase of the next tick. Not thread-safe: inputs of other threads must be
  // handed over between two ticks.
  void give(Input input);
  // An input that takes effect now, between two ticks or in a script, and so is part of a snapshot before the next
  // tick; it is recorded with that tick. On an error nothing has changed. The same threads as give().
  Result<void> give_now(Input input);
  const std::vector<Input>& inputs() const { return inputs_; }              // of the last tick
  const std::vector<Input>& taken_inputs() const { return taken_inputs_; }  // by give_now() since then
  std::int64_t inputs_so_far() const { return inputs_so_far_; }

  std::int64_t tick() const { return tick_; }  // the next tick to be simulated
  Time now() const { return settings_.dt.start_of(tick_); }
  const SimulationSettings& settings() const { return settings_; }
  const world::World& world() const { return *world_; }
  const mind::Minds& minds() const { return *minds_; }
  // For code that acts on the run between two ticks (experiment scripts, inputs).
  world::World& world() { return *world_; }
  mind::Minds& minds() { return *minds_; }
  // The docks that connected or came apart in the last tick.
  const std::vector<world::DockEvent>& dock_events() const { return dock_events_; }
  const PhaseTimes& phase_times() const { return phase_times_; }

  // Hooks, called in every tick in the order in which they were added and in the thread of step(). An exception ends
  // the tick, and the status names the hook by `who`.
  using Script = std::function<void(Simulation&)>;
  using Observer = std::function<void(const Simulation&)>;
  // Called in the input phase before the scripts, and in the publish phase after the observers. The extension must
  // outlive the simulation.
  void attach(const std::string& name, mind::Extension& extension);
  void add_script(Script script, std::string who);             // input phase: may change the run
  void add_observer(Observer observer, std::string who = {});  // publish phase: reads only
  void add_measure(Observer measure, std::string who = {});    // measure phase: reads only

  // What feels the taps of a TapInput, in the input phase, and says whether it did. Without it they are refused.
  using Tap = std::function<bool(std::uint32_t item)>;
  void set_tap(Tap tap);
  bool tap(std::uint32_t item) { return tap_ && tap_(item); }

  // State outside of world and minds, as a last part of the hash. It must only read.
  void add_hashed(std::function<void(Archive&)> state);
  // The hash of all state that the next tick depends on.
  std::uint64_t hash() const;
  void hash(HashArchive& sections) const;

  // Snapshots. restore() needs a simulation of the same world with the same settings. Engines whose caches cannot be
  // saved drop them in save() too, so that the continued run and the restored run stay identical bit by bit.
  Result<std::vector<std::byte>> save();
  Result<void> restore(std::span<const std::byte> snapshot);

  // Goes on with another physics engine, between two ticks. Returns what could not be carried over, in words. If it
  // fails, nothing has changed.
  Result<std::vector<std::string>> change_engine(const std::string& name, const physics::EngineRegistry& engines,
                                                 std::optional<physics::Precision> precision = {});

 private:
  Simulation(const SimulationSettings& settings, Log& log);
  template <class Work>
  void timed(Phase phase, StepStatus& status, Work&& work);
  Time end_of_tick() const { return settings_.dt.start_of(tick_ + 1); }
  StepStatus after_move(StepStatus status);
  StepStatus take_inputs();
  StepStatus move(Time begin, Time end);
  StepStatus publish(Time begin);
  StepStatus measure();
  void archive_tick(Archive& ar);
  void archive(Archive& ar);
  std::uint64_t fingerprint() const;

  SimulationSettings settings_;
  Log& log_;
  ThreadPool threads_;
  std::unique_ptr<world::World> world_;
  std::unique_ptr<mind::Minds> minds_;
  template <class Call>
  struct Hook {
    std::string who;
    Call call;
  };
  std::vector<Hook<mind::Extension*>> extensions_;
  std::vector<Hook<Script>> scripts_;
  std::vector<Hook<Observer>> observers_, measures_;
  std::int64_t tick_ = 0;
  std::vector<world::DockEvent> dock_events_;
  std::vector<Input> waiting_inputs_, taken_inputs_, inputs_;
  std::int64_t inputs_so_far_ = 0;
  PhaseTimes phase_times_;
  std::vector<std::function<void(Archive&)>> hashed_;
  Tap tap_;
};

}  // namespace volvox::sim
