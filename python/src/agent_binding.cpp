// volvox.Agent: all that a behaviour in Python can know and do (mind/agent.h).
#include "python_behavior.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>

namespace volvox::python {
namespace {

struct PythonMessage {
  std::string outlet;
  int mailbox = 0, sender = -1;
  double power = 0, sent = 0, arrived = 0;
  py::object content;
};

double finite_or_throw(double value, const std::string& what) {
  if (!std::isfinite(value))
    throw Failure(Kind::input, "the command of '" + what + "' is not a finite number", "give a finite number");
  return value;
}

py::object percept(const AgentProxy& agent, const std::string& name) {
  const std::vector<std::string>& names = agent->percepts();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) (void)agent->percept<double>(name);  // throws, and lists what there is
  return to_python(agent->percept_value(found - names.begin()));
}

void act(const AgentProxy& agent, const std::string& name, py::handle command) {
  const std::vector<std::string>& names = agent->actions();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) (void)agent->find_action<double>(name);  // throws, and lists what there is
  const Value& value = agent->action_value(found - names.begin());
  const auto triple = [&] {
    const auto numbers = py::cast<std::vector<double>>(command);
    if (numbers.size() != 3) throw Failure(Kind::input, "the action '" + name + "' takes three numbers", "give three");
    for (const double number : numbers) finite_or_throw(number, name);
    return Vec3{numbers[0], numbers[1], numbers[2]};
  };
  if (value.get<mind::JointCommand>() != nullptr)
    agent->move_to(name, finite_or_throw(py::cast<double>(command), name));
  else if (value.get<bool>() != nullptr) agent->enable_dock(name, py::cast<bool>(command));
  else if (value.get<double>() != nullptr) agent->act(name, finite_or_throw(py::cast<double>(command), name));
  else if (value.get<Vec3>() != nullptr) agent->act(name, triple());
  else if (value.get<mind::Light>() != nullptr) {
    const Vec3 color = triple();
    agent->act(name, mind::Light{color.x, color.y, color.z});
  } else throw Failure(Kind::input, "the action '" + name + "' is of a type that Python cannot give", "use C++");
}

py::object read(const AgentProxy& agent, const std::optional<std::string>& outlet) {
  const std::optional<mind::Message> message = outlet ? agent->read(*outlet) : agent->read();
  return message ? message_of(*agent, *message) : py::object(py::none());
}

void send(const AgentProxy& agent, const std::string& outlet, py::handle content, int mailbox, int to) {
  if (mailbox < 0 || mailbox > mind::largest_mailbox)
    throw Failure(Kind::input, "there is no mailbox " + std::to_string(mailbox), "give a number from 0 to 32767");
  send_content(*agent, outlet, content, {.mailbox = narrow<mind::MailboxNumber>(mailbox), .to = to});
}

template <class T>
T parameter(const AgentProxy& agent, const std::string& name, const T& fallback) {
  if constexpr (std::is_same_v<T, std::string>) return agent->parameter(name, fallback.c_str());
  else return agent->parameter(name, fallback);
}

}  // namespace

py::object message_of(const mind::Agent& agent, const mind::Message& message) {
  return py::cast(PythonMessage{agent.where(message), message.mailbox, message.from, message.power,
                                message.sent.seconds(), message.arrived.seconds(), to_python(message.payload)});
}

void bind_agent(py::module_& module) {
  py::class_<PythonMessage>(module, "Message", "A message that has arrived at a module. Times in s of simulated time.")
      .def_readonly("outlet", &PythonMessage::outlet)
      .def_readonly("mailbox", &PythonMessage::mailbox)
      .def_readonly("sender", &PythonMessage::sender)
      .def_readonly("power", &PythonMessage::power)
      .def_readonly("sent", &PythonMessage::sent)
      .def_readonly("arrived", &PythonMessage::arrived)
      .def_readonly("content", &PythonMessage::content);
  py::class_<AgentProxy>(module, "Agent",
                         "All that a module can know and do. Valid only within a call of its behavior. SI units, rad.")
      .def_property_readonly("name", [](const AgentProxy& a) { return a->name(); })
      .def_property_readonly("time", [](const AgentProxy& a) { return a->time(); })
      .def_property_readonly("dt", [](const AgentProxy& a) { return a->dt(); })
      .def_property_readonly("address", [](const AgentProxy& a) { return a->address(); })
      .def_property_readonly("percepts", [](const AgentProxy& a) { return a->percepts(); })
      .def_property_readonly("actions", [](const AgentProxy& a) { return a->actions(); })
      .def_property_readonly("outlets", [](const AgentProxy& a) { return a->outlets(); })
      .def("percept", &percept, py::arg("name"))
      .def(
          "angle", [](const AgentProxy& a, const std::string& joint) { return a->angle(joint); }, py::arg("joint"))
      .def(
          "dock", [](const AgentProxy& a, const std::string& dock) { return percept(a, dock + ".dock"); },
          py::arg("name"))
      .def(
          "move_to",
          [](const AgentProxy& a, const std::string& joint, double position) {
            a->move_to(joint, finite_or_throw(position, joint));
          },
          py::arg("joint"), py::arg("position"))
      .def(
          "turn",
          [](const AgentProxy& a, const std::string& joint, double velocity) {
            a->turn(joint, finite_or_throw(velocity, joint));
          },
          py::arg("joint"), py::arg("velocity"))
      .def(
          "push",
          [](const AgentProxy& a, const std::string& joint, double torque) {
            a->push(joint, finite_or_throw(torque, joint));
          },
          py::arg("joint"), py::arg("torque"))
      .def(
          "enable_dock",
          [](const AgentProxy& a, const std::string& dock, bool enabled) { a->enable_dock(dock, enabled); },
          py::arg("dock"), py::arg("enabled") = true)
      .def("act", &act, py::arg("action"), py::arg("command"))
      .def("send", &send, py::arg("outlet"), py::arg("content"), py::kw_only(), py::arg("mailbox") = 0,
           py::arg("to") = mind::everyone)
      .def(
          "broadcast",
          [](const AgentProxy& a, py::handle content) {
            for (const model::Dock& dock : a->docks()) send_content(*a, dock.name, content, {});
          },
          py::arg("content"))
      .def("read", &read, py::arg("outlet") = py::none())
      .def_property_readonly("waiting", [](const AgentProxy& a) { return a->waiting(); })
      .def("random", [](const AgentProxy& a) { return a->random().uniform(); })
      .def("normal", [](const AgentProxy& a) { return a->random().normal(); })
      .def("parameter", &parameter<bool>, py::arg("name"), py::arg("default").noconvert())
      .def("parameter", &parameter<std::int64_t>, py::arg("name"), py::arg("default").noconvert())
      .def("parameter", &parameter<double>, py::arg("name"), py::arg("default").noconvert())
      .def("parameter", &parameter<std::string>, py::arg("name"), py::arg("default"))
      .def(
          "log", [](const AgentProxy& a, const std::string& text) { a->log("{}", text); }, py::arg("text"));
}

}  // namespace volvox::python
