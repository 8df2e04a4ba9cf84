// A simple module for tests: a cube of 0.1 m and 1 kg with a dock on each face.
#pragma once

#include <memory>

#include "volvox/model/world_builder.h"
#include "volvox/world/measures.h"
#include "volvox/world/world.h"

namespace volvox::world {

inline constexpr double g = 9.81;  // m/s^2, of the tests that hang weights

inline model::ModuleModel cube() {
  model::ModuleModel cube;
  cube.name = "cube";
  model::Link link;
  link.name = "body";
  link.mass = 1;
  link.moments = {1.0 / 600, 1.0 / 600, 1.0 / 600};  // m a^2 / 6
  link.geometry =
      std::make_shared<model::Geometry>(model::Geometry{{{"box", model::Box{{0.098, 0.098, 0.098}}, {}, {0.5, 0.0}}}});
  cube.links.push_back(link);
  const std::pair<const char*, Quat> faces[] = {{"east", {}},
                                                {"west", Quat::axis_angle({0, 0, 1}, pi)},
                                                {"north", Quat::axis_angle({0, 0, 1}, pi / 2)},
                                                {"south", Quat::axis_angle({0, 0, 1}, -pi / 2)},
                                                {"up", Quat::axis_angle({0, 1, 0}, -pi / 2)},
                                                {"down", Quat::axis_angle({0, 1, 0}, pi / 2)}};
  for (const auto& [name, rotation] : faces) {
    model::Dock dock;
    dock.name = name;
    dock.pose = {rotation * Vec3{0.05, 0, 0}, rotation};
    dock.capture_distance = 0.02;
    dock.capture_angle = radians(15);
    cube.docks.push_back(dock);
  }
  cube.mind = model::Mind{};
  return cube;
}

inline std::shared_ptr<const model::ModuleModel> share(model::ModuleModel model) {
  return std::make_shared<const model::ModuleModel>(std::move(model));
}

// The world of a builder, on an engine with substeps of 1/240 s. All tests make their small worlds here.
inline Result<std::unique_ptr<World>> make_world(model::WorldBuilder& builder,
                                                 const std::string& engine = physics::default_engine) {
  auto model = builder.build();
  if (!model.ok()) return model.error();
  auto made = physics::built_in_engines().make(engine, {model->gravity, 1.0 / 240, nullptr});
  if (!made.ok()) return made.error();
  return World::create(std::make_shared<const model::WorldModel>(std::move(*model)), std::move(*made));
}

// The world's part of a tick, in the order of Simulation::step. Tests below sim/ may not include the loop, so this is
// the one place that repeats it; mind/test/fixture.h puts minds around it.
inline StepStatus tick_world(World& world, Time begin, Time end, std::vector<DockEvent>& events,
                             const World::Control& control = {}) {
  world.update_docks(events);
  StepStatus status = control ? world.move(begin, end, 1.0 / 240, control) : world.move(begin, end);
  if (status.ok()) world.break_docks(events);
  return status;
}

// A world on an engine, and ticks of 1/60 s (or another) without minds.
class Bench {
 public:
  Bench(model::WorldBuilder& builder, TickLength dt = {1, 60}, const std::string& engine = physics::default_engine)
      : dt_(dt) {
    auto made = make_world(builder, engine);
    if (!made.ok()) throw std::runtime_error(made.error().text());
    world_ = std::move(*made);
  }

  void tick(int count = 1) {
    for (int i = 0; i < count; ++i) {
      const Time begin = dt_.start_of(tick_), end = dt_.start_of(tick_ + 1);
      const StepStatus status = tick_world(*world_, begin, end, events);
      if (!status.ok()) throw std::runtime_error(status.what);
      ++tick_;
    }
  }
  DockIndex dock(const std::string& module, const std::string& name) const {
    for (PlacementIndex p = 0; p < world_->placements(); ++p)
      if (world_->name(p) == module) return world_->part(p).first_dock + world_->module_model(p).dock_index(name);
    throw std::runtime_error("no module " + module);
  }
  World& world() { return *world_; }
  void start_at(std::int64_t tick) { tick_ = tick; }  // as a restored run does
  double time() const { return dt_.start_of(tick_).seconds(); }

  std::vector<DockEvent> events;

 private:
  TickLength dt_;
  std::int64_t tick_ = 0;
  std::unique_ptr<World> world_;
};

}  // namespace volvox::world
