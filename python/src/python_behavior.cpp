#include "python_behavior.h"

#include <limits>

#include "volvox/mind/message_types.h"
#include "volvox/mind/transfer.h"

namespace volvox::python {

// A message that only Python can read: a list, a dict, an array.
struct PythonValue {
  std::string packed;
};
VOLVOX_TYPE(PythonValue, packed)

namespace {

py::object codec(const char* function) { return py::module_::import("volvox._codec").attr(function); }

// The calls of a behaviour of Volvox, passed on to a Python object. Each takes the interpreter's lock.
class PythonBehavior final : public mind::Behavior {
 public:
  PythonBehavior(py::object instance, bool stands_in, bool declares_state, std::shared_ptr<Held> held)
      : stands_in_(stands_in), declares_state_(declares_state), held_(std::move(held)) {
    instance_ = held_->keep(std::move(instance));
    agent_ = held_->keep(py::cast(new AgentProxy, py::return_value_policy::take_ownership));
    proxy_ = py::cast<AgentProxy*>(agent_);
    // What a class leaves to volvox.Behavior does nothing, and is not called.
    const py::object base = py::module_::import("volvox.behavior").attr("Behavior");
    const py::handle type = py::type::handle_of(instance_);
    for (const auto& [name, method] : {std::pair{"start", &start_},
                                       {"step", &step_},
                                       {"receive", &receive_},
                                       {"end_tick", &end_tick_},
                                       {"tune", &tune_}})
      if (py::hasattr(instance_, name) &&
          !(py::hasattr(type, name) && type.attr(name).is(base.attr(name)) && method != &step_))
        *method = held_->keep(instance_.attr(name));
    if (py::hasattr(instance_, "period")) period_ = py::cast<double>(instance_.attr("period"));
  }

  void start(mind::Agent& agent) override {
    if (stands_in_) {  // it need not read the parameters of the behaviour that it replaces
      const Parameters& parameters = mind::AgentTransfer::parameters(agent);
      for (const auto& [name, value] : parameters.given()) (void)parameters.text(name, value);
    }
    if (start_) call(agent, [&] { start_(agent_); });
  }
  void step(mind::Agent& agent) override {
    call(agent, [&] { step_(agent_); });
  }
  bool receive(mind::Agent& agent, const mind::Message& message) override;
  void end_tick(mind::Agent& agent) override {
    if (!end_tick_) return;
    call(agent, [&] { end_tick_(agent_); });
  }
  void tune(mind::Agent& agent) override {
    if (!tune_) return;
    call(agent, [&] { tune_(agent_); });
  }
  double period() const override { return period_; }
  bool lists_state() const override { return declares_state_; }
  void archive_state(Archive& ar) override;

 private:
  template <class Call>
  void call(mind::Agent& agent, Call&& work) {
    const py::gil_scoped_acquire lock;
    if (held_->dropped) throw std::runtime_error("the world is being freed");
    if (held_->interrupted()) throw std::runtime_error("interrupted");  // the other modules are not begun
    proxy_->agent = &agent;
    try {
      work();
    } catch (py::error_already_set& error) {
      proxy_->agent = nullptr;
      raise_in_loop(error, *held_);
    } catch (...) {
      proxy_->agent = nullptr;
      throw;
    }
    proxy_->agent = nullptr;
  }

