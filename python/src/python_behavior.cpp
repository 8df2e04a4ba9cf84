#include "python_behavior.h"

#include <limits>

#include "text.h"
#include "volvox/mind/message_types.h"
#include "volvox/mind/transfer.h"

namespace volvox::python {

// A message that only Python can read: a list, a dict, an array.
struct PythonValue {
  std::string packed;
};
VOLVOX_TYPE(PythonValue, packed)

namespace {

nb::object codec(const char* function) { return nb::module_::import_("volvox._codec").attr(function); }

// The calls of a behaviour of Volvox, passed on to a Python object. Each takes the interpreter's lock.
class PythonBehavior final : public mind::Behavior {
 public:
  PythonBehavior(nb::object instance, bool stands_in, bool declares_state, std::shared_ptr<Held> held)
      : stands_in_(stands_in), declares_state_(declares_state), held_(std::move(held)) {
    instance_ = held_->keep(std::move(instance));
    agent_ = held_->keep(nb::cast(new AgentProxy, nb::rv_policy::take_ownership));
    proxy_ = nb::cast<AgentProxy*>(agent_);
    // What a class leaves to volvox.Behavior does nothing, and is not called.
    const nb::object base = nb::module_::import_("volvox.behavior").attr("Behavior");
    const nb::handle type = instance_.type();
    for (const auto& [name, method] : {std::pair{"start", &start_},
                                       {"step", &step_},
                                       {"receive", &receive_},
                                       {"end_tick", &end_tick_},
                                       {"tune", &tune_}})
      if (nb::hasattr(instance_, name) &&
          !(nb::hasattr(type, name) && type.attr(name).is(base.attr(name)) && method != &step_))
        *method = held_->keep(instance_.attr(name));
    if (nb::hasattr(instance_, "period")) period_ = nb::cast<double>(instance_.attr("period"));
  }

  void start(mind::Agent& agent) override {
    if (stands_in_) {  // it need not read the parameters of the behaviour that it replaces
      const Parameters& parameters = mind::AgentTransfer::parameters(agent);
      for (const auto& [name, value] : parameters.given()) (void)parameters.text(name, value);
    }
    if (start_.is_valid()) call(agent, [&] { start_(agent_); });
  }
  void step(mind::Agent& agent) override {
    call(agent, [&] { step_(agent_); });
  }
  bool receive(mind::Agent& agent, const mind::Message& message) override;
  void end_tick(mind::Agent& agent) override {
    if (!end_tick_.is_valid()) return;
    call(agent, [&] { end_tick_(agent_); });
  }
  void tune(mind::Agent& agent) override {
    if (!tune_.is_valid()) return;
    call(agent, [&] { tune_(agent_); });
  }
  double period() const override { return period_; }
  bool lists_state() const override { return declares_state_; }
  void archive_state(Archive& ar) override;

 private:
  template <class Call>
  void call(mind::Agent& agent, Call&& work) {
    const nb::gil_scoped_acquire lock;
    if (held_->dropped) throw std::runtime_error("the world is being freed");
    if (held_->interrupted()) throw std::runtime_error("interrupted");  // the other modules are not begun
    proxy_->agent = &agent;
    try {
      work();
    } catch (nb::python_error& error) {
      proxy_->agent = nullptr;
      raise_in_loop(error, *held_);
    } catch (...) {
      proxy_->agent = nullptr;
      throw;
    }
    proxy_->agent = nullptr;
  }

