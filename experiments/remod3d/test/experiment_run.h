// Runs an experiment by name, for tests of its outcome.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>

#include "study.h"

namespace volvox::experiments {

struct ExperimentRun {
  std::string name;
  std::map<std::string, std::string> settings{};
  std::string engine = "native";
  std::uint64_t seed = 1;
  double duration = 0;  // s; 0: the experiment's own
  int threads = 1;
};

inline sim::RunOptions options_of(const ExperimentRun& wanted) {
  sim::RunOptions options;
  options.experiment = wanted.name;
  options.settings = wanted.settings;
  options.engine = wanted.engine;
  options.seed = wanted.seed;
  options.threads = wanted.threads;
  if (wanted.duration > 0) options.duration = wanted.duration;
  return options;
}
inline std::unique_ptr<sim::Run> prepared(const ExperimentRun& wanted) { return prepared(options_of(wanted)); }

// Names a case of TestWithParam<std::tuple<...>> by its texts and numbers, such as native_uneven_11.
struct CaseName {
  template <class Info>
  std::string operator()(const Info& test) const {
    return std::apply([](const auto& first,
                         const auto&... more) { return (fmt::format("{}", first) + ... + fmt::format("_{}", more)); },
                      test.param);
  }
};

// The metrics at the end of a run.
inline std::map<std::string, double> outcome(const ExperimentRun& wanted) {
  const sim::RunReport report = run(options_of(wanted));
  std::map<std::string, double> values;
  for (const sim::Metric& metric : report.metrics.all()) values[metric.name] = metric.value;
  return values;
}

// Expects the same bits at any number of threads and after a restored snapshot.
inline void expect_repeats(ExperimentRun wanted, int ticks) {
  const auto first = prepared(wanted);
  wanted.threads = 3;
  const auto threaded = prepared(wanted);
  for (int i = 0; i < ticks; ++i) {
    ASSERT_TRUE(first->step().ok());
    ASSERT_TRUE(threaded->step().ok());
  }
  EXPECT_EQ(first->simulation().hash(), threaded->simulation().hash());
  const auto snapshot = first->simulation().save();
  ASSERT_TRUE(snapshot.ok()) << snapshot.error().text();
  const auto restored = prepared(wanted);
  const auto good = restored->simulation().restore(*snapshot);
  ASSERT_TRUE(good.ok()) << good.error().text();
  for (int i = 0; i < ticks; ++i) {
    ASSERT_TRUE(first->step().ok());
    ASSERT_TRUE(restored->step().ok());
  }
  EXPECT_EQ(first->simulation().hash(), restored->simulation().hash());
}

}  // namespace volvox::experiments
