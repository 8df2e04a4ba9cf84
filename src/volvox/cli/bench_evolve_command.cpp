// `volvox bench evolve`: trials a second in one process, side by side, against the same trials as processes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/child_program.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/platform/file_sync.h"
#include "volvox/base/platform/paths.h"
#include "volvox/base/text.h"
#include "volvox/cli/counts.h"
#include "volvox/cli/evolve.h"
#include "volvox/cli/terminal.h"
#include "volvox/evolve/evolution.h"

namespace volvox::cli {
namespace fs = std::filesystem;
namespace {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Measured {
  double seconds = 0, prepare = 0, engine = 0;  // engine: time in the move phase
  double cpu = 0;                               // s, of all threads
  std::size_t trials = 0;                       // that could be prepared
  std::uint64_t hash = 0;
  sim::Population::OnDevice on_device;
};

using Gpu = std::shared_ptr<const physics::cuda::Device>;

Measured in_population(evolve::Trials& trials, const evolve::Task& task, const std::vector<evolve::Genome>& genomes,
                       int threads, const Gpu& gpu) {
  Measured measured;
  const double begin = platform::monotonic_seconds(), cpu = platform::process_cpu_seconds();
  std::vector<std::shared_ptr<sim::Run>> runs;
  for (const evolve::Genome& genome : genomes)
    if (auto run = trials.prepare(evolve::decode(task, genome), 0); run.ok()) runs.push_back(std::move(*run));
  measured.prepare = platform::monotonic_seconds() - begin;
  measured.trials = runs.size();
  sim::Population population(runs, threads, gpu);
  if (!runs.empty()) (void)population.step(runs.front()->ticks());
  Hasher hasher;
  for (const auto& run : runs) {
    run->end();
    hasher.add(run->report().state_hash);
    measured.engine += run->report().phases.of(sim::Phase::move);
  }
  measured.seconds = platform::monotonic_seconds() - begin;
  measured.cpu = platform::process_cpu_seconds() - cpu;
  measured.hash = hasher.value();
  measured.on_device = population.on_device();
  return measured;
}

// The largest gap of a dock in a trial, m, and the substep of its engine, s: what the time was spent on.
std::pair<double, double> dock_error_of(evolve::Trials& trials, const evolve::Task& task,
                                        const evolve::Genome& genome) {
  auto run = trials.prepare(evolve::decode(task, genome), 0);
  if (!run.ok()) return {};
  double largest = 0;
  (*run)->add_onlooker([&](const sim::Simulation& simulation) {
    largest = std::max(largest, simulation.world().largest_dock_error().distance);
  });
  (*run)->finish();
  const sim::Simulation& simulation = (*run)->simulation();
  const double dt = simulation.settings().dt.seconds();
  return {largest, dt / std::ceil(dt / simulation.world().model().run.max_substep - 1e-9)};
}

// Trials a second, by the clock and by processor time. The second is what a machine that others use still tells.
struct Rate {
  double wall = 0, cpu = 0;
};

// The same trials, each as `volvox run GENOME`, `at_once` of them at a time: how many were made a second. One that
// fails is soon over, and would make processes look fast.
Result<Rate> rate_of_processes(const std::vector<fs::path>& files, std::size_t at_once, const fs::path& folder,
                               const std::string& precision) {
  const double begin = platform::monotonic_seconds(), cpu = platform::ended_children_cpu_seconds();
  std::size_t made = 0;
  std::string why = "none could be started";
  for (std::size_t first = 0; first < files.size(); first += at_once) {
    std::vector<std::unique_ptr<platform::ChildProgram>> running;
    for (std::size_t i = first; i < std::min(files.size(), first + at_once); ++i) {
      std::vector<std::string> command = {platform::executable().string(),
                                          "run",
                                          files[i].string(),
                                          "--quiet",
                                          "--out",
                                          (folder / fmt::format("run_{}", i)).string()};
      if (!precision.empty()) command.insert(command.end(), {"--precision", precision});
      auto child = platform::ChildProgram::start(command);
      if (child.ok()) running.push_back(std::move(*child));
    }
    for (auto& child : running)
      if (child->finish() == 0) ++made;
      else why = child->error_output();
  }
  if (made == 0)
    return Error(fmt::format("no trial as a process of its own succeeded: {}", why), "see why with: volvox run");
  return Rate{real(made) / (platform::monotonic_seconds() - begin),
              real(made) / (platform::ended_children_cpu_seconds() - cpu)};
}

// Genomes made at random, each also as a file, in a folder that goes with this object.
struct GenomeFiles {
  std::vector<evolve::Genome> genomes;
  std::vector<fs::path> files;
  fs::path folder;

