// volvox._core.World: python/volvox/world.py has its documentation.
#include "arrays.h"

#include <pybind11/stl.h>

#include <set>
#include <utility>

#include "volvox/base/hash.h"
#include "volvox/model/mjcf.h"
#include "volvox/report/run_report.h"
#include "volvox/world/measures.h"
#include "world_handle.h"
#include "world_pictures.h"

namespace volvox::python {
namespace {

using Use = WorldHandle::Use;
// Without a cast that loses something: numbers of another type are a TypeError.
using Numbers = py::array_t<double, py::array::c_style>;
using Indices = py::array_t<std::int32_t, py::array::c_style>;

// How many rows an array has; none, if it is no list.
std::optional<std::size_t> rows_of(const py::array& array, py::ssize_t most_dimensions) {
  if (array.ndim() < 1 || array.ndim() > most_dimensions) return std::nullopt;
  return static_cast<std::size_t>(array.shape(0));
}
std::size_t count_of(const std::optional<Indices>& chosen, std::size_t all) {
  if (!chosen) return all;
  const auto count = rows_of(*chosen, 1);
  if (!count) throw Failure(Kind::input, "indices are one list of whole numbers", "give an array of one dimension");
  return *count;
}

// A read-only array on memory of the mirrors, which it keeps alive.
template <class T>
py::array array(const std::shared_ptr<Mirrors>& mirrors, const T* data, const Shape& shape) {
  py::array_t<T> made = array_on(data, shape, mirrors);
  made.attr("setflags")(py::arg("write") = false);
  return made;
}

template <class Struct>
py::object rows(const std::shared_ptr<Mirrors>& mirrors, const std::vector<Struct>& values) {
  constexpr std::size_t width = sizeof(Struct) / sizeof(double);
  static_assert(sizeof(Struct) % sizeof(double) == 0 && std::is_standard_layout_v<Struct>);
  return array(mirrors, reinterpret_cast<const double*>(values.data()), {values.size(), width});
}

template <class T>
py::object column(const std::shared_ptr<Mirrors>& mirrors, const std::vector<T>& values) {
  return array(mirrors, values.data(), {values.size()});
}

py::object state_array(WorldHandle& handle, const std::string& name) {
  const Use use(handle, name.c_str(), Use::Callback::allowed);
  const auto mirrors = handle.mirrors();
  const sim::Simulation& simulation = handle.run().simulation();
  if (name == "poses") return rows(mirrors, mirrors->poses(simulation));
  if (name == "velocities") return rows(mirrors, mirrors->velocities(simulation));
  if (name == "joints") return rows(mirrors, mirrors->joints(simulation));
  if (name.starts_with("particle_")) {
    const Mirrors::Particles& particles = mirrors->particles(simulation);
    if (name == "particle_positions") return rows(mirrors, particles.positions);
    if (name == "particle_velocities") return rows(mirrors, particles.velocities);
    return column(mirrors, particles.kinds);
  }
  const Mirrors::Docks& docks = mirrors->docks(simulation);
  if (name == "dock_loads") return rows(mirrors, docks.loads);
  if (name == "dock_phases") return column(mirrors, docks.phases);
  if (name == "dock_enabled") return column(mirrors, docks.enabled);
  if (name == "dock_broken") return column(mirrors, docks.broken);
  return column(mirrors, docks.partners);
}

py::object percept_array(WorldHandle& handle, const std::string& name) {
  const Use use(handle, "percepts", Use::Callback::allowed);
  const auto mirrors = handle.mirrors();
  const mind::Minds& minds = handle.run().simulation().minds();
  const Mirrors::Percept* percept = mirrors->percept(handle.run().simulation(), name);
  if (percept == nullptr) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < minds.size(); ++i)
      for (const std::string& known : minds.agent(i).percepts())
        if (std::find(all.begin(), all.end(), known) == all.end()) all.push_back(known);
    std::string list;
    for (const std::string& known : all) list += (list.empty() ? "" : ", ") + known;
    throw Failure(Kind::input, "no module has a percept '" + name + "'", "there are: " + list);
  }
  if (percept->width == 0)
    throw Failure(Kind::input, "the percept '" + name + "' has no numbers that an array could show",
                  "read it in a behavior: agent.percept(\"" + name + "\")");
  return array(mirrors, percept->numbers.data(), {minds.size(), percept->width});
}

