// A world with minds, and the phases of a tick, without the loop of sim/.
#pragma once

#include <functional>

#include "volvox/mind/minds.h"
#include "volvox/world/test/cubes.h"

namespace volvox::mind {

// A behaviour made of functions, for tests.
struct Scripted final : Behavior {
  std::function<void(Agent&)> on_start, on_step, on_end;
  std::function<bool(Agent&, const Message&)> on_receive;
  void start(Agent& a) override {
    if (on_start) on_start(a);
  }
  void step(Agent& a) override {
    if (on_step) on_step(a);
  }
  bool receive(Agent& a, const Message& m) override { return on_receive && on_receive(a, m); }
  void end_tick(Agent& a) override {
    if (on_end) on_end(a);
  }
  OnBoard on_board() const override { return controls; }
  void control(Agent& a, double step) override {
    if (on_control) on_control(a, step);
  }
  double period() const override { return step_period; }
  bool omniscient() const override { return sees_all; }
  OnBoard controls;
  std::function<void(Agent&, double)> on_control;
  double step_period = 0;
  bool sees_all = false;
};

class Theatre {
 public:
  Theatre() {
    registries.behaviors.add("scripted", [this] {
      auto behavior = std::make_unique<Scripted>();
      prepare(*behavior);
      return behavior;
    });
  }
  std::function<void(Scripted&)> prepare = [](Scripted&) {};
  Registries registries;

  Result<void> open(model::WorldBuilder& builder, std::uint64_t seed = 1,
                    const std::string& engine_name = physics::default_engine) {
    auto made = world::make_world(builder, engine_name);
    if (!made.ok()) return made.error();
    world = std::move(*made);
    auto created = Minds::create(*world, registries, seed);
    if (!created.ok()) return created.error();
    minds = std::move(*created);
    return minds->start(*world, dt.seconds());
  }

  StepStatus tick() {
    const Time begin = dt.start_of(now), end = dt.start_of(now + 1);
    if (auto failure = minds->sense(*world, dt.seconds(), threads); !failure.ok()) return failure;
    if (auto failure = minds->think(begin, dt.seconds(), threads); !failure.ok()) return failure;
    if (auto failure = minds->send(*world, now, dt.seconds()); !failure.ok()) return failure;
    if (auto failure = minds->act(*world, threads); !failure.ok()) return failure;
    std::vector<world::DockEvent> events;
    world::World::Control control;
    if (minds->any_on_board())
      control = [&](Time substep, double step) { return minds->control(*world, substep, step, threads); };
    if (auto failure = world::tick_world(*world, begin, end, events, control); !failure.ok()) return failure;
    auto failure = minds->deliver(*world, end, now);
    ++now;
    return failure;
  }
  void ticks(int count) {
    for (int i = 0; i < count; ++i) {
      const StepStatus failure = tick();
      if (!failure.ok()) throw std::runtime_error(failure.who + ": " + failure.what);
    }
  }

  TickLength dt{1, 60};
  std::int64_t now = 0;
  ThreadPool threads{1};
  std::unique_ptr<world::World> world;
  std::unique_ptr<Minds> minds;
};

// A cube with the scripted behaviour.
inline model::ModuleModel actor() {
  model::ModuleModel actor = world::cube();
  actor.name = "actor";
  actor.file = "actor.sdf";
  actor.mind = model::Mind{"scripted", {}, "actor.sdf", 3};
  return actor;
}

}  // namespace volvox::mind
