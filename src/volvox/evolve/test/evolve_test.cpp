// Genomes, tasks, trials, algorithms and evolutions, on SuperBots with a behaviour of the test's own.
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "volvox/base/json_text.h"
#include "volvox/base/text.h"
#include "volvox/evolve/evolution.h"
#include "volvox/evolve/page.h"
#include "volvox/model/world_builder.h"

namespace volvox::evolve {
namespace {

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

sim::Library test_library() {
  sim::Library library;
  library.minds.behaviors.add("wave", [] { return std::unique_ptr<mind::Behavior>(std::make_unique<Wave>()); });
  library.experiments.add("flat", [] { return std::unique_ptr<sim::Experiment>(std::make_unique<Flat>()); });
  library.experiment_files[".json"] = organism_file;
  return library;
}

Json task_json() {
  return Json::parse(R"({
    "experiment": "flat",
    "fitness": [{"metric": "moved_m", "better": "more"}],
    "trial": {"duration": 0.4, "count": 2, "friction": [0.8, 1.2], "fitness_by": "worst"},
    "body": {"robot": "superbot", "modules": [1, 4]},
    "mind": {"behavior": "wave", "shared": {"amplitude": [0, 1]}, "each": {"lag": [0, 6]}},
    "algorithm": {"name": "ga", "population": 6, "generations": 3}
  })");
}

Task made(const Json& json) {
  auto document = Document::parse(to_json_text(json, 2), "task.json");
  auto task = task_from(*document, "test");
  EXPECT_TRUE(task.ok()) << (task.ok() ? "" : task.error().text());
  return *task;
}

std::string mistakes(const Json& json) {
  auto document = Document::parse(to_json_text(json, 2), "task.json");
  auto task = task_from(*document, "test");
  return task.ok() ? "" : task.error().text();
}

std::unique_ptr<Evolution> begun(const Task& task, const sim::Library& library, const EvolveOptions& options = {}) {
  auto evolution = Evolution::create(task, library, built_in_algorithms(), options);
  EXPECT_TRUE(evolution.ok()) << (evolution.ok() ? "" : evolution.error().text());
  return std::move(*evolution);
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("volvox_evolve_test_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

TEST(Task, MistakesHaveALineAndAFix) {
  auto broken = Document::parse("{\n  \"a\": 1,\n  \"b\" 2\n}", "task.json");
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().diagnostics().front().line, 3);

  auto infinite = Document::parse("{\"bar\": 1e999}", "task.json");
  ASSERT_FALSE(infinite.ok());
  EXPECT_EQ(infinite.error().diagnostics().front().file, "task.json");

  Json json = task_json();
  json["fitnes"] = json["fitness"];
  EXPECT_NE(mistakes(json).find("did you mean 'fitness'"), std::string::npos) << mistakes(json);
  json = task_json();
  json["trial"]["fitness_by"] = "medain";
  EXPECT_NE(mistakes(json).find("did you mean 'median'"), std::string::npos) << mistakes(json);
  EXPECT_NE(mistakes(json).find("task.json:"), std::string::npos);
  json = task_json();
  json["body"]["modules"] = {4, 1};
  EXPECT_NE(mistakes(json).find("smaller number first"), std::string::npos);
  json = task_json();
  json["mind"]["shared"]["amplitude"] = {2, 1};
  EXPECT_NE(mistakes(json).find("'amplitude'"), std::string::npos);
  const auto in_task = [](const char* key, const char* value) {
    Json changed = task_json();
    changed[Json::json_pointer(key)] = Json::parse(value);
    return mistakes(changed);
  };
  EXPECT_EQ(in_task("/body/turns", "[0, 2]"), "");
  for (const char* turns : {"[0.5]", "[-1]", "[1e300]"})
    EXPECT_NE(in_task("/body/turns", turns).find("no turn"), std::string::npos) << turns;
  for (const char* given : {R"([[], [0.5, "a", "b", 0]])", R"([[], [0, "a", "b", 4294967296]])"})
    EXPECT_NE(in_task("/body/given", given).find("not understood"), std::string::npos) << given;
  EXPECT_EQ(in_task("/mind/shared/n", R"({"from": 1, "to": 3, "whole": true})"), "");
  for (const char* range : {R"({"from": 0.5, "to": 3, "whole": true})", R"({"from": 0, "to": 1e19, "whole": true})"})
    EXPECT_NE(in_task("/mind/shared/n", range).find("whole"), std::string::npos) << range;
  EXPECT_NE(in_task("/mind/shared/n", "[-1e308, 1e308]").find("larger than any number"), std::string::npos);
  json = task_json();
  json["trial"]["settings"]["list"] = {{"count", 3}};
  EXPECT_EQ(std::ranges::count(made(json).trials[0].settings.at("list"), ' '), 2);
  json = task_json();
  json["fitness"] = Json::array();
  EXPECT_FALSE(mistakes(json).empty());
  const Json good = task_json();
  for (const auto& [key, value] : good.items()) {  // any value of a wrong type is an error, not a crash
    for (const Json& wrong : {Json(3), Json("x"), Json::array({1}), Json(nullptr), Json(Json::object())}) {
      json = task_json();
      json[key] = wrong;
      (void)mistakes(json);
    }
  }
}

TEST(Task, WhatDoesNotExistIsNamed) {
  const sim::Library library = test_library();
  const auto error_of = [&](const Json& json) {
    const Task task = made(json);
    auto evolution = Evolution::create(task, library, built_in_algorithms(), {});
    return evolution.ok() ? std::string() : evolution.error().text();
  };
  Json json = task_json();
  EXPECT_EQ(error_of(json), "");
  json["fitness"][0]["metric"] = "moved";
  EXPECT_NE(error_of(json).find("did you mean 'moved_m'"), std::string::npos) << error_of(json);
  json = task_json(), json["mind"]["behavior"] = "waev";
  EXPECT_NE(error_of(json).find("did you mean 'wave'"), std::string::npos) << error_of(json);
  json = task_json(), json["mind"]["shared"]["amplitud"] = {0, 1};
  EXPECT_NE(error_of(json).find("did you mean 'amplitude'"), std::string::npos) << error_of(json);
  json = task_json(), json["experiment"] = "flatt";
  EXPECT_NE(error_of(json).find("did you mean 'flat'"), std::string::npos) << error_of(json);
  json = task_json(), json["settings"] = {{"frictio", 1}};
  EXPECT_NE(error_of(json).find("did you mean friction"), std::string::npos) << error_of(json);
  json = task_json(), json["body"]["docks"] = {"fornt"};
  EXPECT_NE(error_of(json).find("fornt"), std::string::npos) << error_of(json);
  json = task_json(), json["algorithm"]["name"] = "cmaess";
  EXPECT_NE(error_of(json).find("did you mean 'cmaes'"), std::string::npos) << error_of(json);
  json = task_json(), json["algorithm"]["name"] = "cmaes";
  EXPECT_NE(error_of(json).find("cannot change bodies"), std::string::npos) << error_of(json);
  // Two modules at the two sides of a folded chain of given modules: the same place twice.
  json = task_json();
  json["body"]["given"] = Json::parse(
      R"([[], [0, "front", "left", 0], [1, "front", "left", 0], [2, "front", "left", 0], [3, "front", "left", 0]])");
  EXPECT_NE(error_of(json).find("overlap"), std::string::npos) << error_of(json);
}

TEST(Breeder, EveryGenomeIsValid) {
  Json json = task_json();
  json["body"]["modules"] = {2, 7};
  const Task task = made(json);
  const auto models = std::make_shared<model::ModelLibrary>();
  auto breeder = Breeder::create(task, models, 0);
  ASSERT_TRUE(breeder.ok());
  RandomStream random(5, 0, "test");
  std::vector<Genome> all;
  const auto check = [&](const Genome& genome) {
    ASSERT_GE(genome.tree.size(), 2u);
    ASSERT_LE(genome.tree.size(), 7u);
    ASSERT_EQ(genome.parts.size(), genome.tree.size());
    auto found = clashes(genome.tree, "superbot", *models);
    ASSERT_TRUE(found.ok()) << found.error().text();  // also: docks fit and are free
    ASSERT_TRUE(found->empty());
    for (const double gene : flat(genome)) ASSERT_TRUE(gene >= 0 && gene <= 1);
  };
  for (int i = 0; i < 40; ++i) check(all.emplace_back(breeder->random(random)));
  std::set<std::uint64_t> shapes;
  for (int i = 0; i < 150; ++i) {
    const Genome &a = all[random.below(all.size())], &b = all[random.below(all.size())];
    Genome child = i % 2 == 0 ? breeder->mutated(a, random) : breeder->crossed(a, b, random);
    check(child);
    shapes.insert(shape_hash(child));
    all.push_back(std::move(child));
  }
  EXPECT_GT(shapes.size(), 30u);
  EXPECT_GT(breeder->counts().repaired, 0);

  auto again = Breeder::create(task, models, 0);
  RandomStream same(5, 0, "test");
  for (int i = 0; i < 40; ++i) ASSERT_EQ(again->random(same), all[static_cast<std::size_t>(i)]);
}

// Bodies keep to the limits of mass and modules, whatever they are made from.
TEST(Breeder, LimitsAreKept) {
  const auto models = std::make_shared<model::ModelLibrary>();
  const double mass = (*models->load("superbot"))->mass();
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
    Json json = task_json();
    json["body"]["modules"] = {3, 8};
    json["body"]["largest_mass"] = 4.5 * mass;
    const Task task = made(json);
    auto breeder = Breeder::create(task, models, 0);
    ASSERT_TRUE(breeder.ok()) << breeder.error().text();
    RandomStream random(seed, 0, "test");
    std::vector<Genome> all;
    for (int i = 0; i < 120; ++i) {
      Genome child = i < 10 ? breeder->random(random)
                     : i % 3 > 0
                         ? breeder->crossed(all[random.below(all.size())], all[random.below(all.size())], random)
                         : breeder->mutated(all[random.below(all.size())], random);
      ASSERT_GE(child.tree.size(), 3u) << seed;
      ASSERT_LE(child.tree.size(), 4u) << seed;
      ASSERT_EQ(child.parts.size(), child.tree.size());
      all.push_back(std::move(child));
    }
  }
  const auto error_of = [&](const Json& body) {
    Json json = task_json();
    json["body"] = body;
    const Task task = made(json);
    const auto breeder = Breeder::create(task, models, 0);
    return breeder.ok() ? std::string() : breeder.error().text();
  };
  EXPECT_NE(error_of({{"robot", "superbot"}, {"modules", {3, 8}}, {"largest_mass", 2.5 * mass}}).find("weigh"),
            std::string::npos);
  // Two modules face to face use up the one dock that is allowed.
  EXPECT_EQ(error_of({{"robot", "superbot"}, {"modules", {2, 8}}, {"docks", {"front"}}}), "");
  const std::string three = error_of({{"robot", "superbot"}, {"modules", {3, 8}}, {"docks", {"front"}}});
  EXPECT_NE(three.find("task.json"), std::string::npos) << three;
  EXPECT_NE(three.find("no body of 3 superbot"), std::string::npos) << three;
}

TEST(Breeder, CutsOffWhatOverlaps) {
  Json json = task_json();
  json["body"]["modules"] = {1, 8};
  const Task task = made(json);
  auto breeder = Breeder::create(task, std::make_shared<model::ModelLibrary>(), 0);
  Genome genome;
  genome.genes = {0.5};
  genome.tree = {
      {}, {0, "front", "left", 0}, {1, "front", "left", 0}, {2, "front", "left", 0}, {3, "front", "left", 0}};
  genome.parts.assign(5, {0.1});
  EXPECT_TRUE(breeder->repair(genome));
  EXPECT_LT(genome.tree.size(), 5u);
  EXPECT_GE(genome.tree.size(), 3u);  // the earlier modules stay
  EXPECT_EQ(breeder->counts().repaired, 1);
  // A dock that is used twice keeps its first module.
  genome.tree = {{}, {0, "front", "back", 0}, {0, "front", "back", 1}};
  genome.parts.assign(3, {0.1});
  EXPECT_TRUE(breeder->repair(genome));
  EXPECT_EQ(genome.tree.size(), 2u);
  EXPECT_EQ(genome.tree[1].turn, 0);
}

TEST(Organism, AFileRunsAsItsTrialDid) {
  const sim::Library library = test_library();
  const Task task = made(task_json());
  auto trials = Trials::create(task, library, {});
  ASSERT_TRUE(trials.ok());
  auto breeder = Breeder::create(task, trials->models(), 0);
  RandomStream random(3, 0, "test");
  const Genome genome = breeder->random(random);
  const Organism organism = decode(task, genome);
  const Folder folder;
  const fs::path file = folder / "genome.json";
  ASSERT_TRUE(write_file(file, to_json_text(to_json(organism), 2)).ok());
  auto read = read_organism(file);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(to_json(*read), to_json(organism));

  for (std::size_t trial = 0; trial < 2; ++trial) {
    auto alone = trials->prepare(organism, trial);
    ASSERT_TRUE(alone.ok()) << alone.error().text();
    (*alone)->finish();
    sim::RunOptions options;
    options.experiment = file.string();
    options.seed = trial + 1;
    options.settings = {{"trial", std::to_string(trial + 1)}};
    Log log([](LogLevel, std::string_view) {}, LogLevel::error);
    auto of_file = sim::Run::prepare(options, library, log);
    ASSERT_TRUE(of_file.ok()) << of_file.error().text();
    (*of_file)->finish();
    EXPECT_EQ((*of_file)->report().state_hash, (*alone)->report().state_hash);
    EXPECT_EQ((*of_file)->report().ticks, 24);

    // A snapshot of it goes on as it would have.
    auto half = sim::Run::prepare(options, library, log);
    for (int i = 0; i < 12; ++i) ASSERT_TRUE((*half)->step().ok());
    const auto snapshot = (*half)->snapshot();
    ASSERT_TRUE(snapshot.ok()) << snapshot.error().text();
    auto later = sim::Run::prepare(options, library, log);
    ASSERT_TRUE((*later)->restore(*snapshot).ok());
    (*later)->finish();
    EXPECT_EQ((*later)->report().state_hash, (*alone)->report().state_hash);
  }
}

TEST(Organism, BadFilesAreRefusedByName) {
  const sim::Library library = test_library();
  const Folder folder;
  const fs::path file = folder / "genome.json";
  const auto error_of = [&](const std::string& text) {
    EXPECT_TRUE(write_file(file, text).ok());
    sim::RunOptions options;
    options.experiment = file.string();
    Log log([](LogLevel, std::string_view) {}, LogLevel::error);
    auto run = sim::Run::prepare(options, library, log);
    return run.ok() ? std::string() : run.error().text();
  };
  EXPECT_NE(error_of("{").find("genome.json:1"), std::string::npos);
  EXPECT_NE(error_of("{}").find("not a genome"), std::string::npos);
  EXPECT_NE(error_of(R"({"volvox": "genome 99"})").find("another version"), std::string::npos);
  const std::string good = R"({"volvox": "genome 1", "experiment": "flat", "body": {"robot": "superbot", "modules":
    [{"module": "m0"}, {"module": "m1", "on": "m0.PLACE", "by": "back"}]}, "mind": {"behavior": "wave"}})";
  const auto with = [&](const std::string& place) {
    std::string text = good;
    return text.replace(text.find("m0.PLACE"), 8, place);
  };
  EXPECT_EQ(error_of(with("m0.front")), "");
  EXPECT_NE(error_of(with("m0.fornt")).find("did you mean 'front'"), std::string::npos);
  EXPECT_NE(error_of(with("m7.front")).find("module 1"), std::string::npos);
  EXPECT_NE(error_of(with("front")).find("module 1"), std::string::npos);
  const auto in_genome = [&](const char* key, const std::string& value) {
    Json json = Json::parse(with("m0.front"));
    json[Json::json_pointer(key)] = Json::parse(value);
    return error_of(to_json_text(json));
  };
  EXPECT_EQ(in_genome("/mind/each", R"([{"lag": 1}, {"lag": "2", "amplitude": 0.5}])"), "");
  EXPECT_NE(in_genome("/mind/each", R"([{"lag": [1]}])").find("entry 0 of 'each'"), std::string::npos);
  EXPECT_NE(in_genome("/mind/each", R"([3])").find("entry 0 of 'each'"), std::string::npos);
  EXPECT_NE(in_genome("/mind/each", "{}").find("not a list"), std::string::npos);
  EXPECT_NE(in_genome("/body/modules/1/turm", "1").find("did you mean 'turn'"), std::string::npos);
  EXPECT_NE(in_genome("/body/modules/1/turn", "1.5").find("'turn' is 1.5"), std::string::npos);
  EXPECT_NE(in_genome("/trials", R"([{"fricton": 1}])").find("did you mean 'friction'"), std::string::npos);
  EXPECT_NE(in_genome("/trials", R"([{}, {"noise": "much"}])").find("entry 1 of 'trials'"), std::string::npos);
  EXPECT_EQ(in_genome("/trials", R"([{"settings": {"wind": 3}}])"), "");
  const std::string itself = R"({"volvox": "genome 1", "experiment": ")" + file.string() + R"("})";
  EXPECT_NE(error_of(itself).find("is a genome itself"), std::string::npos);
  Json json = task_json();
  json["experiment"] = file.string();
  const Task task = made(json);
  const auto trials = Trials::create(task, library, {});
  ASSERT_FALSE(trials.ok());
  EXPECT_NE(trials.error().text().find("is a genome"), std::string::npos);
}

