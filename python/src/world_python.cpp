// What Python does to a world: commands, controllers, snapshots.
#include <fmt/format.h>

#include <cmath>

#include "python_behavior.h"
#include "world_handle.h"

namespace volvox::python {
namespace {

// A snapshot of a world with controllers: these words, the length of their state, their state, the run's own snapshot.
constexpr std::string_view controller_mark = "VOLVOXPY";

[[noreturn]] void not_finite(const std::string& what, double value) {
  throw Failure(Kind::input, fmt::format("the command of {} is {}", what, value), "give finite numbers");
}

}  // namespace

void WorldHandle::command(const double* targets, const std::int32_t* motors, std::size_t count,
                          physics::Control control) {
  const Use use(*this, "command", Use::Callback::allowed);
  const auto motor = [&](std::size_t k) -> const Motor& {
    const std::size_t index = motors == nullptr ? k : static_cast<std::size_t>(motors[k]);
    if (index >= motors_.size())
      throw Failure(Kind::input, fmt::format("there is no motor {}", motors == nullptr ? std::int64_t(k) : motors[k]),
                    fmt::format("this world has {} motors (World.motor_names)", motors_.size()));
    return motors_[index];
  };
  const world::World& world = run_->simulation().world();
  for (std::size_t k = 0; k < count; ++k)  // first all checks: a refused command changes nothing
    if (!std::isfinite(targets[k])) {
      const mind::Agent& agent = run_->simulation().minds().agent(motor(k).agent);
      const std::size_t joint = motor(k).joint - world.part(agent.placement()).first_joint;
      not_finite(agent.name() + "." + world.module_model(agent.placement()).joints[joint].name, targets[k]);
    } else (void)motor(k);
  sim::ActionInput input{control, 1, {}, {}, {targets, targets + count}};
  for (std::size_t k = 0; k < count; ++k) {
    input.agents.push_back(std::uint32_t{motor(k).agent});
    input.actions.push_back(static_cast<std::uint32_t>(motor(k).action.index));
  }
  take(std::move(input));
  for (std::size_t k = 0; k < count; ++k)
    if (motor(k).shared) commanded_[motors == nullptr ? k : static_cast<std::size_t>(motors[k])] = targets[k];
}

void WorldHandle::act(const std::string& action, const double* rows, std::size_t width, const std::int32_t* modules,
                      std::size_t count, physics::Control control) {
  const Use use(*this, "act", Use::Callback::allowed);
  commanded_.clear();  // whoever acts may overrule his own command: nobody is warned of that
  mind::Minds& minds = run_->simulation().minds();
  const auto agent = [&](std::size_t k) -> mind::Agent& {
    const std::size_t index = modules == nullptr ? k : static_cast<std::size_t>(modules[k]);
    if (index >= minds.size())
      throw Failure(Kind::input,
                    fmt::format("there is no module {}", modules == nullptr ? std::int64_t(k) : modules[k]),
                    fmt::format("this world has {} modules", minds.size()));
    return minds.agent(index);
  };
  sim::ActionInput input{control, width, {}, {}, {rows, rows + count * width}};
  for (std::size_t k = 0; k < count; ++k) {
    const std::vector<std::string>& names = agent(k).actions();
    const auto found = std::find(names.begin(), names.end(), action);
    if (found == names.end())
      throw Failure(Kind::input, fmt::format("module '{}' has no action '{}'", agent(k).name(), action),
                    fmt::format("it has: {}", fmt::join(names, ", ")));
    for (std::size_t i = 0; i < width; ++i)
      if (!std::isfinite(rows[k * width + i])) not_finite(agent(k).name() + "." + action, rows[k * width + i]);
    input.agents.push_back(modules == nullptr ? narrow<std::uint32_t>(k) : static_cast<std::uint32_t>(modules[k]));
    input.actions.push_back(static_cast<std::uint32_t>(found - names.begin()));
  }
  take(std::move(input));
}

void WorldHandle::set_controller(py::object call, py::object state, std::string undeclared) {
  const Use use(*this, "add_controller");
  held_->controller = std::move(call);
  held_->controller_state = std::move(state);
  undeclared_controller_ = std::move(undeclared);
}

// Without the interpreter's lock: in the input phase of a tick.
void WorldHandle::call_controller() {
  if (!held_->controller) return;
  mirrors_->refresh(run_->simulation());
  const py::gil_scoped_acquire lock;
  in_callback_ = std::this_thread::get_id();
  try {
    held_->controller();
  } catch (py::error_already_set& error) {
    in_callback_ = std::thread::id();
    raise_in_loop(error, *held_);
  }
  in_callback_ = std::thread::id();
}

// With the interpreter's lock.
std::string WorldHandle::controller_bytes() {
  const py::bytes bytes(held_->controller_state(py::none()));
  return std::string(bytes);
}

py::bytes WorldHandle::snapshot() {
  const Use use(*this, "snapshot");
  refuse_undeclared();
  Result<std::string> saved = [&] {
    try {
      const py::gil_scoped_release release;
      return run_->snapshot();
    } catch (const std::runtime_error& failure) {
      rethrow_raised(failure);
    }
  }();
  if (!saved.ok()) throw Failure(Kind::state, saved.error());
  if (!held_->controller) return py::bytes(saved->data(), saved->size());
  const std::string state = controller_bytes();
  std::string all(controller_mark);
  const std::uint64_t size = state.size();
  all.append(reinterpret_cast<const char*>(&size), sizeof size);
  all += state;
  all += *saved;
  return py::bytes(all.data(), all.size());
}

void WorldHandle::restore(const py::bytes& snapshot) {
  const Use use(*this, "restore");
  refuse_undeclared();
  commanded_.clear();
  std::string_view bytes(snapshot);
  std::string state;
  const bool controlled = bytes.starts_with(controller_mark);
  if (controlled != static_cast<bool>(held_->controller))
    throw Failure(Kind::state,
                  controlled ? "the snapshot is of a world with controllers, and this one has none"
                             : "the snapshot is of a world without controllers, and this one has some",
                  "add the same controllers to both worlds");
  if (controlled) {
    bytes.remove_prefix(controller_mark.size());
    std::uint64_t size = 0;
    if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size), bytes.remove_prefix(sizeof size);
    if (size > bytes.size()) throw Failure(Kind::state, "the snapshot is cut off", "use another snapshot");
    state = bytes.substr(0, size);
    bytes.remove_prefix(size);
  }
  const std::string before = controlled ? controller_bytes() : "";
  const auto set_controllers = [&](const std::string& to) { held_->controller_state(py::bytes(to.data(), to.size())); };
  if (controlled) set_controllers(state);
  const Result<void> restored = [&]() -> Result<void> {
    const py::gil_scoped_release release;
    return run_->restore(bytes);
  }();
  if (!restored.ok()) {
    if (controlled) set_controllers(before);
    throw Failure(Kind::state, restored.error());
  }
  failure_ = {};
  ended_ = false;
  events_.clear(), arrivals_.clear();
  held_->raised = {};
  mirrors_->refresh(run_->simulation());
}

}  // namespace volvox::python