  GenomeFiles() = default;
  GenomeFiles(const GenomeFiles&) = delete;
  GenomeFiles& operator=(const GenomeFiles&) = delete;
  ~GenomeFiles() {
    std::error_code error;
    if (!folder.empty()) fs::remove_all(folder, error);
  }

  static Result<std::unique_ptr<GenomeFiles>> create(const evolve::Task& task, evolve::Breeder& breeder,
                                                     const BenchEvolveArguments& arguments) {
    auto made = std::make_unique<GenomeFiles>();
    const fs::path folder =
        fs::temp_directory_path() / fmt::format("volvox_bench_evolve_{}", platform::process_number());
    // What another user may have put there is not used.
    if (std::error_code error; !fs::create_directory(folder, error))
      return Error(fmt::format("the folder {} cannot be made", folder.string()), "remove it, or set TMPDIR");
    made->folder = folder;
    RandomStream random(arguments.seed, 0, "bench");
    for (int i = 0; i < arguments.trials; ++i) {
      made->genomes.push_back(breeder.random(random));
      made->files.push_back(folder / fmt::format("{}.json", i));
      const evolve::Organism organism = evolve::decode(task, made->genomes.back());
      if (auto written = write_file(made->files.back(), to_json_text(evolve::to_json(organism))); !written.ok())
        return written.error();
    }
    return made;
  }
};

// Medians of the repeats.
struct Row {
  int threads = 0;
  double rate = 0, as_processes = 0, cpu_rate = 0, cpu_as_processes = 0;  // trials a second
  double beside_engine = 0, prepare = 0;                                  // shares of the time
  std::uint64_t hash = 0;
  sim::Population::OnDevice on_device;  // of the last
};

Result<Row> measure(int threads, const BenchEvolveArguments& arguments, evolve::Trials& trials,
                    const evolve::Task& task, const GenomeFiles& tried, const Gpu& gpu) {
  std::vector<double> here, processes, cpu_here, cpu_processes, beside, prepare;
  Row row;
  for (int r = 0; r < arguments.repeats; ++r) {
    const Measured measured = in_population(trials, task, tried.genomes, threads, gpu);
    row.hash = measured.hash, row.on_device = measured.on_device;
    here.push_back(real(measured.trials) / measured.seconds);
    prepare.push_back(measured.prepare / measured.seconds);
    cpu_here.push_back(real(measured.trials) / measured.cpu);
    beside.push_back(measured.seconds * real(threads) / measured.engine - 1);
    const auto rate = rate_of_processes(tried.files, narrow<std::size_t>(threads), tried.folder, arguments.precision);
    if (!rate.ok()) return rate.error();
    processes.push_back(rate->wall), cpu_processes.push_back(rate->cpu);
  }
  row.threads = threads;
  row.rate = median(here), row.as_processes = median(processes);
  row.cpu_rate = median(cpu_here), row.cpu_as_processes = median(cpu_processes);
  row.beside_engine = median(beside), row.prepare = median(prepare);
  return row;
}

void print_json(const std::vector<Row>& rows, const BenchEvolveArguments& arguments, const evolve::Task& task,
                std::size_t modules, double dock_error, double substep) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const Row& row : rows)
    results.push_back({{"threads", row.threads},
                       {"trials_per_s", row.rate},
                       {"trials_per_s_as_processes", row.as_processes},
                       {"ratio", row.rate / row.as_processes},
                       {"trials_per_cpu_s", row.cpu_rate},
                       {"trials_per_cpu_s_as_processes", row.cpu_as_processes},
                       {"cpu_ratio", row.cpu_rate / row.cpu_as_processes},
                       {"overhead_beside_engine", row.beside_engine},
                       {"prepare_share", row.prepare},
                       {"ticks_on_gpu", row.on_device.ticks},
                       {"ticks_not_on_gpu", row.on_device.left},
                       {"hash", hash_text(row.hash)}});
  fmt::print("{}\n", to_json_text(nlohmann::ordered_json{{"task", task.name},
                                                         {"modules", modules},
                                                         {"trial_s", task.duration},
                                                         {"trials", arguments.trials},
                                                         {"repeats", arguments.repeats},
                                                         {"substep_s", substep},
                                                         {"dock_error_max_mm", dock_error * 1e3},
                                                         {"results", results}},
                                  2));
}