// A trial's settings are settled together with those that are given: nothing is overruled in silence.
TEST(Organism, SettingsOfTrials) {
  const sim::Library library = test_library();
  const Folder folder;
  const fs::path file = folder / "genome.json";
  const auto run_of = [&](const std::string& wind, const std::map<std::string, std::string>& settings) {
    Organism organism = decode(made(task_json()), Genome{{{}}, {0.5}, {{0.1}}});
    organism.trials[1].settings = {{"wind", wind}};
    EXPECT_TRUE(write_file(file, to_json_text(to_json(organism), 2)).ok());
    sim::RunOptions options;
    options.experiment = file.string();
    options.settings = settings;
    Log log([](LogLevel, std::string_view) {}, LogLevel::error);
    return sim::Run::prepare(options, library, log);
  };
  const auto error_of = [&](const std::string& wind, const std::map<std::string, std::string>& settings) {
    auto run = run_of(wind, settings);
    return run.ok() ? std::string() : run.error().text();
  };
  EXPECT_EQ((*run_of("3", {{"trial", "2"}, {"friction", "0.5"}}))->report().settings,
            (std::map<std::string, std::string>{{"trial", "2"}, {"friction", "0.5"}, {"wind", "3"}}));
  EXPECT_EQ((*run_of("3", {{"wind", "4"}}))->report().settings.at("wind"), "4");  // trial 1 has no wind
  EXPECT_EQ(error_of("3", {{"trial", "2"}, {"wind", "3"}}), "");                  // as a replay gives it
  EXPECT_NE(error_of("3", {{"trial", "2"}, {"wind", "4"}}).find("trial 2 sets wind to 3"), std::string::npos);
  EXPECT_NE(error_of("3", {{"trial", "2"}, {"wind", "0"}}).find("wind"), std::string::npos);  // its default
  EXPECT_NE(error_of("-3", {{"trial", "2"}}).find("from 0 to"), std::string::npos);

  Json json = task_json();
  json["trial"]["settings"] = {{"wind", {-5, -4}}};
  const Task task = made(json);
  const auto evolution = Evolution::create(task, library, built_in_algorithms(), {});
  ASSERT_FALSE(evolution.ok());
  EXPECT_NE(evolution.error().text().find("from 0 to"), std::string::npos) << evolution.error().text();
}

