// Runs experiments by name, one after another in one process, for their tests and their figures.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "volvox/base/test/shortened.h"
#include "volvox/sim/run.h"

namespace volvox::experiments {

// All robots' behaviours and all experiments.
const sim::Library& library();

// Those that follow throw what is wrong.
std::unique_ptr<sim::Run> prepared(const sim::RunOptions& options);
// To its end. The snapshot is saved if one was asked for; nothing else is written.
sim::RunReport run(const sim::RunOptions& options);
// Duration in s; 0: the experiment's own.
sim::RunReport run(const std::string& experiment, std::map<std::string, std::string> settings = {}, double duration = 0,
                   std::uint64_t seed = 1, const std::string& engine = "native", int threads = 1);
double metric(const sim::RunReport& report, const std::string& name);

// What has chance in it is tested with each of these (under sanitizers, with the first). Nothing was tuned with them,
// and nothing may be.
inline constexpr std::uint64_t all_test_seeds[] = {11, 12, 13};
inline constexpr std::span test_seeds = std::span(all_test_seeds).first(shortened(3));

}  // namespace volvox::experiments