void print(const std::vector<Row>& rows, const BenchEvolveArguments& arguments, const evolve::Task& task,
           std::size_t modules, double dock_error, double substep) {
  if (arguments.json) return print_json(rows, arguments, task, modules, dock_error, substep);
  report::Rows table = {
      {"threads", "trials/s", "as processes", "ratio", "by processor time", "beside the engine", "prepare", "hash"}};
  for (const Row& row : rows)
    table.push_back({fmt::format("{}", row.threads), number(row.rate), number(row.as_processes),
                     number(row.rate / row.as_processes, 3), number(row.cpu_rate / row.cpu_as_processes, 3),
                     fmt::format("{:.1f} %", 100 * row.beside_engine), fmt::format("{:.1f} %", 100 * row.prepare),
                     hash_text(row.hash)});
  fmt::print("{} trials of {} s with {} modules ({}), substeps of {:.3g} ms, docks open by up to {:.3g} mm\n{}",
             arguments.trials, task.duration, modules, printable(task.name), substep * 1e3, dock_error * 1e3,
             report::text_table(table));
}

}  // namespace

int bench_evolve_command(const BenchEvolveArguments& arguments, sim::Library& library, Log& log) {
  if (auto known = check_trial_device(arguments.device, "bench evolve"); !known.ok()) return complain(known.error());
  auto task = evolve::read_task(arguments.task);
  if (!task.ok()) return complain(task.error());
  if (!arguments.precision.empty()) {
    const auto precision = physics::parse_precision(arguments.precision);
    if (!precision.ok()) return complain(precision.error());
    task->precision = *precision;
  }
  Gpu gpu;
  if (arguments.device != "cpu") {
    auto found = physics::cuda::Device::find();
    if (found.ok()) gpu = *found;
    else if (arguments.device == "cuda") log.warning(found.error().text());  // and the processor goes on
  }
  auto trials = evolve::Trials::create(*task, library, {});
  if (!trials.ok()) return complain(trials.error());
  auto breeder = evolve::Breeder::create(*task, trials->models(), trials->modules_of_experiment());
  if (!breeder.ok()) return complain(breeder.error());
  const auto threads = parse_counts<int>("--threads", arguments.threads, 1024);
  if (!threads.ok()) return complain(threads.error());
  const auto tried = GenomeFiles::create(*task, *breeder, arguments);
  if (!tried.ok()) return complain(tried.error());

  std::vector<Row> rows;
  for (const int count : *threads) {
    auto row = measure(count, arguments, *trials, *task, **tried, gpu);
    if (!row.ok()) return complain(row.error()), run_failed;
    rows.push_back(std::move(*row));
  }
  const auto [dock_error, substep] = dock_error_of(*trials, *task, (*tried)->genomes.front());
  print(rows, arguments, *task, (*tried)->genomes.front().modules(), dock_error, substep);
  return done;
}

}  // namespace volvox::cli