TEST(Trials, SameAtAnyNumberOfThreadsAndProcesses) {
  const sim::Library library = test_library();
  const Task task = made(task_json());
  std::vector<Genome> genomes;
  std::vector<std::uint64_t> first;
  for (const auto& [threads, jobs, at_once] : {std::tuple{1, 1, 64}, {3, 1, 2}, {1, 2, 64}, {2, 3, 1}}) {
    auto trials = Trials::create(task, library, {threads, jobs, at_once});
    ASSERT_TRUE(trials.ok());
    auto breeder = Breeder::create(task, trials->models(), 0);
    RandomStream random(9, 0, "test");
    genomes.clear();
    for (int i = 0; i < 5; ++i) genomes.push_back(breeder->random(random));
    std::vector<std::uint64_t> hashes;
    for (const Outcome& outcome : trials->run(genomes)) {
      EXPECT_EQ(outcome.failure, "");
      EXPECT_GT(outcome.fitness(), 0);
      hashes.push_back(outcome.hash);
    }
    if (first.empty()) first = hashes;
    EXPECT_EQ(hashes, first);
  }
}

TEST(Trials, WhatFailsIsCountedAndTheOthersGoOn) {
  const sim::Library library = test_library();
  for (const char* how : {"throws", "crashes"}) {
    Json json = task_json();
    json["mind"]["fixed"] = {{"fails", how}};
    json["mind"]["shared"]["bad"] = {0, 1};
    const Task task = made(json);
    EvolveOptions options;
    options.trials.jobs = 2;
    auto evolution = begun(task, library, options);
    ASSERT_TRUE(evolution->step());
    const Generation& g = evolution->history().front();
    EXPECT_GT(g.unfit, 0) << how;
    EXPECT_LT(g.unfit, 6) << how;
    EXPECT_FALSE(evolution->failures().empty());
    EXPECT_GT(evolution->best().fitness(), 0) << how;
    ASSERT_TRUE(evolution->step());
  }
}

