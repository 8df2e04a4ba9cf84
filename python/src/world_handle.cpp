#include "world_handle.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "python_behavior.h"
#include "volvox/base/hash.h"
#include "volvox/base/platform/clock.h"
#include "volvox/cli/cli.h"
#include "volvox/cli/commands.h"
#include "volvox/mind/message_types.h"
#include "world_pictures.h"

namespace volvox::python {
namespace {

constexpr double between_signals = 0.02;        // s of wall time between two looks for Ctrl-C
constexpr std::size_t most_log_lines = 10'000;  // kept until somebody takes them

}  // namespace

const sim::Library& standard_library() {
  static const auto* library = new sim::Library(cli::standard_library());  // never destroyed: worlds may outlive it
  return *library;
}

WorldHandle::WorldHandle(sim::RunOptions options, const py::dict& behaviors)
    : process_(::getpid()),
      log_(
          [this](LogLevel level, std::string_view line) {
            const std::lock_guard lock(log_mutex_);
            if (lines_.size() < most_log_lines) lines_.emplace_back(name(level), line);
          },
          LogLevel::info) {
  sim::Library library = standard_library();
  const GivenBehaviors given = add_behaviors(behaviors, held_, library, options.behaviors);
  python_behaviors_ = given.python, undeclared_ = given.undeclared;
  // Python behaviours hold the interpreter's lock, so threads would only wait for each other; and only the thread that
  // called step() hears of Ctrl-C. The result does not depend on the number of threads.
  if (python_behaviors_) options.threads = 1;
  Result<std::unique_ptr<sim::Run>> prepared = [&] {
    const py::gil_scoped_release release;
    return sim::Run::prepare(options, library, log_);
  }();
  if (!prepared.ok()) throw Failure(Kind::input, prepared.error());
  run_ = std::move(*prepared);
  refuse_unused(behaviors);
  mirrors_ = std::make_shared<Mirrors>(run_->simulation());
  find_motors();
  run_->simulation().add_script([this](sim::Simulation&) { call_controller(); }, "Python");
}

WorldHandle::~WorldHandle() {
  if (run_ == nullptr || ::getpid() == process_) return;
  // After os.fork() the threads of the run are not here, and to end them would wait for ever: what it owns stays.
  new std::shared_ptr<sim::Run>(std::move(run_));
  new std::shared_ptr<record::Recorder>(std::move(recorder_));
  (void)pictures_.release();
}

GivenBehaviors add_behaviors(const py::dict& behaviors, const std::shared_ptr<Held>& held, sim::Library& library,
                             std::map<std::string, std::string>& stand_ins) {
  GivenBehaviors given;
  for (const auto& [key, what] : behaviors) {
    const std::string name = py::cast<std::string>(key);
    if (py::isinstance<py::str>(what)) {
      stand_ins[name] = py::cast<std::string>(what);
      continue;
    }
    given.python = true;
    const PythonClass made(name, py::reinterpret_borrow<py::object>(what), library.minds.behaviors.contains(name),
                           held);
    if (!made.declares_state()) given.undeclared.push_back(name);
    stand_ins[name] = "python:" + name;
    library.minds.behaviors.add("python:" + name, [made] { return made.make(); });
  }
  return given;
}

// A name that no module has is a mistake: its modules would go on with the behaviour that the world gave them.
void WorldHandle::refuse_unused(const py::dict& behaviors) const {
  std::set<std::string> used;
  const world::World& world = run_->simulation().world();
  for (const world::PlacementIndex p : world.modules())
    if (const model::Mind* mind = world.model().placements[p].effective_mind()) {
      if (!mind->behavior.empty()) used.insert(mind->behavior);
      for (const model::Mind& further : mind->further) used.insert(further.behavior);
    }
  for (const auto& [key, what] : behaviors) {
    const std::string name = py::cast<std::string>(key);
    if (used.contains(name)) continue;
    const std::string near = nearest_name(name, {used.begin(), used.end()});
    throw Failure(Kind::input, fmt::format("behaviors: no module of this world has the behavior '{}'", name),
                  used.empty() ? "its modules have no behavior: command them, or give them one in the world file"
                               : fmt::format("{}the modules of this world have: {}",
                                             near.empty() ? "" : fmt::format("did you mean '{}'? ", near),
                                             fmt::join(used, ", ")));
  }
}

void WorldHandle::find_motors() {
  const world::World& world = run_->simulation().world();
  const mind::Minds& minds = run_->simulation().minds();
  const std::map<std::string, std::string>& stand_ins = run_->options().behaviors;
  for (world::AgentIndex a = 0; a < minds.size(); ++a) {
    const mind::Agent& agent = minds.agent(a);
    const model::ModuleModel& module = world.module_model(agent.placement());
    const model::Mind* mind = world.model().placements[agent.placement()].effective_mind();
    const auto stand_in = mind == nullptr ? stand_ins.end() : stand_ins.find(mind->behavior);
    const bool shared = minds.behavior(a) != nullptr &&
                        (stand_in == stand_ins.end() ? mind->behavior : stand_in->second) != "commanded";
    for (std::size_t j = 0; j < module.joints.size(); ++j) {
      const model::Joint& joint = module.joints[j];
      if (!joint.motor) continue;
      motors_.push_back({world.part(agent.placement()).first_joint + j, a,
                         agent.find_action<mind::JointCommand>(joint.name), joint.lower, joint.upper, joint.velocity,
                         joint.effort, shared});
    }
  }
}

sim::Run& WorldHandle::run() {
  if (run_ == nullptr) throw Failure(Kind::closed, "this world is closed", "load it again, or keep it open");
  return *run_;
}

std::shared_ptr<Mirrors> WorldHandle::mirrors() {
  run();
  return mirrors_;
}

WorldHandle::Use::Use(WorldHandle& world, const char* what, Callback callback) {
  if (::getpid() != world.process_)
    throw Failure(Kind::busy,
                  fmt::format("{}: this world was made before os.fork(), and its threads are not here", what),
                  "load the world in this process, or start processes by multiprocessing's method 'spawn'");
  world.run();
  if (callback == Callback::allowed && world.in_callback_.load() == std::this_thread::get_id()) return;
  if (world.busy_.exchange(true))
    throw Failure(Kind::busy,
                  fmt::format("{}: this world is being used by another thread, or by the call that is running", what),
                  "use a world from one thread at a time; a callback may read and command it, and nothing else");
  taken_ = &world;
}

WorldHandle::Use::~Use() {
  if (taken_ != nullptr) taken_->busy_ = false;
}

void WorldHandle::may_step() const {
  if (ended_)
    throw Failure(Kind::run, "this run has ended, and its results are complete",
                  "load the world again, or restore a snapshot of it before it ends");
  if (!failure_.ok())
    throw Failure(Kind::run, "this run failed before: " + failure_.text(),
                  "restore a snapshot, or load the world again");
}

std::optional<py::error_already_set> WorldHandle::step_released(std::int64_t ticks, StepStatus& status) {
  const py::gil_scoped_release release;
  double looked = platform::monotonic_seconds();
  for (std::int64_t k = 0; k < ticks; ++k) {
    status = run_->step();
    take_events();
    if (!status.ok()) break;
    if (k + 1 == ticks || platform::monotonic_seconds() - looked < between_signals) continue;
    looked = platform::monotonic_seconds();
    const py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) return py::error_already_set();
  }
  return std::nullopt;
}

