// An evolution from its task to its winners: one generation after another, and after each the whole state in a file
// (written beside, synced, renamed), from which it goes on after a kill at any time.
//
// The same task and seed give the same winners and the same hash at any number of threads and processes, and after any
// number of interruptions. All functions are to be called from one thread.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "volvox/evolve/algorithm.h"

namespace volvox::evolve {

struct EvolveOptions {
  std::uint64_t seed = 1;
  std::optional<int> generations, population;  // none: those of the task
  TrialOptions trials;
  std::string version;  // of the program: a state of another one is refused
  std::string build;    // fingerprint of the program: see other_build()
};

// What a generation was like. Fitness is that of its own genomes; NaN: all were unfit.
struct Generation {
  int number = 0;
  double best = 0, upper = 0, median = 0, lower = 0;  // of the fit ones; upper and lower quartile
  double best_so_far = 0;
  double diversity = 0;  // mean deviation of the genes, from 0 to about 0.5
  int shapes = 0;        // different bodies
  int trials = 0, early = 0, unfit = 0;
  std::size_t archive = 0;  // parents or elites
  double mean_modules = 0;
};

struct Ancestor {
  int generation = 0;
  double fitness = 0;
  std::vector<std::int64_t> parents;
};

class Evolution {
 public:
  // The task and the library must outlive it. Checks everything that the task names.
  static Result<std::unique_ptr<Evolution>> create(const Task& task, const sim::Library& library,
                                                   const AlgorithmRegistry& algorithms, const EvolveOptions& options);

  int generations() const { return generations_; }  // that are wanted
  bool done() const;
  bool solved() const;  // the bar of the task was reached
  // One generation. False: `stop` became true, or no process could be started, which error() then says. Winners and
  // history are then as before, and the next step makes the same generation.
  bool step(const std::atomic<bool>* stop = nullptr);
  const Error& error() const { return runner_.error(); }
  const sim::Population::OnDevice& on_device() const { return runner_.on_device(); }  // since it was made
  // The ranks of a cluster beside rank 0, in place of step(): see Trials::serve.
  Result<bool> serve(const std::atomic<bool>& stop) { return runner_.serve(stop); }
  void dismiss() { runner_.dismiss(); }
  std::vector<std::int64_t> done_by_rank() const { return runner_.done_by_rank(); }

  const Task& task() const { return *task_; }
  const EvolveOptions& options() const { return options_; }
  int population() const { return population_; }
  const std::vector<Generation>& history() const { return history_; }
  const Individual& best() const { return best_; }
  std::vector<const Individual*> archive() const { return algorithm_->archive(); }  // in its order
  const std::map<std::int64_t, Ancestor>& ancestors() const { return ancestors_; }  // of what lives, by number
  const std::map<std::string, int>& failures() const { return failures_; }          // how often each was met
  Breeder::Counts repairs() const { return breeder_.counts(); }
  std::int64_t tried() const { return next_number_; }  // genomes
  std::int64_t trials() const { return trials_; }
  double simulated() const { return simulated_; }  // s
  std::uint64_t hash() const;

  // The genome file of an individual, which is to lie in this folder.
  std::string genome_file(const Individual& individual, const std::filesystem::path& folder) const;
  std::string state() const;
  // Refuses the state of another task, of other files, of another seed or version.
  Result<void> load(const std::filesystem::path& file);
  bool other_build() const { return other_build_; }  // what was loaded comes from another build of the same version
  std::string csv() const;                           // the history

 private:
  Evolution(const Task& task, const EvolveOptions& options, Trials trials, Breeder breeder)
      : task_(&task), options_(options), runner_(std::move(trials)), breeder_(std::move(breeder)) {}
  void note(const std::vector<Individual>& tried);
  void forget_the_dead();

  const Task* task_;
  EvolveOptions options_;
  Trials runner_;
  Breeder breeder_;
  std::unique_ptr<Algorithm> algorithm_;
  int generations_ = 0, population_ = 0;
  std::int64_t next_number_ = 0, trials_ = 0;
  double simulated_ = 0;
  Individual best_;
  std::vector<Generation> history_;
  std::map<std::int64_t, Ancestor> ancestors_;
  std::map<std::string, int> failures_;
  model::Sources files_;  // that the experiment and the robot are made of
  bool other_build_ = false;
};

}  // namespace volvox::evolve
