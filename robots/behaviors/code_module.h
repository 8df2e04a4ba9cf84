// A code module of a lattice world (src/volvox/lattice/code_module.h) as the mind of a module of a physical world: the
// same class, unchanged. Its ports are the docks, in the order of the model; what it sends goes over whatever network
// these have, in as many bytes as on a lattice. With a radio (`radio="NAME"`) there is one port more, at which
// everybody in reach hears it; what came by radio came from no port (lattice::far_port), so that it is passed on by
// radio, too.
//
// Parameters: wired (true: use the docks), radio (a name; empty: none), and, if the code module has inputs
// (visit_inputs), these, such as source="true", and first (a module's name): they are for all modules, or only for it.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "volvox/lattice/code_module.h"
#include "volvox/mind/behavior.h"

namespace volvox::robots {

template <class Program>
class CodeModuleBehavior final : public mind::Behavior, private lattice::CatomHost {
 public:
  void start(mind::Agent& agent) override {
    wired_ = agent.parameter("wired", true);
    radio_ = agent.parameter("radio", "");
    read_inputs(agent);
    if (needs_ports && !radio_.empty())
      throw mind::AgentError(
          fmt::format("its code module {} must know at which port a message came, and by radio it "
                      "comes at none: leave out the parameter 'radio'",
                      modules_.type().name));
    if (connectors_of(agent) >= lattice::far_port)
      throw mind::AgentError(fmt::format("it has {} docks; a code module has less than {} ports", agent.docks().size(),
                                         lattice::far_port));
    for (const auto& link : modules_.links())
      if (link.mailbox != 0) agent.open(link.mailbox);
    RandomStream own = agent.random();  // a copy: the program's numbers stay the same
    key_ = own.bits();
    call(agent, modules_.start);
  }

  // As on a lattice: without new_tick it acts on messages only.
  void step(mind::Agent& agent) override {
    ++ticks_;
    if (modules_.new_tick != nullptr && (modules_.rests == nullptr || !modules_.rests(&agent.model<Program>()))) {
      called_ = true;
      call(agent, modules_.new_tick);
    }
  }

  bool receive(mind::Agent& agent, const mind::Message& message) override {
    const auto bytes = message.as<mind::Bytes>();
    if (!bytes) return false;
    const bool at_dock = message.outlet < std::ssize(agent.docks());
    bool taken = false;
    for (const auto& link : modules_.links()) {
      if (link.mailbox != message.mailbox) continue;
      const lattice::CodeModules::Callback callback = link.call;
      with_catom(agent, [&](lattice::Catom& catom) {
        // A message that another program sent, or noise: it is no message of this code module.
        taken = callback(&agent.model<Program>(), catom, at_dock ? message.outlet : lattice::far_port,
                         std::as_bytes(std::span(*bytes))) ||
                taken;
      });
    }
    called_ = called_ || taken;
    return taken;
  }

  void end_tick(mind::Agent& agent) override {
    if (called_) call(agent, modules_.end_tick);
    called_ = false;
  }

  VOLVOX_STATE(wired_, radio_, called_, ticks_, key_)

 private:
  static constexpr bool needs_ports = requires { requires Program::needs_ports; };

  // Sets the inputs that the world gives.
  struct FromParameters {
    mind::Agent& agent;
    template <class T>
    void operator()(const char* name, T& field) {
      if constexpr (std::is_same_v<T, bool>) field = agent.parameter(name, field);
      else field = whole(name, field);
    }
    template <class T>
    T whole(const char* name, T fallback) const {
      static_assert(std::is_integral_v<T> && sizeof(T) <= 4, "inputs are flags and whole numbers");
      const std::int64_t number = agent.parameter(name, std::int64_t{fallback});
      constexpr std::int64_t low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
      if (number < low || number > high)
        throw mind::AgentError(
            fmt::format("its parameter '{}' is {}: give a whole number from {} to {}", name, number, low, high));
      return static_cast<T>(number);
    }
  };
  void read_inputs(mind::Agent& agent) {
    if constexpr (requires(Program p, FromParameters f) { p.visit_inputs(f); }) {
      const std::string first = agent.parameter("first", "");
      Program given = agent.model<Program>();
      FromParameters inputs{agent};
      given.visit_inputs(inputs);  // by all, so that the parameters are known
      if (first.empty() || first == agent.name()) agent.model<Program>() = given;
    } else {
      (void)agent.model<Program>();
    }
  }

  template <class Work>
  void with_catom(mind::Agent& agent, const Work& work) {
    agent_ = &agent;
    lattice::Catom catom(*this, modules_);
    try {
      work(catom);
    } catch (const lattice::CatomError& error) {
      throw mind::AgentError(fmt::format("its code module {}: {}", modules_.type().name, error.what()));
    }
  }
  void call(mind::Agent& agent, lattice::CodeModules::Function function) {
    if (function != nullptr)
      with_catom(agent, [&](lattice::Catom& catom) { function(&agent.model<Program>(), catom); });
  }

  int connectors_of(const mind::Agent& agent) const {
    return narrow<int>(agent.docks().size()) + (radio_.empty() ? 0 : 1);
  }
  std::uint32_t number() const override { return narrow<std::uint32_t>(agent_->placement()); }
  std::int64_t ticks() const override { return std::max<std::int64_t>(0, ticks_ - 1); }
  int connectors() const override { return connectors_of(*agent_); }
  bool is_connected(int port) const override {
    if (port >= std::ssize(agent_->docks())) return true;  // by radio
    return wired_ && agent_->dock(agent_->docks()[port].name).engaged;
  }
  void transmit(int port, lattice::Mailbox mailbox, std::span<const std::byte> content) override {
    const bool at_dock = port < std::ssize(agent_->docks());
    if (at_dock && !wired_) return;
    mind::Bytes bytes(content.size());
    std::transform(content.begin(), content.end(), bytes.begin(), [](std::byte b) { return std::uint8_t(b); });
    agent_->send(at_dock ? agent_->docks()[port].name : radio_, bytes, {.mailbox = mailbox});
  }
  RandomStream& chance() override { return agent_->random(); }
  // Two modules may have the same, but once in 2^64.
  std::uint64_t key() const override { return RandomStream(key_, static_cast<std::uint64_t>(ticks_), "key").bits(); }

  lattice::ProgramArray<Program> modules_{Program{}};  // how to call it; the state is the agent's model
  mind::Agent* agent_ = nullptr;                       // during a call
  bool wired_ = true, called_ = false;
  std::string radio_;
  std::int64_t ticks_ = 0;  // that have begun
  std::uint64_t key_ = 0;   // of the module, by the run's seed
};

}  // namespace volvox::robots
