// Makes genomes: at random, by mutation, of two parents. Every genome that leaves it is valid: within the limits of the
// task, docks that exist, fit and are free, and no two modules that overlap by more than 1 mm at the start.
//
// The rule for overlap: a module that overlaps an earlier one is cut off, with all that hangs on it (repair). A body
// that is then too small grows again at random places; if that fails twenty times, the change is refused and the
// parent's body stays. Both are counted.
//
// For one thread. The same random stream gives the same genomes on every machine.
#pragma once

#include "volvox/base/random.h"
#include "volvox/evolve/task.h"

namespace volvox::evolve {

class Breeder {
 public:
  // Reads the robot and checks docks and turns of the task, a given body, and whether there are bodies within the
  // limits. `modules`: of the experiment, if the body is its own.
  static Result<Breeder> create(const Task& task, std::shared_ptr<model::ModelLibrary> library, std::size_t modules);

  Genome random(RandomStream& random);
  Genome mutated(const Genome& parent, RandomStream& random);
  Genome crossed(const Genome& a, const Genome& b, RandomStream& random);

  // Cuts off what is not valid; false: what is left is too small, too large or too heavy.
  bool repair(Genome& genome);

  // Whether it is as all that leave here are: a genome from a file may not be.
  bool is_valid(const Genome& genome) const;

  struct Counts {
    std::int64_t repaired = 0, refused = 0;
  };
  const Counts& counts() const { return counts_; }
  void set_counts(const Counts& counts) { counts_ = counts; }
  const Task& task() const { return *task_; }

 private:
  Breeder(const Task& task, std::shared_ptr<model::ModelLibrary> library)
      : task_(&task), library_(std::move(library)) {}
  std::vector<double> random_genes(std::size_t count, RandomStream& random) const;
  Result<void> find_smallest();
  bool within_limits(const Genome& genome) const;
  bool grow(Genome& genome, RandomStream& random);
  bool grow_to_least(Genome& genome, RandomStream& random);
  void change_body(Genome& genome, RandomStream& random);
  void change_genes(std::vector<double>& genes, RandomStream& random) const;
  bool graft(Genome& genome, int on, const std::string& dock, const Genome& donor, int root) const;
  std::vector<std::string> free_docks(const Genome& genome, int part) const;

  const Task* task_;
  std::shared_ptr<model::ModelLibrary> library_;
  model::Model model_;              // null: the body is the experiment's own
  std::vector<std::string> docks_;  // that may be used
  std::size_t modules_ = 0;         // of the experiment
  Tree smallest_;                   // a body of the least size
  Counts counts_;
};

}  // namespace volvox::evolve