TEST(Trials, AFitnessThatIsNotMeasuredIsUnfit) {
  const sim::Library library = test_library();
  Json json = task_json();
  json["fitness"].push_back({{"metric", "never_m"}});
  const Task task = made(json);
  auto evolution = begun(task, library);
  ASSERT_TRUE(evolution->step());
  EXPECT_EQ(evolution->history().front().unfit, 6);
  EXPECT_TRUE(std::isnan(evolution->best().fitness()));
  EXPECT_NE(evolution->failures().begin()->first.find("never_m"), std::string::npos);
  EXPECT_FALSE(evolution_page(*evolution, {}, {}).empty());
}

// Members without a fitness or a feature have no place on the map.
TEST(Page, UnfitMembersOfTheArchive) {
  const sim::Library library = test_library();
  for (const std::string name : {"nsga2", "ga", "map_elites"}) {
    Json json = task_json();
    json["algorithm"]["name"] = name;
    json["map"] = Json::parse(R"({"x": {"feature": "modules", "from": 1, "to": 5, "cells": 4},
                                  "y": {"feature": "never_m", "from": 0, "to": 0.1, "cells": 5}})");
    json["mind"]["fixed"] = {{"fails", "throws"}};
    json["mind"]["shared"]["bad"] = {0, 1};
    const Task task = made(json);
    auto evolution = begun(task, library);
    EXPECT_FALSE(evolution_page(*evolution, {}, {}).empty());  // before the first generation
    ASSERT_TRUE(evolution->step());
    EXPECT_GT(evolution->history().front().unfit, 0);
    EXPECT_EQ(evolution_page(*evolution, {}, {}).find("Elites"), std::string::npos) << name;
  }
}

