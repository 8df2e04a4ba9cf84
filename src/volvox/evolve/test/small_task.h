// A task that takes milliseconds: SuperBots with a behaviour of the tests' own on a plane.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "volvox/base/json_text.h"
#include "volvox/base/test/temporary_folder.h"
#include "volvox/base/text.h"
#include "volvox/evolve/evolution.h"
#include "volvox/evolve/page.h"
#include "volvox/model/world_builder.h"

namespace volvox::evolve {

namespace fs = std::filesystem;

// A wave of the pitch; `fails` says what a genome does wrong, if `at` is above it.
class Wave final : public mind::Behavior {
 public:
  void start(mind::Agent& agent) override {
    amplitude_ = agent.parameter("amplitude", 0.5), lag_ = agent.parameter("lag", 0.0);
    fails_ = agent.parameter("fails", ""), bad_ = agent.parameter("bad", 0.0) > 0.5;
  }
  void step(mind::Agent& agent) override {
    if (bad_ && agent.time() > 0.1 && fails_ == "throws") throw std::runtime_error("it had enough");
    if (bad_ && agent.time() > 0.1 && fails_ == "crashes") std::abort();
    agent.move_to("pitch", amplitude_ * volvox::sin(6 * agent.time() + lag_));
  }
  VOLVOX_STATE()

 private:
  double amplitude_ = 0, lag_ = 0;
  std::string fails_;
  bool bad_ = false;
};

class Flat final : public sim::Experiment {
 public:
  Result<std::vector<model::ParameterDesc>> parameters(const fs::path&) const override {
    return std::vector<model::ParameterDesc>{{"friction", "0.7", 0, 2, {}, "of the ground", 0},
                                             {"wind", "0", 0, 1e6, {}, "m/s^2, along x", 0}};
  }
  Result<model::WorldModel> init(sim::Setup& setup) override {
    model::WorldBuilder builder("flat");
    const Parameters parameters(setup.settings, "flat");
    builder.add_ground({parameters.number("friction", 0.7), 0});
    builder.set_gravity({parameters.number("wind", 0), 0, -9.81});
    model::RunSettings run;
    run.duration = Time::seconds(1);
    builder.set_run(run);
    return builder.build();
  }
  void shutdown(const sim::Simulation&, sim::Metrics& metrics) override {
    metrics.set("never_m", sim::not_measured, "");
  }
};

inline sim::Library test_library() {
  sim::Library library;
  library.minds.behaviors.add("wave", [] { return std::unique_ptr<mind::Behavior>(std::make_unique<Wave>()); });
  library.experiments.add("flat", [] { return std::unique_ptr<sim::Experiment>(std::make_unique<Flat>()); });
  library.experiment_files[".json"] = organism_file;
  return library;
}

inline Json task_json() {
  return Json::parse(R"({
    "experiment": "flat",
    "fitness": [{"metric": "moved_m", "better": "more"}],
    "trial": {"duration": 0.4, "count": 2, "friction": [0.8, 1.2], "fitness_by": "worst"},
    "body": {"robot": "superbot", "modules": [1, 4]},
    "mind": {"behavior": "wave", "shared": {"amplitude": [0, 1]}, "each": {"lag": [0, 6]}},
    "algorithm": {"name": "ga", "population": 6, "generations": 3}
  })");
}

inline Task made(const Json& json) {
  auto document = Document::parse(to_json_text(json, 2), "task.json");
  auto task = task_from(*document, "test");
  EXPECT_TRUE(task.ok()) << (task.ok() ? "" : task.error().text());
  return *task;
}

inline std::string mistakes(const Json& json) {
  auto document = Document::parse(to_json_text(json, 2), "task.json");
  auto task = task_from(*document, "test");
  return task.ok() ? "" : task.error().text();
}

inline std::unique_ptr<Evolution> begun(const Task& task, const sim::Library& library,
                                        const EvolveOptions& options = {}) {
  auto evolution = Evolution::create(task, library, built_in_algorithms(), options);
  EXPECT_TRUE(evolution.ok()) << (evolution.ok() ? "" : evolution.error().text());
  return std::move(*evolution);
}

}  // namespace volvox::evolve
