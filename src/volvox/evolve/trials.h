// Runs the trials of genomes: many worlds side by side in one process (sim::Population), which share models, or in
// several processes. A trial has the same hash alone, in a population, at any number of threads and of processes.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "volvox/cluster/crew.h"
#include "volvox/evolve/task.h"
#include "volvox/sim/population.h"

namespace volvox::evolve {

struct Outcome {
  // One for each objective of the task, weighted: more is better. NaN: the genome is unfit, `failure` says why.
  std::vector<double> objectives;
  std::vector<double> features;  // of the task's map
  std::string failure;
  std::uint64_t hash = 0;  // of the states in which its trials ended
  int early = 0;           // trials that were stopped early
  double simulated = 0;    // s

  double fitness() const;  // the sum of the objectives
};
Json to_json(const Outcome& outcome);
Result<Outcome> outcome_from(const Json& json);
// Whether it has as many objectives and features as the task: what comes from a file or another process may not.
bool belongs_to(const Outcome& outcome, const Task& task);

struct TrialOptions {
  int threads = 1;
  int jobs = 1;                     // processes; each has `threads` threads
  int at_once = 64;                 // worlds side by side in a process
  std::string device = "cpu";       // cuda: a GPU moves what worlds it can; auto: where there is one, and many worlds
  cluster::Ranks* ranks = nullptr;  // of a cluster, who have `jobs` processes each
  // Outcomes of the generation under way, for --resume: what was done need not be done again. Empty: none is kept.
  std::filesystem::path journal{};
  // Called now and then while trials run in several processes.
  std::function<void(std::size_t done, std::size_t all, cluster::Crew&)> progress{};
};

class Trials {
 public:
  // Finds the experiment, and runs one tick of it with this genome, to see whether all that the task names is there:
  // behaviours, parameters, metrics. Task and library must outlive it.
  static Result<Trials> create(const Task& task, const sim::Library& library, const TrialOptions& options);
  Result<void> check(const Genome& genome);

  // The modules of the experiment, for tasks without bodies of their own.
  std::size_t modules_of_experiment() const { return modules_; }
  const std::shared_ptr<model::ModelLibrary>& models() const { return models_; }

  // An outcome for each genome. `stop` ends it between slices of trials; the result is then empty, and also if no
  // process can be started, which error() then says.
  std::vector<Outcome> run(std::span<const Genome> genomes, const std::atomic<bool>* stop = nullptr);
  const Error& error() const { return error_; }
  // What a GPU did of the ticks of all trials so far, and why not the others; in words, whether there is none.
  const sim::Population::OnDevice& on_device() const { return on_device_; }
  // What outcomes depend on beside the genome: ranks and journals of anything else are not believed.
  void identify(const std::string& identity) { identity_ = identity; }
  // The ranks beside rank 0: runs what rank 0 orders, until it is over (true) or `stop` (false).
  Result<bool> serve(const std::atomic<bool>& stop);
  void dismiss() { crew_.reset(); }  // ends processes
  // How many pieces of work each rank has done.
  std::vector<std::int64_t> done_by_rank() const { return crew_ ? crew_->done_by_rank() : std::vector<std::int64_t>{}; }
  // A single trial as a run of its own, from 0.
  Result<std::unique_ptr<sim::Run>> prepare(const Organism& organism, std::size_t trial);

 private:
  Trials(const Task& task, const sim::Library& library, const TrialOptions& options)
      : task_(&task), library_(&library), options_(options) {}
  struct One;
  std::vector<Outcome> run_here(std::span<const Genome> genomes, const std::atomic<bool>* stop);
  std::vector<Outcome> run_in_processes(std::span<const Genome> genomes, const std::atomic<bool>* stop);
  std::string work(const std::string& order);
  std::vector<bool> read_journal(std::span<const Genome> genomes, std::vector<Outcome>& outcomes) const;
  void note_in_journal(const Genome& genome, const Outcome& outcome) const;
  std::string key_of(const Genome& genome) const;
  void run_batch(std::vector<One>& batch, const std::atomic<bool>* stop);
  std::shared_ptr<const physics::cuda::Device> device_for(std::size_t worlds);
  Outcome outcome_of(std::span<const One> trials, std::size_t modules) const;

  const Task* task_;
  const sim::Library* library_;
  TrialOptions options_;
  std::shared_ptr<Log> silent_;  // the log of all trials: thousands of them would warn of the same
  sim::Located located_;
  std::shared_ptr<model::ModelLibrary> models_;
  std::shared_ptr<WorldFiles> world_files_;
  std::size_t modules_ = 0;
  Error error_;
  std::string identity_ = "-";
  bool looked_for_device_ = false;  // not before the first trials: processes that are forked must not inherit it
  std::shared_ptr<const physics::cuda::Device> device_;
  sim::Population::OnDevice on_device_;
  std::unique_ptr<cluster::Crew> crew_;  // while this object stays where it is
};

}  // namespace volvox::evolve
