// Algorithms by name: each is asked for genomes, and told how fit they are. All of them draw from the random stream
// that they are given, so that an evolution repeats exactly, and list their state as JSON, so that it goes on after a
// kill.
//   ga          (mu + lambda) with tournaments, for bodies and minds together; may begin anew where it is stuck
//   nsga2       the same with several objectives: ranks and crowding (Deb et al. 2002)
//   map_elites  the best of each cell of a map of features (Mouret and Clune 2015)
//   cmaes       minds of a given body: covariance matrix adaptation (Hansen 2016)
//   de          minds of a given body: differential evolution (Storn and Price 1997)
//   random      nothing is learnt: what the others are measured by
// To be called by one thread; trials run in parallel between asking and telling.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "volvox/base/registry.h"
#include "volvox/evolve/breeder.h"
#include "volvox/evolve/trials.h"

namespace volvox::evolve {

struct Individual {
  std::int64_t number = -1;
  int generation = 0;
  std::vector<std::int64_t> parents;
  Genome genome;
  Outcome outcome;

  double fitness() const { return outcome.fitness(); }
};
Json to_json(const Individual& individual);
Result<Individual> individual_from(const Json& json);

// NaN is worse than every number.
bool fitter(double a, double b);

class Algorithm {
 public:
  virtual ~Algorithm() = default;
  // Whether it can breed genomes like this one.
  virtual Result<void> accepts(const Genome&) const { return {}; }
  virtual std::vector<Individual> ask(Breeder& breeder, std::size_t count, RandomStream& random) = 0;
  virtual void tell(std::vector<Individual> tried) = 0;
  // The best of another island (islands.cpp): individuals that it has not asked for.
  virtual void welcome(std::vector<Individual> guests) { tell(std::move(guests)); }
  // The individuals that the next ones are bred from: parents, elites. The hash of an evolution is made of them.
  virtual std::vector<const Individual*> archive() const = 0;
  virtual Json save() const = 0;
  virtual Result<void> load(const Json& state) = 0;
};

// The task must not be kept by reference. Its population is the number of genomes that will be asked for.
using AlgorithmFactory = std::function<Result<std::unique_ptr<Algorithm>>(const Task& task)>;
using AlgorithmRegistry = Registry<AlgorithmFactory>;
AlgorithmRegistry built_in_algorithms();
// Several of them side by side, as the task says.
Result<std::unique_ptr<Algorithm>> make_islands(const Task& task, const AlgorithmFactory& factory);

// Defined in the files of the algorithms.
std::unique_ptr<Algorithm> make_genetic(const Task& task, bool many_objectives);
std::unique_ptr<Algorithm> make_map_elites(const Task& task);
std::unique_ptr<Algorithm> make_cma_es(const Task& task);
std::unique_ptr<Algorithm> make_differential(const Task& task);
std::unique_ptr<Algorithm> make_random(const Task& task);
// A child of one or two parents, which `choose` draws, mutated.
Individual bred(Breeder& breeder, double crossover, RandomStream& random,
                const std::function<const Individual&()>& choose);
std::vector<const Individual*> addresses_of(const std::vector<Individual>& individuals);
Json to_json(const std::vector<Individual>& individuals);
Result<std::vector<Individual>> individuals_from(const Json& json);
// Replaces `individuals` by those that the state of an algorithm has under that name.
Result<void> load_individuals(const Json& state, const char* name, std::vector<Individual>& individuals);

}  // namespace volvox::evolve
