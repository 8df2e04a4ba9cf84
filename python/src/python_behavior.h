// Behaviours in Python: a class of the user, one object of it a module.
#pragma once

#include <memory>
#include <string>

#include "bindings.h"
#include "volvox/mind/behavior.h"
#include "world_handle.h"

namespace volvox::python {

// The class of a behaviour. Made with the interpreter's lock; copies may be destroyed by any thread.
class PythonClass {
 public:
  // `stands_in`: it replaces a behaviour of Volvox, whose parameters it need not read.
  PythonClass(std::string name, py::object type, bool stands_in, std::shared_ptr<Held> held);
  bool declares_state() const { return declares_state_; }
  std::unique_ptr<mind::Behavior> make() const;

 private:
  std::string name_;
  py::handle type_;  // held_ keeps it
  bool stands_in_ = false, declares_state_ = false;
  std::shared_ptr<Held> held_;
};

// What a Python behaviour gets: its agent, during one call.
class AgentProxy {
 public:
  mind::Agent* agent = nullptr;  // null: no call is running
  mind::Agent& operator*() const;
  mind::Agent* operator->() const { return &**this; }
};

// Keeps the first exception of a callback, and says in C++ what went wrong.
[[noreturn]] void raise_in_loop(py::error_already_set& error, Held& held);

py::object to_python(const Value& value);
py::object to_python(const Payload& payload);
// A message: numbers, text and bytes as C++ behaviours know them, all else so that only Python can read it.
void send_content(mind::Agent& agent, const std::string& outlet, py::handle content, const mind::SendOptions& options);
py::object message_of(const mind::Agent& agent, const mind::Message& message);
std::string text_of(py::error_already_set& error);  // "ValueError: too far (walk.py, line 12)"

}  // namespace volvox::python
