#include "study.h"

#include <filesystem>
#include <stdexcept>

#include "behaviors.h"
#include "experiments.h"

namespace volvox::experiments {

const sim::Library& library() {
  static const sim::Library all = [] {
    sim::Library made;
    robots::register_behaviors(made.minds.behaviors);
    register_experiments(made.experiments);
    made.experiment_files["cells.sdf"] = dprsim::cell_world_file;
    return made;
  }();
  return all;
}

std::unique_ptr<sim::Run> prepared(const sim::RunOptions& options) {
  static Log silent([](LogLevel, std::string_view) {});
  auto run = sim::Run::prepare(options, library(), silent);
  if (!run.ok()) throw std::runtime_error(run.error().text());
  return std::move(*run);
}

sim::RunReport run(const sim::RunOptions& options) {
  const auto run = prepared(options);
  run->finish();
  if (run->report().status != "done") throw std::runtime_error(run->report().failure);
  if (options.save_to) {
    const std::filesystem::path folder = options.save_to->string() + ".run";
    if (const auto written = run->write(folder); !written.ok()) throw std::runtime_error(written.error().text());
    std::filesystem::remove_all(folder);
  }
  return run->report();
}

sim::RunReport run(const std::string& experiment, std::map<std::string, std::string> settings, double duration,
                   std::uint64_t seed, const std::string& engine, int threads) {
  sim::RunOptions options;
  options.experiment = experiment;
  options.settings = std::move(settings);
  options.engine = engine;
  options.seed = seed;
  options.threads = threads;
  if (duration > 0) options.duration = duration;
  return run(options);
}

double metric(const sim::RunReport& report, const std::string& name) {
  const sim::Metric* found = report.metrics.find(name);
  if (found == nullptr) throw std::runtime_error("there is no metric " + name);
  return found->value;
}

}  // namespace volvox::experiments