// Names and numbers that do not change, as one dict.
py::dict description(WorldHandle& handle) {
  const sim::Run& run = handle.run();
  const world::World& world = run.simulation().world();
  py::list modules, models, first_links, links, link_modules, joints, docks, dock_modules, motors, motor_joints,
      motor_modules, limits;
  std::vector<int> module_of(world.placements(), -1);
  for (std::size_t i = 0; i < world.modules().size(); ++i) module_of[world.modules()[i]] = narrow<int>(i);
  for (const world::PlacementIndex p : world.modules()) {
    modules.append(world.name(p));
    models.append(world.module_model(p).name);
    first_links.append(std::uint32_t{world.part(p).first_link});
  }
  for (world::PlacementIndex p = 0; p < world.placements(); ++p) {
    for (const model::Link& link : world.module_model(p).links)
      links.append(world.name(p) + "." + link.name), link_modules.append(module_of[p]);
    for (const model::Joint& joint : world.module_model(p).joints) joints.append(world.name(p) + "." + joint.name);
    for (const model::Dock& dock : world.module_model(p).docks)
      docks.append(world.name(p) + "." + dock.name), dock_modules.append(module_of[p]);
  }
  for (const WorldHandle::Motor& motor : handle.motors()) {
    motors.append(joints[std::uint32_t{motor.joint}]);
    motor_joints.append(std::uint32_t{motor.joint});
    motor_modules.append(std::uint32_t{motor.agent});
    limits.append(py::make_tuple(motor.lower, motor.upper, motor.velocity, motor.effort));
  }
  py::dict all;
  const sim::RunReport& report = run.report();
  all["experiment"] = report.experiment, all["engine"] = report.engine, all["seed"] = report.seed;
  all["dt"] = report.dt.text(), all["dt_s"] = report.dt.seconds(), all["threads"] = report.threads;
  all["ticks"] = run.ticks(), all["file"] = report.file;
  py::dict settings;
  for (const auto& [key, value] : report.settings) settings[key.c_str()] = value;
  all["settings"] = settings;
  all["modules"] = modules, all["models"] = models, all["first_links"] = first_links;
  all["links"] = links, all["link_modules"] = link_modules, all["joints"] = joints;
  py::list kinds;
  for (const std::string& kind : Mirrors::particle_kinds(run.simulation())) kinds.append(kind);
  all["particle_kinds"] = kinds;
  all["docks"] = docks, all["dock_modules"] = dock_modules;
  all["motors"] = motors, all["motor_joints"] = motor_joints, all["motor_modules"] = motor_modules,
  all["motor_limits"] = limits;
  return all;
}

std::unique_ptr<WorldHandle> load(const std::string& experiment, const std::string& engine, std::uint64_t seed,
                                  int threads, const std::optional<std::string>& dt, std::optional<double> substep,
                                  const std::optional<std::string>& precision, std::optional<double> duration,
                                  const std::map<std::string, std::string>& settings,
                                  const std::vector<std::string>& plugins, const py::dict& behaviors,
                                  const std::optional<py::bytes>& restore, bool accept_changes) {
  sim::RunOptions options;
  options.experiment = experiment, options.engine = engine, options.seed = seed;
  options.threads = threads;
  if (dt) options.dt = value_or_throw(TickLength::parse(*dt));
  if (substep && !(*substep > 0 && *substep <= 1))
    throw Failure(Kind::input, "a substep of " + std::to_string(*substep) + " s is not possible",
                  "give seconds, such as 1/480");
  options.max_substep = substep;
  if (precision) options.precision = value_or_throw(physics::parse_precision(*precision));
  if (duration && !(*duration >= 0 && *duration <= 1e9))
    throw Failure(Kind::input, "a duration of " + std::to_string(*duration) + " s is not possible", "give 0 to 1e9 s");
  options.duration = duration, options.settings = settings, options.plugins = plugins;
  if (restore) options.restore_bytes = std::string(*restore);
  options.accept_changes = accept_changes;
  return std::make_unique<WorldHandle>(std::move(options), behaviors);
}

physics::Control control_of(const std::string& name) {
  if (name == "position") return physics::Control::position;
  if (name == "velocity") return physics::Control::velocity;
  if (name == "torque") return physics::Control::torque;
  if (name == "off") return physics::Control::off;
  throw Failure(Kind::input, "there is no control '" + name + "'", "give position, velocity, torque or off");
}

