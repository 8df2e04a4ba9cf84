// Islands: several populations that breed apart, and now and then send their best to the next one of a ring.
#include <fmt/format.h>

#include <algorithm>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/evolve/algorithm.h"

namespace volvox::evolve {
namespace {

class Islands final : public Algorithm {
 public:
  Islands(const AlgorithmSettings& settings, std::vector<std::unique_ptr<Algorithm>> islands)
      : every_(settings.migrate_every),
        migrants_(narrow<std::size_t>(settings.migrants)),
        islands_(std::move(islands)) {
    VOLVOX_ASSERT(every_ > 0 && islands_.size() > 1);
  }

  Result<void> accepts(const Genome& genome) const override { return islands_.front()->accepts(genome); }

  std::vector<Individual> ask(Breeder& breeder, std::size_t count, RandomStream& random) override {
    std::vector<Individual> asked;
    const std::uint64_t seed = random.bits();
    for (std::size_t k = 0; k < islands_.size(); ++k) {
      RandomStream own(seed, k, "island");
      std::ranges::move(islands_[k]->ask(breeder, part_of(count, k), own), std::back_inserter(asked));
    }
    VOLVOX_ASSERT(asked.size() == count);
    return asked;
  }

  void tell(std::vector<Individual> tried) override {
    auto first = tried.begin();
    for (std::size_t k = 0; k < islands_.size(); ++k) {
      const auto end = first + narrow<std::ptrdiff_t>(part_of(tried.size(), k));
      islands_[k]->tell({std::make_move_iterator(first), std::make_move_iterator(end)});
      first = end;
    }
    VOLVOX_ASSERT(first == tried.end());  // the parts are all of it
    if (++told_ % every_ == 0) migrate();
  }

  std::vector<const Individual*> archive() const override {
    std::vector<const Individual*> all;
    for (const auto& island : islands_) std::ranges::copy(island->archive(), std::back_inserter(all));
    return all;
  }
  Json save() const override {
    Json islands = Json::array();
    for (const auto& island : islands_) islands.push_back(island->save());
    return {{"islands", islands}, {"told", told_}};
  }
  Result<void> load(const Json& state) override {
    const Json islands = state.value("islands", Json());
    if (!islands.is_array() || islands.size() != islands_.size() || !state.value("told", Json()).is_number_integer())
      return Error("the islands of the state are damaged", "use another state");
    for (std::size_t k = 0; k < islands_.size(); ++k)
      if (auto loaded = islands_[k]->load(islands[k]); !loaded.ok()) return loaded;
    told_ = state["told"].get<int>();
    return {};
  }

 private:
  std::size_t part_of(std::size_t count, std::size_t island) const {
    return count / islands_.size() + (island < count % islands_.size() ? 1 : 0);
  }

  // All leave before any arrives, so that nobody travels twice.
  void migrate() {
    std::vector<std::vector<Individual>> guests(islands_.size());
    for (std::size_t k = 0; k < islands_.size(); ++k) {
      std::vector<const Individual*> best = islands_[k]->archive();
      std::ranges::stable_sort(best, [](const auto* a, const auto* b) { return fitter(a->fitness(), b->fitness()); });
      for (const Individual* one : std::span(best).first(std::min(migrants_, best.size())))
        guests[(k + 1) % islands_.size()].push_back(*one);
    }
    for (std::size_t k = 0; k < islands_.size(); ++k) islands_[k]->welcome(std::move(guests[k]));
  }

  int every_;
  std::size_t migrants_;
  std::vector<std::unique_ptr<Algorithm>> islands_;
  int told_ = 0;  // generations
};

}  // namespace

Result<std::unique_ptr<Algorithm>> make_islands(const Task& task, const AlgorithmFactory& factory) {
  const AlgorithmSettings& settings = task.algorithm;
  if (settings.name == "cmaes" || settings.name == "random")
    return Diagnostic{task.file, 0, fmt::format("{} has no islands: it takes no guests", settings.name),
                      "leave \"islands\" out, or use \"ga\", \"nsga2\", \"map_elites\" or \"de\""};
  if (settings.population < 2 * settings.islands)
    return Diagnostic{task.file, 0,
                      fmt::format("{} islands for a population of {}", settings.islands, settings.population),
                      "give fewer islands, or at least two genomes for each"};
  if (settings.migrants >= settings.population / settings.islands)
    return Diagnostic{
        task.file, 0,
        fmt::format("{} migrants from islands of {}", settings.migrants, settings.population / settings.islands),
        "let at least one stay: give fewer \"migrants\", or a larger \"population\""};
  Task of_one = task;
  of_one.algorithm.islands = 1, of_one.algorithm.population = settings.population / settings.islands;
  std::vector<std::unique_ptr<Algorithm>> islands;
  for (int k = 0; k < settings.islands; ++k) {
    auto island = factory(of_one);
    if (!island.ok()) return island.error();
    islands.push_back(std::move(*island));
  }
  return std::unique_ptr<Algorithm>(std::make_unique<Islands>(settings, std::move(islands)));
}

}  // namespace volvox::evolve
