// What evolution changes: a tree of modules and numbers from 0 to 1, which a task (task.h) turns into an organism.
// Plain values: the same calls with the same random stream give the same genome on every machine.
#pragma once

#include <vector>

#include "volvox/evolve/organism.h"

namespace volvox::evolve {

struct Genome {
  Tree tree;                               // empty: the body is the experiment's own
  std::vector<double> genes;               // of what all modules share, and of settings
  std::vector<std::vector<double>> parts;  // by module: of what each module has for itself

  std::size_t modules() const { return parts.size(); }
  friend bool operator==(const Genome&, const Genome&) = default;
};

Json to_json(const Genome& genome);
Result<Genome> genome_from(const Json& json);  // as to_json made it

// All numbers in one row: `genes`, then those of each module.
std::vector<double> flat(const Genome& genome);
// The same genome with other numbers, cut off at 0 and 1.
Genome with_flat(Genome genome, const std::vector<double>& numbers);

// Two trees are of one shape if their docks and turns are the same.
std::uint64_t shape_hash(const Genome& genome);

}  // namespace volvox::evolve