void command(WorldHandle& world, const Numbers& targets, const std::optional<Indices>& motors,
             const std::string& control) {
  const std::size_t count = count_of(motors, world.motors().size());
  if (rows_of(targets, 1) != count)
    throw Failure(Kind::input, "the targets have the wrong shape",
                  "give one number for each motor: " + std::to_string(count));
  world.command(targets.data(), motors ? motors->data() : nullptr, count, control_of(control));
}

void act(WorldHandle& world, const std::string& action, const Numbers& values, const std::optional<Indices>& modules,
         const std::string& control) {
  const std::size_t count = count_of(modules, world.run().simulation().minds().size());
  if (rows_of(values, 2) != count)
    throw Failure(Kind::input, "the values have the wrong shape",
                  "give an array with a row for each module: " + std::to_string(count));
  world.act(action, values.data(), values.ndim() == 2 ? static_cast<std::size_t>(values.shape(1)) : 1,
            modules ? modules->data() : nullptr, count, control_of(control));
}

py::list events(WorldHandle& world) {
  constexpr const char* kinds[] = {"captured", "engaged", "released", "broken", "jammed", "slipped"};
  const Use use(world, "events", Use::Callback::allowed);
  const world::World& inside = world.run().simulation().world();
  py::list all;
  for (const DockEvent& happened : world.events()) {
    const world::DockLoad& load = happened.event.load;
    all.append(py::make_tuple(happened.time, kinds[number_of(happened.event.kind)],
                              inside.dock_name(happened.event.dock_a), inside.dock_name(happened.event.dock_b),
                              py::make_tuple(load.axial, load.shear, load.bending, load.torsion)));
  }
  return all;
}

py::list messages(WorldHandle& world) {
  const Use use(world, "messages", Use::Callback::allowed);
  py::list all;
  for (const Arrival& a : world.arrivals())
    all.append(py::make_tuple(a.sent, a.arrived, a.sender, a.module, a.outlet, a.type, a.content));
  return all;
}

void give(WorldHandle& world, const std::string& kind, const std::string& module, const std::string& name,
          const std::string& text, double value, const std::vector<double>& force) {
  if (force.size() != 3) throw Failure(Kind::input, "a force has three numbers", "give (x, y, z) in N");
  world.give(value_or_throw(sim::input_of({kind, module, name, text, value, {force[0], force[1], force[2]}})));
}

// Those that give("parameter") can change: of one module, or ("") of all.
std::set<std::string> behavior_parameters(WorldHandle& world, const std::string& module) {
  const Use use(world, "behavior_parameters", Use::Callback::allowed);
  const mind::Minds& minds = world.run().simulation().minds();
  std::set<std::string> names;
  for (std::size_t i = 0; i < minds.size(); ++i) {
    if (!module.empty() && minds.agent(i).name() != module) continue;
    for (const auto& [name, value] : minds.agent(i).behavior_parameters()) names.insert(name);
  }
  return names;
}

// Columns of the samples so far.
py::dict history(WorldHandle& world) {
  const Use use(world, "history");
  const std::vector<sim::TimePoint>& points = world.run().report().history;
  std::vector<py::list> columns(sim::TimePoint::names.size() + 1);
  for (const sim::TimePoint& point : points) {
    columns[0].append(point.time);
    const auto values = point.values();
    for (std::size_t i = 0; i < values.size(); ++i) columns[i + 1].append(values[i]);
  }
  py::dict all;
  all["time_s"] = columns[0];
  for (std::size_t i = 1; i < columns.size(); ++i) all[sim::TimePoint::names[i - 1]] = columns[i];
  return all;
}

// report.html of the run so far, as bytes of UTF-8.
py::bytes report_page(WorldHandle& world) {
  const Use use(world, "report_page");
  return py::bytes(report::report_html(world.run().report(), {}));
}

// Null while the object is being made.
WorldHandle* made(PyObject* self) {
  const auto inside = reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder();
  return inside.holder_constructed() ? inside.value_ptr<WorldHandle>() : nullptr;
}

// For Python's garbage collector: what a world refers to.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  WorldHandle* const world = made(self);
  if (world == nullptr) return 0;
  const Held& held = world->held();
  for (const py::object& object : held.objects) Py_VISIT(object.ptr());
  Py_VISIT(held.controller.ptr());
  Py_VISIT(held.controller_state.ptr());
  Py_VISIT(held.raised.ptr());
  return 0;
}

