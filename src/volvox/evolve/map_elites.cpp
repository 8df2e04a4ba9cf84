// MAP-Elites (Mouret and Clune 2015): a map of two features, and in each cell the fittest that was ever there.
#include <algorithm>
#include <cmath>
#include <map>

#include "volvox/base/check.h"
#include "volvox/base/index.h"
#include "volvox/evolve/algorithm.h"

namespace volvox::evolve {
namespace {

class MapElites final : public Algorithm {
 public:
  explicit MapElites(const Task& task) : axes_(task.map), crossover_(task.algorithm.crossover) {}

  std::vector<Individual> ask(Breeder& breeder, std::size_t count, RandomStream& random) override {
    std::vector<const Individual*> elites = archive();
    std::vector<Individual> asked(count);
    const auto choose = [&]() -> const Individual& { return *elites[random.below(elites.size())]; };
    for (Individual& child : asked) {
      if (elites.empty()) child.genome = breeder.random(random);
      else child = bred(breeder, crossover_, random, choose);
    }
    return asked;
  }

  void tell(std::vector<Individual> tried) override {
    for (Individual& one : tried) {
      const int cell = cell_of(one.outcome.features);
      if (cell < 0 || std::isnan(one.fitness())) continue;
      VOLVOX_ASSERT(cell < cells());
      const auto found = elites_.find(cell);
      if (found == elites_.end()) elites_.emplace(cell, std::move(one));
      else if (fitter(one.fitness(), found->second.fitness())) found->second = std::move(one);
    }
  }

  std::vector<const Individual*> archive() const override {
    std::vector<const Individual*> all;
    for (const auto& [cell, elite] : elites_) {
      VOLVOX_ASSERT(cell == cell_of(elite.outcome.features) && !std::isnan(elite.fitness()));
      all.push_back(&elite);
    }
    return all;
  }
  Json save() const override {
    Json cells = Json::array();
    for (const auto& [cell, elite] : elites_) cells.push_back({{"cell", cell}, {"elite", to_json(elite)}});
    return {{"cells", cells}};
  }
  Result<void> load(const Json& state) override {
    elites_.clear();
    for (const Json& one : state.value("cells", Json::array())) {
      auto elite = individual_from(one.value("elite", Json()));
      if (!elite.ok()) return elite.error();
      const int cell = cell_of(elite->outcome.features);
      if (cell < 0) return Error("an elite of the state lies beside the map", "use another state");
      if (std::isnan(elite->fitness())) return Error("an elite of the state has no fitness", "use another state");
      elites_.insert_or_assign(cell, std::move(*elite));
    }
    return {};
  }

 private:
  // What lies beyond an end of the map belongs to the cell at the end; -1: a feature was not measured.
  int cell_of(const std::vector<double>& features) const {
    int cell = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (i >= features.size() || !std::isfinite(features[i])) return -1;
      const double at = (features[i] - axes_[i].from) / (axes_[i].to - axes_[i].from) * axes_[i].cells;
      cell = cell * axes_[i].cells + truncated(clamp(at, 0, axes_[i].cells - 1));
    }
    return cell;
  }

  int cells() const {
    int count = 1;
    for (const Axis& axis : axes_) count *= axis.cells;
    return count;
  }

  std::vector<Axis> axes_;
  double crossover_;
  std::map<int, Individual> elites_;
};

}  // namespace

std::unique_ptr<Algorithm> make_map_elites(const Task& task) { return std::make_unique<MapElites>(task); }

}  // namespace volvox::evolve
