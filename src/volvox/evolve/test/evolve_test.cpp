// Trials, and evolutions that repeat and go on.
#include <sys/resource.h>

#include <sstream>

#include "volvox/base/hash.h"
#include "volvox/evolve/test/small_task.h"

namespace volvox::evolve {
namespace {

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

// What another build, or nobody, could have written: sizes that are not the task's would be read out of bounds.
TEST(Trials, ADamagedJournalIsNotBelieved) {
  const sim::Library library = test_library();
  const TemporaryFolder folder;
  Json json = task_json();
  json["fitness"].push_back({{"metric", "dock_bending_max_Nm"}, {"better", "less"}, {"weight", 0.001}});
  json["map"] = Json::parse(R"({"x": {"feature": "modules", "from": 1, "to": 5, "cells": 4},
                                "y": {"feature": "moved_m", "from": 0, "to": 0.1, "cells": 5}})");
  const Task task = made(json);
  TrialOptions options;
  options.jobs = 2, options.journal = folder / "generation.jsonl";
  auto trials = Trials::create(task, library, options);
  ASSERT_TRUE(trials.ok());
  auto breeder = Breeder::create(task, trials->models(), 0);
  RandomStream random(9, 0, "test");
  const std::vector<Genome> genomes = {breeder->random(random), breeder->random(random), breeder->random(random)};
  const std::vector<Outcome> whole = trials->run(genomes);
  const std::string journal = *read_file(options.journal);
  for (const char* key : {"objectives", "features"})
    for (const Json& list : {Json::array(), Json{1.0}, Json{1.0, 2.0, 3.0}}) {
      std::istringstream lines(journal);
      std::string damaged;
      for (std::string line; std::getline(lines, line);) {
        Json one = Json::parse(line);
        one["outcome"][key] = list;
        damaged += to_json_text(one) + "\n";
      }
      ASSERT_TRUE(write_file(options.journal, damaged).ok());
      const std::vector<Outcome> found = trials->run(genomes);
      ASSERT_EQ(found.size(), whole.size());
      for (std::size_t i = 0; i < whole.size(); ++i) {
        EXPECT_EQ(found[i].objectives, whole[i].objectives) << key << " of " << list.size();
        EXPECT_EQ(found[i].features, whole[i].features) << key << " of " << list.size();
      }
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
  const TemporaryFolder folder;
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
  const TemporaryFolder folder;
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
  for (const char* of : {"/content/best", "/content/state/parents/1"})
    for (const char* key : {"objectives", "features"}) {  // one more than the task has, and the seal of it
      Json root = Json::parse(state);
      root[Json::json_pointer(of)]["outcome"][key].push_back(1.0);
      root["seal"] = hash_text(hash_of(to_json_text(root["content"])));
      EXPECT_NE(error_of(task, options, to_json_text(root)).find("damaged"), std::string::npos) << of << " " << key;
    }
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

}  // namespace
}  // namespace volvox::evolve
