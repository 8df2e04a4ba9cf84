// Noise on percepts, actions and messages: a chain of noise models. A model may change the numbers in a value, delay it
// or lose it; it works on any type declared by VOLVOX_TYPE. All random numbers come from the chain's own stream, so
// that runs repeat exactly.
// Values are in the units of what they disturb. A chain owns its models and belongs to one agent, whose thread calls
// it.
#pragma once

#include <memory>
#include <vector>

#include "volvox/base/parameters.h"
#include "volvox/base/random.h"
#include "volvox/base/registry.h"
#include "volvox/base/type.h"
#include "volvox/model/module_model.h"

namespace volvox::mind {

// The effect of noise on a message.
struct MessageFate {
  bool lost = false;
  int delay_ticks = 0;  // beyond the one tick that every message takes
};

class Noise {
 public:
  virtual ~Noise() = default;

  // What it can disturb; any other use is an error before the run.
  virtual bool acts_on_values() const { return true; }
  virtual bool acts_on_messages() const { return false; }

  // Disturbs a reading or a command, once a tick. All random numbers must come from `random`.
  virtual void apply(Value&, RandomStream&) {}
  // Disturbs a message.
  virtual void apply(Payload&, MessageFate&, RandomStream&) {}

  // For snapshots: VOLVOX_STATE(members...) in the derived class defines both functions.
  virtual bool lists_state() const = 0;
  virtual void archive_state(Archive& ar) = 0;
};

// `type` is the type of the values, or null for messages.
using NoiseFactory = std::function<std::unique_ptr<Noise>(const Parameters&, const TypeInfo* type)>;
using NoiseRegistry = Registry<NoiseFactory>;

// gaussian, ranging, uniform, bias, quantise, dropout, delay, corrupt.
NoiseRegistry built_in_noise();

// A chain of noise models and the random stream that they share.
class NoiseChain {
 public:
  static Result<NoiseChain> make(const model::NoiseChainSpec& specs, const NoiseRegistry& registry,
                                 const TypeInfo* type, RandomStream random, const std::string& file);

  void apply(Value& value) {
    for (auto& noise : steps_) noise->apply(value, random_);
  }
  MessageFate apply(Payload& payload) {
    MessageFate fate;
    for (auto& noise : steps_) noise->apply(payload, fate, random_);
    return fate;
  }
  // The first model without VOLVOX_STATE, which a snapshot cannot hold; null if there is none.
  const Noise* unlisted() const;

  template <class A>
  void archive(A& ar) {
    ar("random", random_);
    for (auto& noise : steps_) noise->archive_state(ar);
  }

 private:
  std::vector<std::unique_ptr<Noise>> steps_;
  RandomStream random_;
};

}  // namespace volvox::mind
