// A task of `volvox evolve`: an experiment, what counts as fit, and the space of bodies and minds (docs/formats.md).
// Read once and immutable, so that any thread may read it; SI units.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "volvox/evolve/genome.h"

namespace volvox::evolve {

// A parameter that evolves, and the genes that it takes.
struct Space {
  std::string name;
  double from = 0, to = 1;
  bool whole = false;
  std::vector<std::string> choices{};  // instead of from and to
  int count = 1;                       // more than 1: a list of numbers, "0.1 -0.3 ..."

  std::string value(std::span<const double> genes) const;  // `count` genes
};

struct Objective {
  std::string metric;
  double weight = 1;  // negative: less is better
};

// One side of the map of MAP-Elites.
struct Axis {
  std::string feature;  // a metric, or "modules"
  double from = 0, to = 1;
  int cells = 10;
};

struct EarlyStop {
  double after = 0;                  // s; 0: trials are not stopped early
  double moved_less_than = 0;        // m, horizontally, of the centre of mass, at that time
  std::optional<double> fell_below;  // m: height of the centre of mass, at any time
};

enum class Over { median, worst, mean };  // how the trials of a genome become its fitness

struct AlgorithmSettings {
  std::string name = "ga";
  int population = 32, generations = 20;
  double step = 0.15;      // standard deviation of a mutation, of a gene's range
  double rate = 0.25;      // share of the genes that a mutation changes
  double crossover = 0.5;  // share of children of two parents
  double body = 0.5;       // share of mutations that change the body
  int patience = 0;        // of ga: generations without progress after which it begins anew; 0: it never does
  int islands = 1;         // populations that breed apart; `population` is that of all
  int migrate_every = 5;   // generations
  int migrants = 1;        // that go from each island to the next
};

struct Task {
  std::string name, file, about;
  std::string experiment;  // by name, or the path of a world file
  std::string engine, dt;
  std::optional<physics::Precision> precision;  // none: as the engine likes
  double duration = 10;                         // s, of a trial
  std::map<std::string, std::string> settings;

  std::string robot;               // empty: the modules of the experiment
  Tree given;                      // not empty: this body, and no other
  int least = 1, most = 1;         // modules
  double largest_mass = 1e9;       // kg
  std::vector<std::string> docks;  // that may be used; empty: all
  std::vector<int> turns;          // likewise
  bool loops = false;
  Start start;

  std::string behavior;
  std::map<std::string, std::string> fixed;  // parameters that do not evolve
  std::vector<Space> shared, each, varied;   // of all modules, of each module, settings of the experiment
  std::vector<Objective> objectives;
  std::vector<Axis> map;  // of MAP-Elites: two; else empty
  std::vector<Condition> trials{Condition{}};
  Over over = Over::median;
  EarlyStop stop;
  std::optional<double> bar;  // the fitness at which the task is solved
  bool stop_at_bar = true;
  AlgorithmSettings algorithm;

  bool evolves_body() const { return !robot.empty() && given.empty(); }
  std::size_t shared_genes() const;  // of `shared` and `varied`
  std::size_t each_genes() const;
  // Everything that trials and algorithm depend on but the seed and the number of generations.
  std::uint64_t identity = 0;
};

// A file, or the name of an experiment's folder with a task.json, such as evolution/gait.
Result<Task> read_task(const std::string& name_or_file);
Result<Task> task_from(const Document& document, const std::string& name);
std::vector<std::string> task_names();  // along the resource path

// The organism of a genome.
Organism decode(const Task& task, const Genome& genome);

}  // namespace volvox::evolve