  nb::handle instance_, agent_, start_, step_, receive_, end_tick_, tune_;  // held_ keeps them; invalid: there is none
  AgentProxy* proxy_ = nullptr;
  bool stands_in_ = false, declares_state_ = false;
  double period_ = 0;
  std::shared_ptr<Held> held_;
};

bool PythonBehavior::receive(mind::Agent& agent, const mind::Message& message) {
  if (!receive_.is_valid()) return false;
  bool taken = false;
  call(agent, [&] { taken = nb::cast<bool>(nb::bool_(receive_(agent_, message_of(agent, message)))); });
  return taken;
}

void PythonBehavior::archive_state(Archive& ar) {
  if (!declares_state_) return;
  const nb::gil_scoped_acquire lock;
  if (held_->dropped) throw std::runtime_error("the world is being freed");
  try {
    std::string packed;
    if (!ar.loading()) {
      const nb::bytes bytes(codec("state_of")(instance_));
      packed.assign(bytes.c_str(), bytes.size());
    }
    ar("python", packed);
    if (ar.loading() && ar.ok()) codec("set_state")(instance_, nb::bytes(packed.data(), packed.size()));
  } catch (nb::python_error& error) {
    if (!ar.loading()) raise_in_loop(error, *held_);
    ar.fail(text_of(error));
  }
}

}  // namespace

std::string text_of(nb::python_error& error) {
  return nb::cast<std::string>(nb::module_::import_("volvox.errors").attr("describe")(error.value()));
}

void raise_in_loop(nb::python_error& error, Held& held) {
  if (!held.raised.is_valid()) held.raised = nb::borrow(error.value());
  throw std::runtime_error(text_of(error));
}

mind::Agent& AgentProxy::operator*() const {
  if (agent == nullptr)
    throw Failure(Kind::busy, "an agent can be used only within a call of its behavior",
                  "read percepts and set actions in start, step, receive, end_tick and tune");
  return *agent;
}

bool Held::interrupted() const { return raised.is_valid() && PyObject_IsInstance(raised.ptr(), PyExc_Exception) == 0; }

PythonClass::PythonClass(std::string name, nb::object type, bool stands_in, std::shared_ptr<Held> held)
    : name_(std::move(name)), stands_in_(stands_in), held_(std::move(held)) {
  if (!PyCallable_Check(type.ptr()) || !nb::hasattr(type, "step"))
    throw Failure(Kind::input, "the behavior '" + name_ + "' is not a class with a method step(agent)",
                  "give a class derived from volvox.Behavior, or the name of a behavior of Volvox");
  try {
    declares_state_ = !codec("declared")(type).is_none();
  } catch (nb::python_error& error) {
    throw Failure(Kind::input, "the behavior '" + name_ + "': " + text_of(error),
                  "give its class state = (\"name\", ...), the attributes that change; () if there are none");
  }
  type_ = held_->keep(std::move(type));
}

std::unique_ptr<mind::Behavior> PythonClass::make() const {
  const nb::gil_scoped_acquire lock;
  try {
    return std::make_unique<PythonBehavior>(type_(), stands_in_, declares_state_, held_);
  } catch (nb::python_error& error) {
    raise_in_loop(error, *held_);
  }
}

nb::object to_python(const Value& value) {
  if (const auto* number = value.get<double>()) return nb::float_(*number);
  if (const auto* flag = value.get<bool>()) return nb::bool_(*flag);
  if (const auto* v = value.get<Vec3>()) return nb::make_tuple(v->x, v->y, v->z);
  if (value.empty()) return nb::none();
  return codec("from_json")(value.describe());
}

nb::object to_python(const Payload& payload) {
  if (const auto number = payload.as<double>()) return nb::float_(*number);
  if (const auto flag = payload.as<bool>()) return nb::bool_(*flag);
  if (const auto whole = payload.as<std::int64_t>()) return nb::int_(*whole);
  if (const auto text = payload.as<std::string>()) return nb::steal(text_from(text->data(), text->size()));
  if (const auto bytes = payload.as<mind::Bytes>())
    return nb::bytes(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  if (const auto packed = payload.as<PythonValue>())
    return codec("unpack")(nb::bytes(packed->packed.data(), packed->packed.size()));
  const mind::MessageText text = mind::text_of(payload);
  return text.content.empty() ? nb::object(nb::none()) : codec("from_json")(text.content);
}

void send_content(mind::Agent& agent, const std::string& outlet, nb::handle content, const mind::SendOptions& options) {
  PyObject* const object = content.ptr();
  if (PyBool_Check(object)) return agent.send(outlet, nb::cast<bool>(content), options);
  if (PyFloat_Check(object)) return agent.send(outlet, nb::cast<double>(content), options);
  if (PyUnicode_Check(object)) return agent.send(outlet, nb::cast<std::string>(content), options);
  if (PyLong_Check(object)) {
    int overflow = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) return agent.send(outlet, std::int64_t{whole}, options);
  }
  if (PyBytes_Check(object)) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(PyBytes_AS_STRING(object));
    return agent.send(outlet, mind::Bytes(begin, begin + PyBytes_GET_SIZE(object)), options);
  }
  const nb::bytes packed(codec("pack")(content));
  agent.send(outlet, PythonValue{std::string(packed.c_str(), packed.size())}, options);
}

}  // namespace volvox::python
