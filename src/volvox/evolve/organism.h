// An organism as a file describes it: the experiment it lives in, its body and its mind, with every value decoded. This
// is the genome file (docs/formats.md) that `volvox run`, `view` and `picture` take; it needs no task.
// SI units. Plain values; only put_organism changes anything, and that is the world it is given.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "volvox/base/random.h"
#include "volvox/evolve/document.h"
#include "volvox/model/reader.h"
#include "volvox/sim/experiment.h"

namespace volvox::evolve {

// A module of a tree: it hangs on an earlier one.
struct Part {
  int on = -1;           // the module that it is docked to, by number; -1: the first module
  std::string dock, by;  // that module's dock, and its own
  int turn = 0;
  friend bool operator==(const Part&, const Part&) = default;
};
using Tree = std::vector<Part>;

// Where it stands at the start. The lowest point of the organism is `z` above the ground z = 0.
struct Start {
  double x = 0, y = 0, z = 0.001;  // m
  bool by_front = false;           // x is that of its foremost point; else of the middle of its bounds
};

// What differs from trial to trial. Trial k runs with the seed k.
struct Condition {
  double friction = 1;  // times that of everything that is not a module
  double noise = 0;     // rad (or m): the deviation of commands to motors and of measured joint positions
  std::map<std::string, std::string> settings;  // of the experiment
};

struct Organism {
  std::string task;        // that it was bred for, for people
  std::string experiment;  // by name, or a world file
  std::string engine, dt;  // empty: the experiment's own
  std::optional<double> duration;
  std::map<std::string, std::string> settings;
  std::string robot;  // empty: the modules of the experiment itself
  Tree tree;
  bool loops = false;  // docks that meet are engaged
  Start start;
  std::string behavior;  // empty: that of each module, with other parameters
  std::map<std::string, std::string> parameters;
  std::vector<std::map<std::string, std::string>> each;  // by module, on top of `parameters`
  std::vector<Condition> trials{Condition{}};
  Json origin = Json::object();  // number, generation, parents, fitness: not read back
};

Json to_json(const Organism& organism);
Result<Organism> read_organism(const std::filesystem::path& file);

// Two modules of a tree that overlap where they stand, the later one second.
struct Clash {
  int a = 0, b = 0;
  double depth = 0;  // m
};
// All clashes deeper than 1 mm, with all joints at zero; the deepest first. The docks and turns must exist.
Result<std::vector<Clash>> clashes(const Tree& tree, const std::string& robot, model::ModelLibrary& library);

// Puts the organism into the world of its experiment: in place of the modules that are there, or, if it has no body of
// its own, as their minds.
Result<void> put_organism(const Organism& organism, const Condition& condition, model::WorldModel& world,
                          model::ModelLibrary& library);

// What a world file gives, read once for all runs that share this: it depends on the settings alone. (An experiment
// with a class of its own makes its world anew in every run: it may depend on the seed, and the class keeps what it
// made.)
struct WorldFiles {
  std::optional<std::vector<model::ParameterDesc>> parameters;
  std::map<std::map<std::string, std::string>, model::WorldModel> worlds;  // by settings
};

// The experiment of an organism with the organism in it. Its parameters are those of the experiment, and `trial`: the
// number of the condition.
std::unique_ptr<sim::Experiment> organism_experiment(std::shared_ptr<const Organism> organism,
                                                     const sim::Located& located, const sim::Library& library,
                                                     std::shared_ptr<WorldFiles> read = nullptr);
// Whether an experiment is such a file, by whatever name it was found.
bool is_genome(const sim::Located& located, const sim::Library& library);
// For Library::experiment_files[".json"].
std::unique_ptr<sim::Experiment> organism_file(const std::filesystem::path& file, const sim::Library& library);

}  // namespace volvox::evolve