void WorldHandle::step(std::int64_t ticks) {
  if (ticks < 0) throw Failure(Kind::input, fmt::format("{} ticks cannot be stepped", ticks), "give 0 or more");
  const Use use(*this, "step");
  may_step();
  begin_step();
  StepStatus status;
  std::optional<py::error_already_set> interrupted = step_released(ticks, status);
  stepped(status);
  if (interrupted) throw py::error_already_set(*interrupted);
  if (!status.ok()) throw Failure(Kind::run, status.text(), "");
}

void WorldHandle::begin_step() {
  events_.clear(), arrivals_.clear();
  held_->raised = {};
}

void WorldHandle::stepped(const StepStatus& status) {
  if (!status.ok()) failure_ = status;
  else warn_of_overruled();
  commanded_.clear();
  mirrors_->refresh(run_->simulation());
}

// A behaviour that commands the same motor has the last word: whoever called command() should know it, once.
void WorldHandle::warn_of_overruled() {
  const mind::Minds& minds = run_->simulation().minds();
  for (const auto& [index, target] : commanded_) {
    const mind::Agent& agent = minds.agent(motors_[index].agent);
    const auto* now = agent.action_value(motors_[index].action.index).get<mind::JointCommand>();
    if (now == nullptr || now->target == target) continue;
    const world::World& world = run_->simulation().world();
    const model::Mind* mind = world.model().placements[agent.placement()].effective_mind();
    if (mind == nullptr || !overruled_.insert(mind->behavior).second) continue;
    log_.warning(fmt::format(
        "the behavior '{0}' of module '{1}' commands '{2}', too, and has the last word: load the world with "
        "behaviors={{\"{0}\": \"commanded\"}} to command it alone",
        mind->behavior, agent.name(), agent.actions()[motors_[index].action.index]));
  }
}

