// A run that Python holds: who may use it when, what Python code is part of it, and how its failures are told.
//
// One Python thread uses a world at a time; a second one, a call from within a callback and a process that was forked
// get an exception (class Use). Stepping lets the interpreter's lock go.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bindings.h"
#include "mirrors.h"
#include "volvox/base/log.h"
#include "volvox/mind/agent.h"
#include "volvox/record/recorder.h"
#include "volvox/sim/run.h"

namespace volvox::cli {
struct Studio;
}

namespace volvox::python {

// All that Volvox brings along, made once.
const sim::Library& standard_library();

// All objects of Python that a world's C++ side refers to, in one place, so that Python's garbage collector sees them
// (world_binding.cpp): a behaviour's class knows its module, which may know the world. With the interpreter's lock
// held.
struct Held {
  std::vector<py::object> objects;
  py::object controller, controller_state;
  py::object raised;     // the first exception that a callback raised, until somebody takes it
  bool dropped = false;  // the collector has taken all: nothing can be called any more
  py::handle keep(py::object object) {
    objects.push_back(std::move(object));
    return objects.back();
  }
  bool interrupted() const;  // by Ctrl-C, or by sys.exit() in a callback
};

struct DockEvent {
  double time = 0;  // s
  world::DockEvent event;
};
struct Arrival {
  double sent = 0, arrived = 0;  // s
  std::string module, outlet, sender, type, content;
};

// What Python gives as behaviours: classes are added to the library; what stands in for what goes into the options.
struct GivenBehaviors {
  std::vector<std::string> undeclared;  // classes that do not list their state
  bool python = false;                  // there are classes
};
GivenBehaviors add_behaviors(const py::dict& behaviors, const std::shared_ptr<Held>& held, sim::Library& library,
                             std::map<std::string, std::string>& stand_ins);

class WorldHandle {
 public:
  // Reads the experiment and starts the minds. `behaviors`: name -> a class, or the name of another behaviour.
  WorldHandle(sim::RunOptions options, const py::dict& behaviors);
  ~WorldHandle();
  WorldHandle(const WorldHandle&) = delete;
  WorldHandle& operator=(const WorldHandle&) = delete;

  void step(std::int64_t ticks);
  std::string end();  // completes the report, as JSON; the world cannot be stepped any more
  void close();
  bool closed() const { return run_ == nullptr; }

  std::uint64_t hash();
  py::bytes snapshot();
  void restore(const py::bytes& snapshot);

  // A callable that commands the whole world at the start of every tick. `state` returns its state as bytes, or takes
  // it back when it is given bytes. `undeclared`: the name of one that does not list its state; empty: all do.
  // Python keeps the controllers themselves, so that its garbage collector sees what refers to the world.
  void set_controller(py::object call, py::object state, std::string undeclared);

  // Commands of motors, by index into motors(); they hold until they are changed.
  void command(const double* targets, const std::int32_t* motors, std::size_t count, physics::Control control);
  // Any action by name: a row of `width` numbers a module, by index into the modules.
  void act(const std::string& action, const double* rows, std::size_t width, const std::int32_t* modules,
           std::size_t count, physics::Control control);
  void give(sim::Input input);

  void record(const std::string& file);
  void write(const std::string& folder);
  void watch_messages();

  struct Motor {
    world::JointIndex joint;
    world::AgentIndex agent;
    mind::Action<mind::JointCommand> action;
    double lower = 0, upper = 0, velocity = 0, effort = 0;
    bool shared = false;  // the module has a behaviour, which may command it, too
  };
  const std::vector<Motor>& motors() const { return motors_; }
  const std::vector<DockEvent>& events() const { return events_; }
  const std::vector<Arrival>& arrivals() const { return arrivals_; }
  std::vector<std::pair<std::string, std::string>> take_log();  // level and text
  py::object take_raised() { return std::exchange(held_->raised, py::object()); }
  Held& held() { return *held_; }
  bool runs_python() const { return python_behaviors_ || static_cast<bool>(held_->controller); }

  // Throws if the world is closed.
  sim::Run& run();
  const std::shared_ptr<sim::Run>& shared_run() const { return run_; }
  std::shared_ptr<Mirrors> mirrors();
  // Around ticks, for a population that makes them.
  void may_step() const;  // throws if it has failed or ended
  void begin_step();
  void stepped(const StepStatus& status);

  // Keeps others away from the world for one call.
  class Use {
   public:
    enum class Callback { refused, allowed };  // whether a controller may make this call while the world is stepped
    Use(WorldHandle& world, const char* what, Callback callback = Callback::refused);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    WorldHandle* taken_ = nullptr;
  };

  struct Pictures;  // a render engine, kept from one picture to the next
  py::object picture(const std::string& camera, int width, int height, const std::string& docks);
  // (height, width) of float: m along the camera's axis; infinity where nothing is within `range` m. By ray casting at
  // the colliders, without a graphics library.
  py::object depth(const std::string& camera, int width, int height, double range);

 private:
  friend class Use;
  void take(sim::Input input);  // now, and recorded with the next tick
  void refuse_unused(const py::dict& behaviors) const;
  void find_motors();
  void take_events();
  void warn_of_overruled();
  [[noreturn]] void rethrow_raised(const std::exception& failure);
  void call_controller();
  std::string controller_bytes();
  void refuse_undeclared() const;
  std::optional<py::error_already_set> step_released(std::int64_t ticks, StepStatus& status);

  int process_ = 0;  // the process that made it
  std::atomic<bool> busy_{false};
  std::atomic<std::thread::id> in_callback_{};  // the thread in which a controller is running
  std::shared_ptr<Held> held_ = std::make_shared<Held>();
  bool python_behaviors_ = false;
  std::vector<std::string> undeclared_;  // Python behaviours that do not list their state
  std::string undeclared_controller_;

  std::mutex log_mutex_;
  std::vector<std::pair<std::string, std::string>> lines_;
  Log log_;
  std::shared_ptr<sim::Run> run_;  // null: closed
  std::shared_ptr<Mirrors> mirrors_;
  std::shared_ptr<record::Recorder> recorder_;
  std::unique_ptr<Pictures> pictures_;
  std::vector<Motor> motors_;
  std::map<std::size_t, double> commanded_;  // by motor: what command() set since the last step
  std::set<std::string> overruled_;          // behaviours that were warned of
  std::vector<DockEvent> events_;
  std::vector<Arrival> arrivals_;
  bool watches_messages_ = false, ended_ = false;
  StepStatus failure_;
};

}  // namespace volvox::python
