// Noise on percepts, actions and messages: small steps that are put in a row. A noise model
// may change the numbers in a value, hold it back, or lose it; it works on any declared type.
#pragma once

#include <memory>
#include <vector>

#include "volvox/base/parameters.h"
#include "volvox/base/random.h"
#include "volvox/base/registry.h"
#include "volvox/base/type.h"
#include "volvox/model/module_model.h"

namespace volvox::mind {

// What becomes of a message on its way.
struct MessageFate {
  bool lost = false;
  int delay_ticks = 0;  // beyond the one tick that every message takes
};

class Noise {
 public:
  virtual ~Noise() = default;

  // What it can disturb; elsewhere it is refused before the run.
  virtual bool acts_on_values() const { return true; }
  virtual bool acts_on_messages() const { return false; }

  // Disturbs a reading or a command. Called once a tick; all draws come from `random`.
  virtual void apply(Value&, RandomStream&) {}
  // Disturbs a message.
  virtual void apply(Payload&, MessageFate&, RandomStream&) {}

  // Snapshot: VOLVOX_STATE(members...) in the derived class gives both.
  virtual bool lists_state() const = 0;
  virtual void archive_state(Archive& ar) = 0;
};

// `type` is that of the values to come, or null for messages.
using NoiseFactory = std::function<std::unique_ptr<Noise>(const Parameters&, const TypeInfo* type)>;
using NoiseRegistry = Registry<NoiseFactory>;

// gaussian, ranging, uniform, bias, quantise, dropout, delay, corrupt.
NoiseRegistry built_in_noise();

// Noise models in a row with the random stream that they share.
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
  // The first step that a snapshot cannot hold, or null.
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
