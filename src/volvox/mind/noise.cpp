#include "volvox/mind/noise.h"
#include "volvox/base/check.h"
#include "volvox/base/index.h"

#include <fmt/format.h>

#include <cmath>

namespace volvox::mind {
namespace {

class Gaussian final : public Noise {
 public:
  explicit Gaussian(double deviation) : deviation_(deviation) {}
  void apply(Value& value, RandomStream& random) override {
    value.each_number([&](double& x) { x += deviation_ * random.normal(); });
  }
  VOLVOX_STATE()

 private:
  double deviation_;
};

// The noise of a rangefinder: it grows with the distance, is zero if nothing was hit, and keeps readings within the
// range.
class Ranging final : public Noise {
 public:
  Ranging(double deviation, double per_metre, double max_range)
      : deviation_(deviation), per_metre_(per_metre), max_range_(max_range) {}
  void apply(Value& value, RandomStream& random) override {
    value.each_number([&](double& x) {
      const double drawn = random.normal();  // also without a hit, so that rays do not affect each other's noise
      if (x < max_range_) x = clamp(x + (deviation_ + per_metre_ * x) * drawn, 0, max_range_);
    });
  }
  VOLVOX_STATE()

 private:
  double deviation_, per_metre_, max_range_;
};

class Uniform final : public Noise {
 public:
  explicit Uniform(double range) : range_(range) {}
  void apply(Value& value, RandomStream& random) override {
    value.each_number([&](double& x) { x += random.uniform(-range_, range_); });
  }
  VOLVOX_STATE()

 private:
  double range_;
};

// A constant offset: given, or drawn once for each number of each module.
class Bias final : public Noise {
 public:
  Bias(double value, double deviation) : value_(value), deviation_(deviation) {}
  void apply(Value& value, RandomStream& random) override {
    std::size_t i = 0;
    value.each_number([&](double& x) {
      if (i == drawn_.size()) drawn_.push_back(deviation_ > 0 ? deviation_ * random.normal() : 0.0);
      VOLVOX_ASSERT(i < drawn_.size());
      x += value_ + drawn_[i++];
    });
  }
  VOLVOX_STATE(drawn_)

 private:
  double value_, deviation_;
  std::vector<double> drawn_;
};

class Quantise final : public Noise {
 public:
  explicit Quantise(double step) : step_(step) {}
  void apply(Value& value, RandomStream&) override {
    value.each_number([&](double& x) { x = std::round(x / step_) * step_; });
  }
  VOLVOX_STATE()

 private:
  double step_;
};

// A dropped reading repeats the previous one; a dropped message is lost.
class Dropout final : public Noise {
 public:
  Dropout(double probability, const TypeInfo* type) : probability_(probability) {
    if (type != nullptr) last_ = Value::of(*type);
  }
  bool acts_on_messages() const override { return true; }
  void apply(Value& value, RandomStream& random) override {
    const bool dropped = random.chance(probability_);
    if (dropped && seen_) value = last_;
    else last_ = value;
    seen_ = true;
  }
  void apply(Payload&, MessageFate& fate, RandomStream& random) override {
    if (random.chance(probability_)) fate.lost = true;
  }
  VOLVOX_STATE(seen_, last_)

 private:
  double probability_;
  bool seen_ = false;
  Value last_;
};

// The value of `ticks` ticks ago; at the beginning, the first value.
class Delay final : public Noise {
 public:
  Delay(int ticks, const TypeInfo* type) : ticks_(ticks) {
    if (type != nullptr) line_.resize(ticks, Value::of(*type));
  }
  bool acts_on_messages() const override { return true; }
  void apply(Value& value, RandomStream&) override {
    if (ticks_ == 0) return;
    VOLVOX_ASSERT(std::ssize(line_) == ticks_ && next_ >= 0 && next_ < ticks_);
    if (!seen_) {
      for (Value& old : line_) old = value;
      seen_ = true;
    }
    std::swap(value, line_[next_]);
    next_ = (next_ + 1) % ticks_;
  }
  void apply(Payload&, MessageFate& fate, RandomStream&) override { fate.delay_ticks += ticks_; }

  bool lists_state() const override { return true; }
  void archive_state(Archive& ar) override {
    ar("seen", seen_);
    ar("next", next_);
    for (Value& value : line_) value.archive(ar);  // the number is given by the description
    if (next_ < 0 || next_ >= std::max(1, ticks_)) ar.fail("a delay line is damaged");
  }

