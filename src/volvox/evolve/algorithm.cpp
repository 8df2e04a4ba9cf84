#include "volvox/evolve/algorithm.h"

#include <fmt/format.h>

#include <cmath>

namespace volvox::evolve {

bool fitter(double a, double b) { return !std::isnan(a) && (std::isnan(b) || a > b); }

Json to_json(const Individual& individual) {
  return {{"number", individual.number},
          {"generation", individual.generation},
          {"parents", individual.parents},
          {"genome", to_json(individual.genome)},
          {"outcome", to_json(individual.outcome)}};
}

Result<Individual> individual_from(const Json& json) {
  Individual individual;
  try {
    individual.number = json.at("number").get<std::int64_t>();
    individual.generation = json.at("generation").get<int>();
    individual.parents = json.at("parents").get<std::vector<std::int64_t>>();
    auto genome = genome_from(json.at("genome"));
    if (!genome.ok()) return genome.error();
    auto outcome = outcome_from(json.at("outcome"));
    if (!outcome.ok()) return outcome.error();
    individual.genome = std::move(*genome), individual.outcome = std::move(*outcome);
  } catch (const Json::exception&) {
    return Error("an individual of the state is damaged", "use another state");
  }
  return individual;
}

Individual bred(Breeder& breeder, double crossover, RandomStream& random,
                const std::function<const Individual&()>& choose) {
  const Individual& a = choose();
  Individual child;
  child.genome = a.genome, child.parents = {a.number};
  if (random.chance(crossover)) {
    const Individual& b = choose();
    child.genome = breeder.crossed(a.genome, b.genome, random);
    if (b.number != a.number) child.parents.push_back(b.number);
  }
  child.genome = breeder.mutated(child.genome, random);
  return child;
}

std::vector<const Individual*> addresses_of(const std::vector<Individual>& individuals) {
  std::vector<const Individual*> all;
  for (const Individual& one : individuals) all.push_back(&one);
  return all;
}

Json to_json(const std::vector<Individual>& individuals) {
  Json list = Json::array();
  for (const Individual& individual : individuals) list.push_back(to_json(individual));
  return list;
}

Result<std::vector<Individual>> individuals_from(const Json& json) {
  std::vector<Individual> individuals;
  if (!json.is_array()) return Error("the individuals of the state are damaged", "use another state");
  for (const Json& one : json) {
    auto individual = individual_from(one);
    if (!individual.ok()) return individual.error();
    individuals.push_back(std::move(*individual));
  }
  return individuals;
}

Result<void> load_individuals(const Json& state, const char* name, std::vector<Individual>& individuals) {
  auto loaded = individuals_from(state.value(name, Json()));
  if (!loaded.ok()) return loaded.error();
  individuals = std::move(*loaded);
  return {};
}

AlgorithmRegistry built_in_algorithms() {
  AlgorithmRegistry registry("algorithm");
  using Made = Result<std::unique_ptr<Algorithm>>;
  const auto minds_only = [](const Task& task, const char* name) -> std::optional<Error> {
    if (!task.evolves_body()) return std::nullopt;
    return Error(Diagnostic{task.file, 0, fmt::format("{} cannot change bodies", name),
                            "use \"ga\", \"nsga2\" or \"map_elites\", or give the body (\"given\")"});
  };
  registry.add(
      "ga", [](const Task& task) -> Made { return make_genetic(task, false); },
      "(mu + lambda) with tournaments: bodies and minds");
  registry.add(
      "nsga2", [](const Task& task) -> Made { return make_genetic(task, true); },
      "several objectives side by side: bodies and minds");
  registry.add(
      "map_elites",
      [](const Task& task) -> Made {
        if (task.map.size() == 2) return make_map_elites(task);
        return Error(
            Diagnostic{task.file, 0, "map_elites needs a map",
                       "give \"map\": {\"x\": {\"feature\": \"modules\", \"from\": 1, \"to\": 9, \"cells\": 8}, "
                       "\"y\": {...}}"});
      },
      "the best of each cell of a map of features: bodies and minds");
  registry.add(
      "cmaes",
      [minds_only](const Task& task) -> Made {
        if (auto error = minds_only(task, "cmaes")) return *error;
        return make_cma_es(task);
      },
      "adapts a normal distribution: minds of a given body");
  registry.add(
      "de",
      [minds_only](const Task& task) -> Made {
        if (auto error = minds_only(task, "de")) return *error;
        if (task.algorithm.population < 4)
          return Error(Diagnostic{task.file, 0, "de needs a population of at least 4: it mixes three others into each",
                                  "give a larger \"population\" (or --population N)"});
        return make_differential(task);
      },
      "differential evolution: minds of a given body");
  registry.add(
      "random", [](const Task& task) -> Made { return make_random(task); },
      "nothing is learnt: what the others are measured by");
  return registry;
}

}  // namespace volvox::evolve