// What code in Python raised while the loop ran, as it was raised.
void WorldHandle::rethrow_raised(const std::exception& failure) {
  const py::object raised = take_raised();
  if (!raised) throw Failure(Kind::state, failure.what(), "");
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
  throw py::error_already_set();
}

void WorldHandle::take_events() {
  const sim::Simulation& simulation = run_->simulation();
  const double now = simulation.now().seconds();
  for (const world::DockEvent& event : simulation.dock_events()) events_.push_back({now, event});
  if (!watches_messages_) return;
  const mind::Minds& minds = simulation.minds();
  for (const mind::Minds::Arrival& arrival : minds.arrivals()) {
    const mind::MessageText text = mind::text_of(arrival.payload);
    arrivals_.push_back({arrival.sent.seconds(), arrival.arrived.seconds(), minds.agent(arrival.agent).name(),
                         minds.agent(arrival.agent).outlets()[arrival.outlet],
                         arrival.sender == world::nobody ? "" : minds.agent(arrival.sender).name(), text.type,
                         text.content});
  }
}

void WorldHandle::watch_messages() {
  const Use use(*this, "watch_messages");
  run_->simulation().minds().watch_arrivals();
  watches_messages_ = true;
}

std::string WorldHandle::end() {
  const Use use(*this, "end");
  if (!ended_) {
    const py::gil_scoped_release release;
    run_->end();
    ended_ = true;
  }
  return run_->report().json();
}

void WorldHandle::close() {
  if (run_ == nullptr) return;
  const Use use(*this, "close");
  pictures_.reset();
  if (recorder_ != nullptr) (void)recorder_->finish({});  // what was recorded so far can be read
  recorder_.reset();
  std::shared_ptr<sim::Run> ending = std::move(run_);
  held_->controller = {}, held_->controller_state = {};
  const py::gil_scoped_release release;
  ending.reset();
}

void WorldHandle::refuse_undeclared() const {
  for (const std::string& behavior : undeclared_)
    throw Failure(Kind::state, fmt::format("the Python behavior '{}' does not list its state", behavior),
                  "give its class state = (\"name\", ...), the attributes that change; () if there are none");
  if (!undeclared_controller_.empty())
    throw Failure(Kind::state,
                  fmt::format("the Python controller '{}' does not list its state", undeclared_controller_),
                  "give it an attribute state = (\"name\", ...), the attributes that change; () if there are none");
}

std::uint64_t WorldHandle::hash() {
  const Use use(*this, "state_hash");
  refuse_undeclared();
  const std::uint64_t simulated = [&] {
    try {
      const py::gil_scoped_release release;
      return run_->simulation().hash();
    } catch (const std::runtime_error& failure) {
      rethrow_raised(failure);
    }
  }();
  if (!held_->controller) return simulated;
  // Controllers are outside of what is simulated, as a person at a viewer is: recordings have what they commanded.
  const std::string state = controller_bytes();
  if (state.empty()) return simulated;
  Hasher hasher;
  hasher.add(simulated);
  hasher.add(state.data(), state.size());
  return hasher.value();
}

void WorldHandle::take(sim::Input input) {
  if (auto given = run_->simulation().give_now(std::move(input)); !given.ok())
    throw Failure(Kind::input, given.error());
}

void WorldHandle::give(sim::Input input) {
  const Use use(*this, "give", Use::Callback::allowed);
  run_->simulation().give(std::move(input));
}

void WorldHandle::record(const std::string& file) {
  const Use use(*this, "record");
  may_step();
  refuse_undeclared();
  if (recorder_ != nullptr)
    throw Failure(Kind::input, "this world is being recorded already", "load it again for a second recording");
  if (run_->simulation().tick() > 0 && run_->restored().empty())
    throw Failure(Kind::input, "a recording begins with the run, and this world has been stepped",
                  "call record() before the first step");
  recorder_ = value_or_throw(cli::start_recording(*run_, file));
}

void WorldHandle::write(const std::string& folder) {
  const Use use(*this, "write");
  check(cli::write_results(*run_, recorder_.get(), folder));
  recorder_.reset();
}

std::vector<std::pair<std::string, std::string>> WorldHandle::take_log() {
  const std::lock_guard lock(log_mutex_);
  return std::exchange(lines_, {});
}

}  // namespace volvox::python
