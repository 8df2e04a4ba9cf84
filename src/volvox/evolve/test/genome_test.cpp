// Tasks, genomes, and the operators that keep them valid.
#include "volvox/evolve/test/small_task.h"

namespace volvox::evolve {
namespace {

TEST(Task, MistakesHaveALineAndAFix) {
  auto twice = Document::parse("{\n  \"a\": {\"b\": 1},\n  \"b\": 2,\n  \"a\": 3\n}", "task.json");
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().text().find("task.json:4: the key 'a' is there twice"), std::string::npos)
      << twice.error().text();
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
  for (const char* given :
       {R"([[], [0.5, "a", "b", 0]])", R"([[], [0, "a", "b", 4294967296]])", R"([[0, "a", "b", 0]])"})
    EXPECT_NE(in_task("/body/given", given).find("not understood"), std::string::npos) << given;
  EXPECT_NE(in_task("/body/given", Json(std::vector<Json>(1001, Json::array())).dump().c_str()).find("at most 1000"),
            std::string::npos);
  EXPECT_EQ(std::ranges::count(in_task("/body/given", "[[], [], [], []]"), '\n'), 1) << "the first mistake alone";
  for (const char* noise : {"[-1]", "[101]", "[2, 1]"})
    EXPECT_NE(in_task("/trial/noise", noise).find("from 0 to 100"), std::string::npos) << noise;
  EXPECT_NE(in_task("/mind/shared/n", R"({"choices": []})").find("no choices"), std::string::npos);
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
  const TemporaryFolder folder;
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
  const TemporaryFolder folder;
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
  EXPECT_NE(in_genome("/trials", R"([{"friction": 1e300}])").find("from 0 to 100"), std::string::npos);
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
  const TemporaryFolder folder;
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
