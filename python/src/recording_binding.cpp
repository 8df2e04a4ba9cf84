// volvox._core.Recording: recordings as arrays (record/recording.h).
#include "arrays.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "volvox/base/hash.h"
#include "volvox/record/recording.h"
#include "volvox/record/replay.h"
#include "volvox/view/web/page.h"
#include "world_handle.h"

namespace volvox::python {
namespace {

std::unique_ptr<record::Recording> open(const std::string& path) {
  return value_or_throw(record::Recording::open(path));
}

// The ticks first, first + every, ... up to last, as one dict of arrays.
py::dict read(record::Recording& recording, std::int64_t first, std::int64_t last, std::int64_t every) {
  if (every < 1 || first < recording.first_tick() || last > recording.last_tick() || first > last)
    throw Failure(Kind::input,
                  fmt::format("the ticks {} to {}, every {}, are not in the recording", first, last, every),
                  fmt::format("give ticks from {} to {}", recording.first_tick(), recording.last_tick()));
  std::vector<double> times, joints;
  std::vector<std::int64_t> ticks;
  std::vector<float> poses, loads;
  std::vector<std::uint32_t> flags;
  std::vector<std::int32_t> partners;
  py::list hashes, events;
  std::size_t links = 0, joint_count = 0, docks = 0;
  for (std::int64_t t = first; t <= last; t += every) {
    const record::RecordedTick& state = *value_or_throw(recording.tick(t));
    if (t == first) links = state.links.size(), joint_count = state.joints.size(), docks = state.docks.size();
    if (state.links.size() != links || state.joints.size() != joint_count || state.docks.size() != docks)
      throw Failure(Kind::input, "the recording changes its size on the way", "read its ticks one by one");
    ticks.push_back(t);
    times.push_back(state.time.seconds());
    hashes.append(hash_text(state.hash));
    for (const auto& link : state.links) {
      poses.insert(poses.end(), link.position.begin(), link.position.end());
      poses.insert(poses.end(), {link.rotation[3], link.rotation[0], link.rotation[1], link.rotation[2]});
    }
    for (const auto& joint : state.joints) joints.insert(joints.end(), {joint.position, joint.velocity, joint.torque});
    for (const auto& dock : state.docks) {
      flags.push_back(dock.flags);
      partners.push_back(dock.partner == world::nobody ? -1 : static_cast<std::int32_t>(std::uint32_t{dock.partner}));
      loads.push_back(dock.load);
    }
    for (const auto& event : state.dock_events) {
      const auto name = [&](world::DockIndex dock) -> std::string {
        return dock < recording.names().docks.size() ? recording.names().docks[dock] : "";
      };
      events.append(
          py::make_tuple(state.time.seconds(), event.event, name(event.dock), name(event.partner),
                         py::make_tuple(event.load.axial, event.load.shear, event.load.bending, event.load.torsion)));
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  const std::size_t n = ticks.size();
  py::dict all;
  all["ticks"] = array_of(std::move(ticks), {n}), all["times"] = array_of(std::move(times), {n});
  all["poses"] = array_of(std::move(poses), {n, links, 7}),
  all["joints"] = array_of(std::move(joints), {n, joint_count, 3});
  all["dock_flags"] = array_of(std::move(flags), {n, docks}),
  all["dock_partners"] = array_of(std::move(partners), {n, docks});
  all["dock_loads"] = array_of(std::move(loads), {n, docks});
  all["hashes"] = hashes, all["events"] = events;
  return all;
}

// Runs it again; behaviours that were classes in Python are given again.
py::tuple verify(record::Recording& recording, const py::dict& behaviors, int threads, bool accept_changes) {
  const auto held = std::make_shared<Held>();
  sim::Library library = standard_library();
  std::map<std::string, std::string> stand_ins;
  const GivenBehaviors given = add_behaviors(behaviors, held, library, stand_ins);
  Log log([](LogLevel, std::string_view) {}, LogLevel::warning);
  std::atomic<bool> stop = false;
  const auto look = [&](const sim::Progress&) {
    const py::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) stop = true;
  };
  Result<record::Verification> found = [&] {
    const py::gil_scoped_release release;
    return record::verify(recording, library, log, given.python ? 1 : threads, look, &stop, accept_changes);
  }();
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  if (!found.ok()) throw Failure(Kind::input, found.error());
  return py::make_tuple(found->same, found->ticks, found->of, found->time, found->module, found->field, found->detail);
}

// The page that shows it, as bytes of UTF-8.
py::bytes page(record::Recording& recording, std::int64_t every) {
  if (every < 0) throw Failure(Kind::input, fmt::format("every {} ticks are not possible", every), "give 1 or more");
  const std::string text = value_or_throw(view::page_of(recording, {.every = every})).html;
  return py::bytes(text.data(), text.size());
}

}  // namespace

void bind_recording(py::module_& module) {
  py::class_<record::Recording>(module, "Recording")
      .def_property_readonly("first_tick", &record::Recording::first_tick)
      .def_property_readonly("last_tick", &record::Recording::last_tick)
      .def_property_readonly("dt", [](const record::Recording& r) { return r.dt().text(); })
      .def_property_readonly("complete", &record::Recording::complete)
      .def_property_readonly("warning", &record::Recording::warning)
      .def_property_readonly("file", [](const record::Recording& r) { return r.file().string(); })
      .def_property_readonly("description", &record::Recording::description)
      .def_property_readonly("results", &record::Recording::results)
      .def_property_readonly("modules", [](const record::Recording& r) { return r.names().modules; })
      .def_property_readonly("links", [](const record::Recording& r) { return r.names().links; })
      .def_property_readonly("joints", [](const record::Recording& r) { return r.names().joints; })
      .def_property_readonly("docks", [](const record::Recording& r) { return r.names().docks; })
      .def("page", &page, py::arg("every"))
      .def("read", &read, py::arg("first"), py::arg("last"), py::arg("every"))
      .def("verify", &verify, py::arg("behaviors"), py::arg("threads"), py::arg("accept_changes"));
  module.def(
      "open_recording", [](const std::string& path) { return open(path).release(); },
      py::return_value_policy::take_ownership, py::arg("path"));
}

}  // namespace volvox::python