// Where no more files may be opened, no process can be started: nothing is lost, and the genomes are not to blame.
TEST(Trials, WhereNoProcessStartsTheStepEnds) {
  const sim::Library library = test_library();
  Json json = task_json();
  json["algorithm"]["name"] = "nsga2", json["trial"]["duration"] = 0.1, json["algorithm"]["generations"] = 99;
  const Task task = made(json);
  EvolveOptions options;
  options.trials.jobs = 3;
  auto whole = begun(task, library, options), short_of_files = begun(task, library, options);
  const auto lowest_free = [] {
    const int file = ::dup(0);
    ::close(file);
    return static_cast<rlim_t>(file);
  };
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  int refused = 0, done = 0;
  for (rlim_t more = 0; more < 9; ++more) {
    rlimit few = before;
    few.rlim_cur = lowest_free() + more;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    const std::string state = short_of_files->state();
    const bool stepped = short_of_files->step();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(short_of_files->error().empty(), stepped);
    if (!stepped) {
      ++refused;
      EXPECT_EQ(short_of_files->state(), state);
      continue;
    }
    ++done;
    ASSERT_TRUE(whole->step());
    EXPECT_EQ(short_of_files->state(), whole->state()) << more;
    EXPECT_EQ(short_of_files->history().back().unfit, 0) << more;
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(done, 0);
}

TEST(Trials, WhatRunsAwayIsUnfit) {
  const sim::Library library = test_library();
  Json json = task_json();
  json["trial"]["duration"] = 5;
  json["evolve_settings"] = {{"wind", {{"choices", {"0", "5000"}}}}};
  const Task task = made(json);
  auto evolution = begun(task, library);
  ASSERT_TRUE(evolution->step());
  EXPECT_GT(evolution->history().front().unfit, 0);
  EXPECT_LT(evolution->history().front().unfit, 6);
  EXPECT_NE(evolution->failures().begin()->first.find("ran away"), std::string::npos);
  EXPECT_LT(evolution->best().fitness(), 10);  // m: the farthest did not win
}

TEST(Trials, HopelessOnesAreStoppedEarly) {
  const sim::Library library = test_library();
  Json json = task_json();
  json["trial"]["duration"] = 2;
  json["trial"]["stop"] = {{"after", 0.5}, {"moved_less_than", 100}};
  const Task task = made(json);
  auto evolution = begun(task, library);
  ASSERT_TRUE(evolution->step());
  EXPECT_EQ(evolution->history().front().early, 12);
  EXPECT_NEAR(evolution->simulated(), 12 * 0.5, 12 * 0.26);
  EXPECT_EQ(evolution->history().front().unfit, 0);
}

// The ticks of a trial may be longer than the time between two looks at it.
TEST(Trials, LongTicksAreStoppedEarly) {
  const sim::Library library = test_library();
  Json json = task_json();
  json["trial"]["duration"] = 4, json["trial"]["dt"] = "0.6";
  json["trial"]["stop"] = {{"after", 0.7}, {"moved_less_than", 100}};
  const Task task = made(json);
  auto evolution = begun(task, library);
  ASSERT_TRUE(evolution->step());
  EXPECT_EQ(evolution->history().front().early, 12);
}

// Every algorithm: the same hash at any number of threads, and from a state that was written at any generation.
TEST(Evolution, RepeatsAndGoesOn) {
  const sim::Library library = test_library();
  const Folder folder;
  for (const std::string name : {"ga", "nsga2", "map_elites", "cmaes", "de", "random"}) {
    Json json = task_json();
    json["algorithm"]["name"] = name;
    json["fitness"].push_back({{"metric", "dock_bending_max_Nm"}, {"better", "less"}, {"weight", 0.001}});
    json["map"] = Json::parse(R"({"x": {"feature": "modules", "from": 1, "to": 5, "cells": 4},
                                  "y": {"feature": "moved_m", "from": 0, "to": 0.1, "cells": 5}})");
    if (name == "cmaes" || name == "de")
      json["body"]["given"] = Json::parse(R"([[], [0, "back", "front", 0], [1, "back", "front", 0]])");
    else json["body"]["modules"] = {2, 4};
    json["trial"]["duration"] = 0.3;
    const Task task = made(json);
    auto whole = begun(task, library);
    std::vector<std::string> states;
    while (!whole->done()) {
      ASSERT_TRUE(whole->step());
      states.push_back(whole->state());
    }
    ASSERT_EQ(whole->history().size(), 3u);
    EXPECT_GT(whole->archive().size(), 0u) << name;
    EXPECT_FALSE(evolution_page(*whole, {{&whole->best(), "", "best.json"}}, {1, 2, false}).empty());

    EvolveOptions threads;
    threads.trials.threads = 2, threads.trials.at_once = 3;
    auto other = begun(task, library, threads);
    const std::atomic<bool> stop = true;  // a generation that is stopped is asked for again
    ASSERT_FALSE(other->step(&stop));
    while (!other->done()) ASSERT_TRUE(other->step());
    EXPECT_EQ(other->hash(), whole->hash()) << name;
    EXPECT_EQ(other->state(), whole->state()) << name;

    for (std::size_t cut = 0; cut < 2; ++cut) {
      ASSERT_TRUE(write_file(folder / "evolution.json", states[cut]).ok());
      auto later = begun(task, library);
      auto loaded = later->load(folder / "evolution.json");
      ASSERT_TRUE(loaded.ok()) << loaded.error().text();
      EXPECT_EQ(later->state(), states[cut]);
      while (!later->done()) ASSERT_TRUE(later->step());
      EXPECT_EQ(later->hash(), whole->hash()) << name << ", gone on after " << cut + 1;
      EXPECT_EQ(later->state(), whole->state()) << name;
    }
    EvolveOptions seeded;
    seeded.seed = 2;
    auto differs = begun(task, library, seeded);
    while (!differs->done()) ASSERT_TRUE(differs->step());
    EXPECT_NE(differs->hash(), whole->hash()) << name;
  }
}

