#include "volvox/mind/noise.h"
#include "volvox/base/index.h"

#include <gtest/gtest.h>

#include <cmath>

namespace volvox::mind {
namespace {

struct Reading {
  double range = 0;
  Vec3 direction;
  int count = 0;
};
VOLVOX_TYPE(Reading, range, direction, count)

model::NoiseChainSpec spec(std::initializer_list<std::pair<std::string, std::map<std::string, std::string>>> steps) {
  model::NoiseChainSpec specs;
  for (const auto& [type, parameters] : steps) specs.push_back({type, parameters, 7});
  return specs;
}

NoiseChain chain(const model::NoiseChainSpec& specs, const TypeInfo* type, std::uint64_t seed = 1) {
  auto made = NoiseChain::make(specs, built_in_noise(), type, RandomStream(seed, 0, "noise"), "robot.sdf");
  if (!made.ok()) throw std::runtime_error(made.error().text());
  return std::move(*made);
}

TEST(Noise, GaussianHasItsDeviation) {
  NoiseChain noise = chain(spec({{"gaussian", {{"deviation", "0.5"}}}}), &type_of<double>());
  double sum = 0, squares = 0;
  constexpr int n = 20'000;
  for (int i = 0; i < n; ++i) {
    Value value(3.0);
    noise.apply(value);
    const double e = *value.get<double>() - 3.0;
    sum += e;
    squares += e * e;
  }
  EXPECT_NEAR(sum / n, 0, 5 * 0.5 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 0.25, 5 * 0.25 * std::sqrt(2.0 / n));
}

TEST(Noise, StepsActInOrderOnEveryRealNumber) {
  NoiseChain noise = chain(spec({{"bias", {{"value", "0.3"}}}, {"quantise", {{"step", "0.25"}}}}), &type_of<Reading>());
  Value value(Reading{1.0, {0.1, 0.2, 0.3}, 5});
  noise.apply(value);
  const Reading& r = *value.get<Reading>();
  EXPECT_DOUBLE_EQ(r.range, 1.25);
  EXPECT_DOUBLE_EQ(r.direction.x, 0.5);
  EXPECT_DOUBLE_EQ(r.direction.z, 0.5);
  EXPECT_EQ(r.count, 5);
}

TEST(Noise, UniformStaysInRangeAndFillsIt) {
  NoiseChain noise = chain(spec({{"uniform", {{"range", "0.2"}}}}), &type_of<double>());
  double lowest = 1, highest = -1;
  for (int i = 0; i < 1000; ++i) {
    Value value(0.0);
    noise.apply(value);
    lowest = std::min(lowest, *value.get<double>());
    highest = std::max(highest, *value.get<double>());
  }
  EXPECT_GE(lowest, -0.2);
  EXPECT_LE(highest, 0.2);
  EXPECT_LT(lowest, -0.19);
  EXPECT_GT(highest, 0.19);
}

TEST(Noise, ADrawnBiasIsConstant) {
  NoiseChain noise = chain(spec({{"bias", {{"deviation", "1"}}}}), &type_of<double>()),
             other = chain(spec({{"bias", {{"deviation", "1"}}}}), &type_of<double>(), 2);
  Value a(0.0), b(0.0), c(0.0);
  noise.apply(a);
  noise.apply(b);
  other.apply(c);
  EXPECT_EQ(*a.get<double>(), *b.get<double>());
  EXPECT_NE(*a.get<double>(), *c.get<double>());
}

TEST(Noise, DelayShowsThePast) {
  NoiseChain noise = chain(spec({{"delay", {{"ticks", "3"}}}}), &type_of<double>());
  for (int i = 0; i < 10; ++i) {
    Value value(real(i));
    noise.apply(value);
    EXPECT_EQ(*value.get<double>(), std::max(0, i - 3));
  }
}

TEST(Noise, DropoutRepeatsTheLastReading) {
  NoiseChain noise = chain(spec({{"dropout", {{"probability", "0.4"}}}}), &type_of<double>());
  int repeated = 0;
  double last = -1;
  constexpr int n = 5000;
  for (int i = 0; i < n; ++i) {
    Value value(real(i));
    noise.apply(value);
    if (*value.get<double>() == last) {
      ++repeated;
    } else {
      EXPECT_EQ(*value.get<double>(), i);
    }
    last = *value.get<double>();
  }
  EXPECT_NEAR(repeated, 0.4 * n, 5 * std::sqrt(0.24 * n));
}

TEST(Noise, MessagesAreLostDelayedAndCorrupted) {
  NoiseChain noise = chain(
      spec(
          {{"dropout", {{"probability", "0.25"}}}, {"delay", {{"ticks", "2"}}}, {"corrupt", {{"probability", "0.5"}}}}),
      nullptr);
  int lost = 0, changed = 0;
  constexpr int n = 4000;
  const Payload original = Payload::of(Reading{1, {2, 3, 4}, 5});
  for (int i = 0; i < n; ++i) {
    Payload payload = original;
    const MessageFate fate = noise.apply(payload);
    EXPECT_EQ(fate.delay_ticks, 2);
    if (fate.lost) ++lost;
    if (payload.bytes() != original.bytes()) ++changed;
  }
  EXPECT_NEAR(lost, 0.25 * n, 5 * std::sqrt(0.1875 * n));
  EXPECT_NEAR(changed, 0.5 * n, 5 * std::sqrt(0.25 * n));
}

TEST(Noise, GoesOnAfterRestore) {
  const auto specs = spec({{"bias", {{"deviation", "1"}}},
                           {"dropout", {{"probability", "0.3"}}},
                           {"delay", {{"ticks", "4"}}},
                           {"gaussian", {}}});
  NoiseChain one = chain(specs, &type_of<Reading>()), two = chain(specs, &type_of<Reading>(), 99);
  const auto run = [](NoiseChain& noise, int from, int to) {
    std::string seen;
    for (int i = from; i < to; ++i) {
      Value value(Reading{real(i), {1, 2, 3}, i});
      noise.apply(value);
      seen += value.describe();
    }
    return seen;
  };
  run(one, 0, 17);
  SaveArchive save;
  one.archive(save);
  LoadArchive load(save.bytes());
  two.archive(load);
  ASSERT_TRUE(load.ok());
  EXPECT_EQ(run(one, 17, 40), run(two, 17, 40));
}

class Double final : public Noise {  // a noise model of a user
 public:
  void apply(Value& value, RandomStream&) override {
    value.each_number([](double& x) { x *= 2; });
  }
  VOLVOX_STATE()
};

TEST(Noise, AUserCanAddOne) {
  NoiseRegistry registry = built_in_noise();
  registry.add("double", [](const Parameters&, const TypeInfo*) { return std::make_unique<Double>(); });
  auto made = NoiseChain::make(spec({{"double", {}}, {"double", {}}}), registry, &type_of<double>(), {}, "");
  ASSERT_TRUE(made.ok());
  Value value(1.5);
  made->apply(value);
  EXPECT_EQ(*value.get<double>(), 6.0);
}

TEST(Noise, BadDescriptionsAreRefused) {
  const auto error = [](const model::NoiseChainSpec& specs) {
    auto made = NoiseChain::make(specs, built_in_noise(), &type_of<double>(), {}, "robot.sdf");
    return made.ok() ? "" : made.error().text();
  };
  EXPECT_NE(error(spec({{"gausian", {}}})).find("robot.sdf:7: there is no noise model named 'gausian'"),
            std::string::npos);
  EXPECT_NE(error(spec({{"gausian", {}}})).find("did you mean 'gaussian'?"), std::string::npos);
  EXPECT_NE(error(spec({{"gaussian", {{"sigma", "1"}}}})).find("has no parameter 'sigma'"), std::string::npos);
  EXPECT_NE(error(spec({{"dropout", {{"probability", "1.5"}}}})).find("from 0 to 1"), std::string::npos);
  EXPECT_NE(error(spec({{"gaussian", {{"deviation", "nan"}}}})).find("'nan'"), std::string::npos);
  EXPECT_NE(error(spec({{"corrupt", {}}})).find("cannot disturb percepts"), std::string::npos);
  EXPECT_FALSE(NoiseChain::make(spec({{"gaussian", {}}}), built_in_noise(), nullptr, {}, "").ok());
}

}  // namespace
}  // namespace volvox::mind