int clear(PyObject* self) {
  WorldHandle* const world = made(self);
  if (world == nullptr) return 0;
  Held& held = world->held();
  held.dropped = true;
  const std::vector<py::object> dropped = std::exchange(held.objects, {});  // freeing them may call Python
  const py::object others[] = {std::exchange(held.controller, {}), std::exchange(held.controller_state, {}),
                               std::exchange(held.raised, {})};
  return 0;
}

void collectable(PyHeapTypeObject* type) {
  type->ht_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
  type->ht_type.tp_traverse = traverse;
  type->ht_type.tp_clear = clear;
}

}  // namespace

void bind_world(py::module_& module) {
  py::class_<WorldHandle>(module, "World", py::custom_type_setup(&collectable))
      .def(py::init(&load), py::arg("experiment"), py::arg("engine"), py::arg("seed"), py::arg("threads"),
           py::arg("dt"), py::arg("substep"), py::arg("precision"), py::arg("duration"), py::arg("settings"),
           py::arg("plugins"), py::arg("behaviors"), py::arg("restore"), py::arg("accept_changes"))
      .def("step", &WorldHandle::step, py::arg("ticks"))
      .def("end", &WorldHandle::end)
      .def("close", &WorldHandle::close)
      .def_property_readonly("closed", &WorldHandle::closed)
      .def("description", &description)
      .def("state_array", &state_array, py::arg("name"))
      .def("percept_array", &percept_array, py::arg("name"))
      .def("command", &command, py::arg("targets"), py::arg("motors"), py::arg("control"))
      .def("act", &act, py::arg("action"), py::arg("values"), py::arg("modules"), py::arg("control"))
      .def("give", &give, py::arg("kind"), py::arg("module"), py::arg("name"), py::arg("text"), py::arg("value"),
           py::arg("force"))
      .def("behavior_parameters", &behavior_parameters, py::arg("module"))
      .def("events", &events)
      .def("messages", &messages)
      .def("watch_messages", &WorldHandle::watch_messages)
      .def("history", &history)
      .def("report_page", &report_page)
      .def("mjcf",
           [](WorldHandle& world) {
             const Use use(world, "mjcf", Use::Callback::allowed);
             model::Mjcf mjcf = model::write_mjcf(world.run().simulation().world().model());
             return py::make_tuple(mjcf.text, mjcf.left_out);
           })
      .def("state_hash", [](WorldHandle& world) { return hash_text(world.hash()); })
      .def("snapshot", &WorldHandle::snapshot)
      .def("restore", &WorldHandle::restore, py::arg("snapshot"))
      .def("set_controller", &WorldHandle::set_controller, py::arg("call"), py::arg("state"), py::arg("undeclared"))
      .def("record", &WorldHandle::record, py::arg("file"))
      .def("write", &WorldHandle::write, py::arg("folder"))
      .def("picture", &WorldHandle::picture, py::arg("camera"), py::arg("width"), py::arg("height"), py::arg("docks"))
      .def("depth", &WorldHandle::depth, py::arg("camera"), py::arg("width"), py::arg("height"), py::arg("range"))
      .def("take_log", &WorldHandle::take_log)
      .def("take_raised",
           [](WorldHandle& world) {
             py::object raised = world.take_raised();
             return raised ? raised : py::object(py::none());
           })
      .def_property_readonly("tick", [](WorldHandle& world) { return world.run().simulation().tick(); })
      .def_property_readonly("time", [](WorldHandle& world) { return world.run().simulation().now().seconds(); })
      .def("centre_of_mass",
           [](WorldHandle& world) {
             const Use use(world, "centre_of_mass", Use::Callback::allowed);
             const Vec3 centre = world::centre_of_mass(world.run().simulation().world());
             return py::make_tuple(centre.x, centre.y, centre.z);
           })
      .def("organisms",
           [](WorldHandle& world) {
             const Use use(world, "organisms", Use::Callback::allowed);
             const world::World& inside = world.run().simulation().world();
             std::vector<std::uint32_t> of;
             for (const world::PlacementIndex p : inside.modules()) of.push_back(inside.graph().organisms()[p]);
             return of;
           })
      .def("network", [](WorldHandle& world) {
        const Use use(world, "network", Use::Callback::allowed);
        const mind::NetworkCounters& counters = world.run().simulation().minds().network();
        return py::make_tuple(counters.sent, counters.delivered, counters.lost);
      });
}

}  // namespace volvox::python