TEST(Evolution, AnotherStateIsRefused) {
  const sim::Library library = test_library();
  const Folder folder;
  const fs::path file = folder / "evolution.json";
  const Task task = made(task_json());
  EvolveOptions options;
  options.version = "1";
  auto evolution = begun(task, library, options);
  ASSERT_TRUE(evolution->step());
  const std::string state = evolution->state();
  const auto error_of = [&](const Task& of, const EvolveOptions& with, const std::string& text) {
    EXPECT_TRUE(write_file(file, text).ok());
    auto other = begun(of, library, with);
    auto loaded = other->load(file);
    return loaded.ok() ? std::string() : loaded.error().text();
  };
  EXPECT_EQ(error_of(task, options, state), "");
  for (std::size_t length : {std::size_t{0}, std::size_t{1}, state.size() / 2, state.size() - 3})
    EXPECT_NE(error_of(task, options, state.substr(0, length)).find("damaged"), std::string::npos) << length;
  std::string changed = state;
  changed[state.size() / 2] = changed[state.size() / 2] == '1' ? '2' : '1';
  EXPECT_FALSE(error_of(task, options, changed).empty());
  EXPECT_EQ(error_of(task, options, state + std::string(65u << 20, ' ')), "");  // a large one is not a damaged one
  EvolveOptions rebuilt = options;
  rebuilt.build = "another";
  auto other = begun(task, library, rebuilt);
  ASSERT_TRUE(other->load(file).ok());
  EXPECT_TRUE(other->other_build());
  EXPECT_FALSE(evolution->other_build());
  EvolveOptions seed = options, version = options, population = options;
  seed.seed = 7, version.version = "2", population.population = 9;
  EXPECT_NE(error_of(task, seed, state).find("--seed 1"), std::string::npos);
  EXPECT_NE(error_of(task, population, state).find("--population 6"), std::string::npos);
  EXPECT_NE(error_of(task, version, state).find("another version"), std::string::npos);
  Json json = task_json();
  json["trial"]["duration"] = 0.5;
  EXPECT_NE(error_of(made(json), options, state).find("another task"), std::string::npos);
  json = task_json(), json["algorithm"]["generations"] = 9;  // it may go on for longer
  EXPECT_EQ(error_of(made(json), options, state), "");
}

