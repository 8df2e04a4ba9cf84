// Many worlds stepped together (sim/population.h).
#include "world_handle.h"

#include <fmt/format.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <deque>

#include "volvox/base/platform/clock.h"
#include "volvox/sim/population.h"

namespace volvox::python {
namespace {

class PopulationHandle {
 public:
  PopulationHandle(const py::list& worlds, int threads, const std::string& device) {
    if (threads < 1 || threads > 1024)
      throw Failure(Kind::input, fmt::format("{} threads are not possible", threads), "give 1 to 1024");
    std::vector<std::shared_ptr<sim::Run>> runs;
    for (const py::handle world : worlds) {
      auto* handle = py::cast<WorldHandle*>(world);
      for (const WorldHandle* other : handles_)
        if (other == handle) throw Failure(Kind::input, "one world is twice in the population", "give each once");
      handle->run();  // not closed
      objects_.push_back(py::reinterpret_borrow<py::object>(world));
      handles_.push_back(handle);
      runs.push_back(handle->shared_run());
    }
    population_ = std::make_unique<sim::Population>(std::move(runs), threads, gpu(device));
  }

  // Ticks that the GPU made; why it did not make others, with how many; what is wrong with it.
  py::tuple on_device() const {
    const auto made = population_->on_device();
    return py::make_tuple(made.ticks, made.left, missing_.empty() ? made.failure : missing_);
  }

  ~PopulationHandle() {
    if (::getpid() != process_) (void)population_.release();  // its threads are not in a process that was forked
  }
  PopulationHandle(const PopulationHandle&) = delete;
  PopulationHandle& operator=(const PopulationHandle&) = delete;

  // Steps the worlds of these indices. Those that failed are named by the exception; the others have made their ticks.
  // progress: None, or called a few times a second with the ticks that were made.
  void step(std::int64_t ticks, const std::vector<std::size_t>& which, const py::object& progress) {
    if (ticks < 0) throw Failure(Kind::input, fmt::format("{} ticks cannot be stepped", ticks), "give 0 or more");
    std::deque<WorldHandle::Use> uses;
    for (const std::size_t i : which) {
      if (i >= handles_.size())
        throw Failure(Kind::input, fmt::format("there is no world {}", i),
                      fmt::format("the population has {}", handles_.size()));
      if (handles_[i]->runs_python())
        throw Failure(Kind::input, "a world with behaviors or controllers in Python cannot be in a population",
                      "step it by itself: the interpreter would run one of them at a time anyhow");
      uses.emplace_back(*handles_[i], "step");
      if (handles_[i]->shared_run().get() != population_->run(i).get())
        throw Failure(Kind::closed, "a world of this population was closed", "make a new population");
      handles_[i]->may_step();
      handles_[i]->begin_step();
    }
    std::vector<StepStatus> statuses(which.size());
    std::optional<py::error_already_set> interrupted;
    std::int64_t some = 1;
    double told = platform::monotonic_seconds();
    for (std::int64_t made = 0; made < ticks && !interrupted;) {
      some = std::min(some, ticks - made);
      const double begun = platform::monotonic_seconds();
      {
        const py::gil_scoped_release release;
        population_->step(some, which, statuses);
      }
      made += some;
      const double now = platform::monotonic_seconds();
      some = std::max<std::int64_t>(1, now - begun < look_s / 2 ? some * 2 : now - begun > look_s ? some / 2 : some);
      if (PyErr_CheckSignals() != 0) interrupted.emplace();
      if (interrupted || progress.is_none() || (made < ticks && now - told < tell_s)) continue;
      told = now;
      try {
        progress(made);
      } catch (py::error_already_set& raised) {
        interrupted.emplace(std::move(raised));
      }
    }
    std::string failed;
    for (std::size_t k = 0; k < which.size(); ++k) {
      handles_[which[k]]->stepped(statuses[k]);
      if (!statuses[k].ok() && failed.empty()) failed = fmt::format("world {}: {}", which[k], statuses[k].text());
    }
    if (interrupted) throw py::error_already_set(*interrupted);
    if (!failed.empty()) throw Failure(Kind::run, failed, "");
  }

 private:
  std::shared_ptr<const physics::cuda::Device> gpu(const std::string& device) {
    if (device != "cpu" && device != "cuda")
      throw Failure(Kind::input, fmt::format("there is no device '{}'", device), "give 'cpu' or 'cuda'");
    if (device == "cpu") return nullptr;
    auto found = physics::cuda::Device::find();
    if (found.ok()) return *found;
    missing_ = found.error().text();
    return nullptr;
  }

  std::string missing_;                   // why there is no GPU
  static constexpr double look_s = 0.05;  // between two looks for Ctrl-C, where a tick of all worlds is shorter
  static constexpr double tell_s = 0.2;   // between two reports of progress
  int process_ = ::getpid();
  std::vector<py::object> objects_;
  std::vector<WorldHandle*> handles_;
  std::unique_ptr<sim::Population> population_;
};

}  // namespace

void bind_population(py::module_& module) {
  py::class_<PopulationHandle>(module, "Population")
      .def(py::init<const py::list&, int, const std::string&>(), py::arg("worlds"), py::arg("threads"),
           py::arg("device"))
      .def("on_device", &PopulationHandle::on_device)
      .def("step", &PopulationHandle::step, py::arg("ticks"), py::arg("which"), py::arg("progress"));
}

}  // namespace volvox::python