 private:
  int ticks_;
  int next_ = 0;
  bool seen_ = false;
  std::vector<Value> line_;
};

// Flips one random bit of a message with a given probability.
class Corrupt final : public Noise {
 public:
  explicit Corrupt(double probability) : probability_(probability) {}
  bool acts_on_values() const override { return false; }
  bool acts_on_messages() const override { return true; }
  void apply(Payload& payload, MessageFate&, RandomStream& random) override {
    if (payload.size() == 0 || !random.chance(probability_)) return;
    const std::uint64_t bit = random.below(payload.size() * 8);
    VOLVOX_ASSERT(bit / 8 < payload.bytes().size());
    payload.bytes()[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  VOLVOX_STATE()

 private:
  double probability_;
};

}  // namespace

NoiseRegistry built_in_noise() {
  NoiseRegistry registry("noise model");
  registry.add(
      "gaussian",
      [](const Parameters& p, const TypeInfo*) -> std::unique_ptr<Noise> {
        return std::make_unique<Gaussian>(p.number("deviation", 1, 0));
      },
      "adds a normal deviate: deviation");
  registry.add(
      "ranging",
      [](const Parameters& p, const TypeInfo*) -> std::unique_ptr<Noise> {
        return std::make_unique<Ranging>(p.number("deviation", 0.007, 0), p.number("per_metre", 0, 0),
                                         p.number("max_range", 8, 0));
      },
      "for distances: a normal deviate of deviation + per_metre * distance, none at max_range or beyond");
  registry.add(
      "uniform",
      [](const Parameters& p, const TypeInfo*) -> std::unique_ptr<Noise> {
        return std::make_unique<Uniform>(p.number("range", 1, 0));
      },
      "adds a uniform deviate in +-range");
  registry.add(
      "bias",
      [](const Parameters& p, const TypeInfo*) -> std::unique_ptr<Noise> {
        return std::make_unique<Bias>(p.number("value", 0), p.number("deviation", 0, 0));
      },
      "adds a constant: value, plus one drawn for each module with that deviation");
  registry.add(
      "quantise",
      [](const Parameters& p, const TypeInfo*) -> std::unique_ptr<Noise> {
        return std::make_unique<Quantise>(p.number("step", 1, 1e-300));
      },
      "rounds to multiples of step");
  registry.add(
      "dropout",
      [](const Parameters& p, const TypeInfo* type) -> std::unique_ptr<Noise> {
        return std::make_unique<Dropout>(p.number("probability", 0, 0, 1), type);
      },
      "a reading is missed (the last one stays), a message is lost: probability");
  registry.add(
      "delay",
      [](const Parameters& p, const TypeInfo* type) -> std::unique_ptr<Noise> {
        return std::make_unique<Delay>(narrow<int>(p.integer("ticks", 1, 0, 100'000)), type);
      },
      "comes so many ticks later: ticks");
  registry.add(
      "corrupt",
      [](const Parameters& p, const TypeInfo*) -> std::unique_ptr<Noise> {
        return std::make_unique<Corrupt>(p.number("probability", 0, 0, 1));
      },
      "flips one bit of a message: probability");
  return registry;
}

Result<NoiseChain> NoiseChain::make(const model::NoiseChainSpec& specs, const NoiseRegistry& registry,
                                    const TypeInfo* type, RandomStream random, const std::string& file) {
  NoiseChain chain;
  chain.random_ = random;
  for (const model::NoiseSpec& spec : specs) {
    const auto factory = registry.find(spec.type, file, spec.line);
    if (!factory.ok()) return factory.error();
    const Parameters parameters(spec.parameters, fmt::format("noise '{}'", spec.type), file, spec.line);
    chain.steps_.push_back((**factory)(parameters, type));
    VOLVOX_ASSERT(chain.steps_.back() != nullptr);
    if (const auto checked = parameters.check(); !checked.ok()) return checked.error();
    const Noise& noise = *chain.steps_.back();
    if (type != nullptr ? !noise.acts_on_values() : !noise.acts_on_messages())
      return Diagnostic{
          file, spec.line,
          fmt::format("noise '{}' cannot disturb {}", spec.type, type != nullptr ? "percepts or actions" : "messages"),
          type != nullptr ? "use it on messages" : "use dropout, delay or corrupt on messages"};
  }
  return chain;
}

const Noise* NoiseChain::unlisted() const {
  for (const auto& noise : steps_)
    if (!noise->lists_state()) return noise.get();
  return nullptr;
}

}  // namespace volvox::mind
