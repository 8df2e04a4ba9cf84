// The extension module volvox._core. python/volvox wraps it into the API that people use.
#include "bindings.h"

#include <pybind11/stl.h>

#include "volvox/base/help_page.h"
#include "volvox/base/platform/paths.h"
#include "volvox/model/reader.h"
#include "volvox/sim/experiment.h"
#include "world_handle.h"

namespace volvox::python {
namespace {

constexpr const char* class_of(Kind kind) {
  switch (kind) {
    case Kind::input: return "InputError";
    case Kind::run: return "RunFailed";
    case Kind::closed: return "ClosedError";
    case Kind::busy: return "BusyError";
    case Kind::state: return "StateError";
  }
  return "VolvoxError";
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Failure& failure) {
    py::list diagnostics;
    for (const Diagnostic& d : failure.error().diagnostics())
      diagnostics.append(py::make_tuple(d.file, d.line, d.what, d.fix));
    const py::object type = py::module_::import("volvox.errors").attr(class_of(failure.kind()));
    PyErr_SetObject(type.ptr(), type(std::string(failure.what()), diagnostics).ptr());
  } catch (const mind::AgentError& error) {
    const py::object type = py::module_::import("volvox.errors").attr("InputError");
    PyErr_SetObject(type.ptr(), type(std::string(error.what()), py::list()).ptr());
  }
}

std::vector<std::string> experiment_names() {
  std::vector<std::string> names;
  for (const sim::Located& found : sim::find_experiments(standard_library())) names.push_back(found.name);
  return names;
}

}  // namespace

void bind_errors(py::module_&) { py::register_exception_translator(&translate); }

}  // namespace volvox::python

PYBIND11_MODULE(_core, module) {
  using namespace volvox::python;
  bind_errors(module);
  bind_agent(module);
  bind_world(module);
  bind_recording(module);
  bind_population(module);
  module.attr("__version__") = VOLVOX_VERSION;
  module.def("help_page", [](const std::string& file, const std::string& what, const std::string& fix) {
    return volvox::help_page(volvox::Diagnostic{file, 0, what, fix});
  });
  module.def("experiments", &experiment_names);
  module.def("engines", [] { return standard_library().engines.names(); });
  module.def("behaviors", [] { return standard_library().minds.behaviors.names(); });
  module.def("experiment_file", [](const std::string& name) {
    return value_or_throw(volvox::sim::locate_experiment(name, standard_library())).file.string();
  });
  module.def("robot_file", [](const std::string& name) {
    return value_or_throw(volvox::model::ModelLibrary().find(name, {})).string();
  });
  module.def("library", [] { return volvox::platform::library().string(); });
}