// Without a simulation: genes are told how near they are to a point.
double tried_out(const std::string& name, int generations, std::uint64_t seed) {
  Json json = task_json();
  json["algorithm"]["name"] = name, json["algorithm"]["population"] = 16;
  json["body"]["given"] =
      Json::parse(R"([[], [0, "back", "front", 0], [1, "back", "front", 0], [2, "back", "front", 0]])");
  const Task task = made(json);
  auto breeder = Breeder::create(task, std::make_shared<model::ModelLibrary>(), 0);
  auto algorithm = (**built_in_algorithms().find(name))(task);
  double best = -1e9;
  for (int g = 0; g < generations; ++g) {
    RandomStream random(seed, static_cast<std::uint64_t>(g), "test");
    std::vector<Individual> asked = (*algorithm)->ask(*breeder, 16, random);
    for (Individual& one : asked) {
      double far = 0, weight = 1;
      for (const double gene : flat(one.genome)) far += weight * (gene - 0.3) * (gene - 0.3), weight *= 2;
      one.outcome.objectives = {-far};
      best = std::max(best, -far);
    }
    (*algorithm)->tell(std::move(asked));
  }
  return best;
}

TEST(Algorithms, FindAPointFasterThanChance) {
  for (const std::uint64_t seed : {11u, 12u, 13u}) {
    const double chance = tried_out("random", 40, seed);
    EXPECT_GT(tried_out("cmaes", 40, seed), -1e-3);
    EXPECT_GT(tried_out("de", 40, seed), 0.3 * chance);
    EXPECT_GT(tried_out("ga", 40, seed), 0.3 * chance);
    EXPECT_LT(chance, -0.1);
  }
}

