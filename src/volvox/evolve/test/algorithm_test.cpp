// What the algorithms find and keep.
#include "volvox/evolve/test/small_task.h"

namespace volvox::evolve {
namespace {

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

// Whoever is stuck gets out, and one who still improves is left in peace; a state goes on at the same generation.
TEST(Algorithms, BeginAnewWhereNothingImproves) {
  Json json = task_json();
  json["algorithm"] = Json::parse(R"({"name": "ga", "population": 8, "patience": 3})");
  const Task task = made(json);
  auto breeder = Breeder::create(task, std::make_shared<model::ModelLibrary>(), 0);
  RandomStream draw(7, 0, "test");
  const Genome any = breeder->random(draw);
  const auto generation = [&](int number, double best) {
    std::vector<Individual> tried(8);
    for (std::size_t i = 0; i < tried.size(); ++i) {
      tried[i].number = 8 * number + narrow<int>(i);
      tried[i].genome = any;
      tried[i].outcome.objectives = {best - real(i)};
    }
    return tried;
  };
  auto algorithm = (**built_in_algorithms().find("ga"))(task);
  for (int g = 0; g < 6; ++g) (*algorithm)->tell(generation(g, 1 + 0.1 * g));
  for (int g = 6; g < 8; ++g) (*algorithm)->tell(generation(g, 1.501));  // 0.1 % better
  EXPECT_EQ((*algorithm)->archive().size(), 2u);
  auto again = (**built_in_algorithms().find("ga"))(task);
  ASSERT_TRUE((*again)->load((*algorithm)->save()).ok());
  // Whether all of the next generation are without parents.
  const auto begins_anew = [&](Algorithm& one) {
    RandomStream random(1, 0, "test");
    const std::vector<Individual> asked = one.ask(*breeder, 40, random);
    return std::ranges::all_of(asked, [](const Individual& child) { return child.parents.empty(); });
  };
  for (auto* one : {&*algorithm, &*again}) {
    (*one)->welcome(generation(8, 1.502));  // guests are no generation
    EXPECT_FALSE(begins_anew(**one));
    (*one)->tell(generation(9, 1.503));
    EXPECT_EQ((*one)->archive().size(), 2u) << "those of whom nothing came are still to be seen";
    EXPECT_TRUE(begins_anew(**one));
    (*one)->tell(generation(10, 0.5));  // worse than before, but it has just begun
    EXPECT_FALSE(begins_anew(**one));
  }
  EXPECT_FALSE((*algorithm)->load(Json::parse(R"({"parents": []})")).ok());

  json["algorithm"]["name"] = "nsga2";
  EXPECT_NE(mistakes(json).find("nsga2 does not begin anew"), std::string::npos) << mistakes(json);
  json["algorithm"]["name"] = "ga", json["algorithm"]["islands"] = {{"count", 2}};
  EXPECT_NE(mistakes(json).find("islands do not begin anew"), std::string::npos) << mistakes(json);
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

  Json json = task_json();
  json["algorithm"] = Json::parse(R"({"name": "ga", "population": 8, "islands": {"count": 2, "migrants": 3}})");
  EXPECT_TRUE(Evolution::create(made(json), library, built_in_algorithms(), {}).ok());
  json["algorithm"]["islands"]["migrants"] = 4;
  const auto all_go = Evolution::create(made(json), library, built_in_algorithms(), {});
  ASSERT_FALSE(all_go.ok());
  EXPECT_NE(all_go.error().text().find("4 migrants from islands of 4"), std::string::npos) << all_go.error().text();
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

  Json state = (*algorithm)->save();
  ASSERT_TRUE((*algorithm)->load(state).ok());
  EXPECT_EQ((*algorithm)->archive().size(), 2u);
  state["cells"][0]["elite"]["outcome"]["objectives"][0] = nullptr;  // as NaN is written
  const auto loaded = (*algorithm)->load(state);
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().text().find("has no fitness"), std::string::npos) << loaded.error().text();
}

}  // namespace
}  // namespace volvox::evolve