  py::handle instance_, agent_, start_, step_, receive_, end_tick_, tune_;  // held_ keeps them; invalid: there is none
  AgentProxy* proxy_ = nullptr;
  bool stands_in_ = false, declares_state_ = false;
  double period_ = 0;
  std::shared_ptr<Held> held_;
};

bool PythonBehavior::receive(mind::Agent& agent, const mind::Message& message) {
  if (!receive_) return false;
  bool taken = false;
  call(agent, [&] { taken = py::cast<bool>(py::bool_(receive_(agent_, message_of(agent, message)))); });
  return taken;
}

void PythonBehavior::archive_state(Archive& ar) {
  if (!declares_state_) return;
  const py::gil_scoped_acquire lock;
  if (held_->dropped) throw std::runtime_error("the world is being freed");
  try {
    std::string packed;
    if (!ar.loading()) {
      const py::bytes bytes(codec("state_of")(instance_));
      packed = std::string(bytes);
    }
    ar("python", packed);
    if (ar.loading() && ar.ok()) codec("set_state")(instance_, py::bytes(packed.data(), packed.size()));
  } catch (py::error_already_set& error) {
    if (!ar.loading()) raise_in_loop(error, *held_);
    ar.fail(text_of(error));
  }
}

}  // namespace

std::string text_of(py::error_already_set& error) {
  // Before Python 3.12 an exception that was fetched does not know where it was raised.
  if (error.trace()) PyException_SetTraceback(error.value().ptr(), error.trace().ptr());
  return py::cast<std::string>(py::module_::import("volvox.errors").attr("describe")(error.value()));
}

void raise_in_loop(py::error_already_set& error, Held& held) {
  if (!held.raised) held.raised = py::reinterpret_borrow<py::object>(error.value());
  throw std::runtime_error(text_of(error));
}

mind::Agent& AgentProxy::operator*() const {
  if (agent == nullptr)
    throw Failure(Kind::busy, "an agent can be used only within a call of its behavior",
                  "read percepts and set actions in start, step, receive, end_tick and tune");
  return *agent;
}

bool Held::interrupted() const { return raised && PyObject_IsInstance(raised.ptr(), PyExc_Exception) == 0; }

PythonClass::PythonClass(std::string name, py::object type, bool stands_in, std::shared_ptr<Held> held)
    : name_(std::move(name)), stands_in_(stands_in), held_(std::move(held)) {
  if (!PyCallable_Check(type.ptr()) || !py::hasattr(type, "step"))
    throw Failure(Kind::input, "the behavior '" + name_ + "' is not a class with a method step(agent)",
                  "give a class derived from volvox.Behavior, or the name of a behavior of Volvox");
  try {
    declares_state_ = !codec("declared")(type).is_none();
  } catch (py::error_already_set& error) {
    throw Failure(Kind::input, "the behavior '" + name_ + "': " + text_of(error),
                  "give its class state = (\"name\", ...), the attributes that change; () if there are none");
  }
  type_ = held_->keep(std::move(type));
}

std::unique_ptr<mind::Behavior> PythonClass::make() const {
  const py::gil_scoped_acquire lock;
  try {
    return std::make_unique<PythonBehavior>(type_(), stands_in_, declares_state_, held_);
  } catch (py::error_already_set& error) {
    raise_in_loop(error, *held_);
  }
}

py::object to_python(const Value& value) {
  if (const auto* number = value.get<double>()) return py::float_(*number);
  if (const auto* flag = value.get<bool>()) return py::bool_(*flag);
  if (const auto* v = value.get<Vec3>()) return py::make_tuple(v->x, v->y, v->z);
  if (value.empty()) return py::none();
  return codec("from_json")(value.describe());
}

py::object to_python(const Payload& payload) {
  if (const auto number = payload.as<double>()) return py::float_(*number);
  if (const auto flag = payload.as<bool>()) return py::bool_(*flag);
  if (const auto whole = payload.as<std::int64_t>()) return py::int_(*whole);
  if (const auto text = payload.as<std::string>())
    return py::reinterpret_steal<py::object>(text_from(text->data(), text->size()));
  if (const auto bytes = payload.as<mind::Bytes>())
    return py::bytes(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  if (const auto packed = payload.as<PythonValue>())
    return codec("unpack")(py::bytes(packed->packed.data(), packed->packed.size()));
  const mind::MessageText text = mind::text_of(payload);
  return text.content.empty() ? py::object(py::none()) : codec("from_json")(text.content);
}

void send_content(mind::Agent& agent, const std::string& outlet, py::handle content, const mind::SendOptions& options) {
  PyObject* const object = content.ptr();
  if (PyBool_Check(object)) return agent.send(outlet, py::cast<bool>(content), options);
  if (PyFloat_Check(object)) return agent.send(outlet, py::cast<double>(content), options);
  if (PyUnicode_Check(object)) return agent.send(outlet, py::cast<std::string>(content), options);
  if (PyLong_Check(object)) {
    int overflow = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) return agent.send(outlet, std::int64_t{whole}, options);
  }
  if (PyBytes_Check(object)) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(PyBytes_AS_STRING(object));
    return agent.send(outlet, mind::Bytes(begin, begin + PyBytes_GET_SIZE(object)), options);
  }
  const py::bytes packed(codec("pack")(content));
  agent.send(outlet, PythonValue{std::string(packed)}, options);
}

}  // namespace volvox::python