TEST(Algorithms, PopulationOfTheCommandLine) {
  const sim::Library library = test_library();
  Json json = task_json();
  json["algorithm"]["name"] = "nsga2", json["trial"]["duration"] = 0.1, json["body"]["modules"] = {1, 2};
  const Task task = made(json);
  EvolveOptions options;
  options.population = 10;
  auto evolution = begun(task, library, options);
  ASSERT_TRUE(evolution->step());
  EXPECT_EQ(evolution->archive().size(), 10u);
  ASSERT_TRUE(evolution->step());
  EXPECT_EQ(evolution->archive().size(), 10u);
}

TEST(Algorithms, WhatTheyCannotBreedIsRefused) {
  const sim::Library library = test_library();
  const auto error_of = [&](const std::string& name, int genes, int population) {
    Json json = task_json();
    json["body"]["given"] = Json::parse(R"([[], [0, "back", "front", 0]])");
    json["algorithm"]["name"] = name;
    json["mind"]["each"]["lag"] = {{"from", 0}, {"to", 1}, {"count", genes}};
    const Task task = made(json);
    EvolveOptions options;
    options.population = population;
    const auto evolution = Evolution::create(task, library, built_in_algorithms(), options);
    return evolution.ok() ? std::string() : evolution.error().text();
  };
  EXPECT_NE(error_of("cmaes", 1000, 6).find("use \"de\""), std::string::npos);
  EXPECT_NE(error_of("de", 1, 3).find("at least 4"), std::string::npos);
  EXPECT_EQ(error_of("de", 1, 4), "");
}

TEST(Algorithms, NsgaKeepsTheWholeFront) {
  Json json = task_json();
  json["algorithm"]["name"] = "nsga2", json["algorithm"]["population"] = 8;
  const Task task = made(json);
  auto algorithm = (**built_in_algorithms().find("nsga2"))(task);
  std::vector<Individual> tried(16);
  for (std::size_t i = 0; i < tried.size(); ++i) {
    tried[i].number = static_cast<std::int64_t>(i);
    const double x = static_cast<double>(i % 8);
    // The first eight are on the front; the others are worse in both, and one is unfit.
    tried[i].outcome.objectives = {x - (i < 8 ? 0 : 1), 7 - x - (i < 8 ? 0 : 1)};
  }
  tried[9].outcome.objectives = {std::nan(""), 100};
  (*algorithm)->tell(std::move(tried));
  ASSERT_EQ((*algorithm)->archive().size(), 8u);
  for (const Individual* one : (*algorithm)->archive()) EXPECT_LT(one->number, 8);
}

TEST(Algorithms, MapElitesKeepsTheBestOfEachCell) {
  Json json = task_json();
  json["algorithm"]["name"] = "map_elites";
  json["map"] = Json::parse(R"({"x": {"feature": "modules", "from": 0, "to": 4, "cells": 4},
                                "y": {"feature": "moved_m", "from": 0, "to": 1, "cells": 2}})");
  const Task task = made(json);
  auto algorithm = (**built_in_algorithms().find("map_elites"))(task);
  const auto one = [](std::int64_t number, double fitness, double x, double y) {
    Individual made;
    made.number = number;
    made.outcome.objectives = {fitness}, made.outcome.features = {x, y};
    return made;
  };
  (*algorithm)
      ->tell({one(0, 1, 0.5, 0.2), one(1, 3, 0.6, 0.3), one(2, 2, 0.7, 0.1), one(3, 1, 99, 0.9),
              one(4, std::nan(""), 2, 0.9), one(5, 5, std::nan(""), 0)});
  const auto archive = (*algorithm)->archive();
  ASSERT_EQ(archive.size(), 2u);
  EXPECT_EQ(archive[0]->number, 1);
  EXPECT_EQ(archive[1]->number, 3);
}

TEST(Space, Values) {
  const double low = 0, middle = 0.5, high = 1;
  const auto at = [](const Space& space, double gene) { return space.value(std::span(&gene, 1)); };
  Space space{"a", 1, 3};
  EXPECT_EQ(at(space, middle), "2");
  space.whole = true;
  EXPECT_EQ(at(space, low), "1");
  EXPECT_EQ(at(space, high), "3");
  space.choices = {"x", "y"};
  EXPECT_EQ(at(space, low), "x");
  EXPECT_EQ(at(space, high), "y");
  const double both[] = {0, 1};
  EXPECT_EQ((Space{"w", -1, 1, false, {}, 2}.value(both)), "-1 1");
}

}  // namespace
}  // namespace volvox::evolve
