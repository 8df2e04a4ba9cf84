#include "volvox/evolve/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/text.h"
#include "volvox/world/measures.h"

namespace volvox::evolve {
namespace {

constexpr double slice = 0.25;         // s of simulated time between two looks at a trial
constexpr double runaway_speed = 100;  // m/s of the centre of mass: no robot here is a tenth as fast
// With a GPU: for each thread that would do without it, what it needs to be at work; and what a process has memory for.
constexpr std::size_t fewest_on_device = 256, most_on_device = 4096;
constexpr double unfit = std::numeric_limits<double>::quiet_NaN();

// What a failed trial counts as: worse than every number.
double at_worst(double value) { return std::isnan(value) ? -std::numeric_limits<double>::infinity() : value; }

double over_trials(std::vector<double> values, Over over) {
  for (double& value : values) value = at_worst(value);
  std::ranges::sort(values);
  double result = values.front();
  if (over == Over::median) result = values[(values.size() - 1) / 2];  // of an even number the worse of the two
  if (over == Over::mean) {
    result = 0;
    for (const double value : values) result += value / real(values.size());
  }
  return std::isfinite(result) ? result : unfit;
}

}  // namespace

// One trial under way.
struct Trials::One {
  std::size_t genome = 0, trial = 0;
  std::shared_ptr<sim::Run> run;
  StepStatus status;
  Vec3 start, last;
  bool early = false, over = false;
  bool judged = false;  // whether it moved enough, once
  std::vector<double> objectives, features;
  std::string failure;
  std::uint64_t hash = 0;
  double simulated = 0;
};

double Outcome::fitness() const {
  double sum = 0;
  for (const double objective : objectives) sum += objective;
  return objectives.empty() ? unfit : sum;
}

Json to_json(const Outcome& outcome) {
  return {{"objectives", outcome.objectives}, {"features", outcome.features}, {"failure", outcome.failure},
          {"hash", hash_text(outcome.hash)},  {"early", outcome.early},       {"simulated", outcome.simulated}};
}

Result<Outcome> outcome_from(const Json& json) {
  Outcome outcome;
  try {
    const auto numbers = [](const Json& list) {
      std::vector<double> values;
      for (const Json& one : list) values.push_back(one.is_null() ? unfit : one.get<double>());
      return values;
    };
    outcome.objectives = numbers(json.at("objectives"));
    outcome.features = numbers(json.at("features"));
    outcome.failure = json.at("failure").get<std::string>();
    outcome.hash = std::stoull(json.at("hash").get<std::string>(), nullptr, 16);
    outcome.early = json.at("early").get<int>();
    outcome.simulated = json.at("simulated").get<double>();
  } catch (const std::exception&) {
    return Error("an outcome of the state is damaged", "use another state");
  }
  return outcome;
}

bool belongs_to(const Outcome& outcome, const Task& task) {
  return outcome.objectives.size() == task.objectives.size() && outcome.features.size() == task.map.size();
}

Result<Trials> Trials::create(const Task& task, const sim::Library& library, const TrialOptions& options) {
  Trials trials(task, library, options);
  auto located = sim::locate_experiment(task.experiment, library);
  if (!located.ok()) {
    Error error;
    for (Diagnostic one : located.error().diagnostics()) {
      if (one.file.empty()) one.file = task.file;
      error.add(std::move(one));
    }
    return error;
  }
  if (is_genome(*located, library))
    return Diagnostic{task.file, 0, fmt::format("the experiment of this task, '{}', is a genome", task.experiment),
                      "name the experiment or the world that it was bred for"};
  trials.located_ = *located;
  trials.models_ = std::make_shared<model::ModelLibrary>();
  trials.world_files_ = std::make_shared<WorldFiles>();
  trials.silent_ = std::make_shared<Log>([](LogLevel, std::string_view) {}, LogLevel::error);
  if (!task.robot.empty()) return trials;
  // The modules of the experiment are those that its world has at the start.
  Organism plain = decode(task, {{}, std::vector<double>(task.shared_genes(), 0.5), {}});
  plain.behavior.clear(), plain.parameters.clear();
  auto run = trials.prepare(plain, 0);
  if (!run.ok()) return run.error();
  trials.modules_ = (*run)->report().modules;
  if (trials.modules_ == 0)
    return Diagnostic{task.file, 0, fmt::format("'{}' has no modules", task.experiment),
                      "give the task a \"body\", or another experiment"};
  return trials;
}

Result<std::unique_ptr<sim::Run>> Trials::prepare(const Organism& organism, std::size_t trial) {
  sim::RunOptions options;
  options.experiment = located_.name;
  options.seed = trial + 1;
  options.settings = {{"trial", fmt::format("{}", trial + 1)}};
  options.models = models_;
  options.precision = task_->precision;
  const auto shared = std::make_shared<const Organism>(organism);
  options.make = [this, shared] { return organism_experiment(shared, located_, *library_, world_files_); };
  return sim::Run::prepare(options, *library_, *silent_);
}

// A mistake of the task shows in the first tick of any genome.
Result<void> Trials::check(const Genome& genome) {
  auto run = prepare(decode(*task_, genome), 0);
  const auto in_task = [&](const Error& found) {
    Error error;
    for (Diagnostic one : found.diagnostics()) {
      if (one.file.empty()) one.file = task_->file;
      error.add(std::move(one));
    }
    return error;
  };
  if (!run.ok()) return in_task(run.error());
  // Settings that differ from trial to trial may be out of range in any of them.
  for (std::size_t trial = 1; trial < task_->trials.size(); ++trial) {
    if (task_->trials[trial].settings.empty()) continue;
    if (auto other = prepare(decode(*task_, genome), trial); !other.ok()) return in_task(other.error());
  }
  if ((*run)->ticks() < 1)
    return Diagnostic{task_->file, 0, "a trial has no tick", "give a longer \"duration\" or a shorter \"dt\""};
  if (const StepStatus status = (*run)->step(); !status.ok())
    return Diagnostic{task_->file, 0, "the first tick of a trial failed: " + status.text(), "correct the task"};
  (*run)->end();
  std::vector<std::string> wanted, known;
  for (const Objective& objective : task_->objectives) wanted.push_back(objective.metric);
  for (const Axis& axis : task_->map)
    if (axis.feature != "modules") wanted.push_back(axis.feature);
  for (const sim::Metric& metric : (*run)->report().metrics.all()) known.push_back(metric.name);
  Error error;
  for (const std::string& metric : wanted) {
    if (std::ranges::find(known, metric) != known.end()) continue;
    const std::string nearest = nearest_name(metric, known);
    error.add({task_->file, 0, fmt::format("'{}' has no metric '{}'", task_->experiment, metric),
               nearest.empty() ? fmt::format("use some of: {}", fmt::join(known, ", "))
                               : fmt::format("did you mean '{}'? There are: {}", nearest, fmt::join(known, ", "))});
  }
  if (!error.empty()) return error;
  return {};
}

void Trials::run_batch(std::vector<One>& batch, const std::atomic<bool>* stop) {
  std::vector<std::shared_ptr<sim::Run>> runs;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!batch[i].run) continue;
    which.push_back(i);
    batch[i].start = batch[i].last = world::centre_of_mass(batch[i].run->simulation().world());
  }
  for (One& one : batch) runs.push_back(one.run);
  sim::Population population(runs, options_.threads, device_for(which.size()));
  std::vector<StepStatus> statuses;
  while (!which.empty() && !(stop != nullptr && stop->load())) {
    sim::Run& any = *batch[which.front()].run;
    const std::int64_t ticks_of_slice = std::max<std::int64_t>(1, std::llround(slice / any.report().dt.seconds()));
    // The ticks that are left are the same for all: trials of a task are equally long.
    const std::int64_t ticks = std::min(ticks_of_slice, any.ticks() - any.simulation().tick());
    statuses.assign(which.size(), {});
    population.step(ticks, which, statuses);
    for (std::size_t k = 0; k < which.size(); ++k) {
      One& one = batch[which[k]];
      one.status = std::move(statuses[k]);
      const sim::Simulation& simulation = one.run->simulation();
      const double now = simulation.now().seconds();
      const Vec3 centre = world::centre_of_mass(simulation.world());
      const bool away =
          !finite(centre) || length(centre - one.last) > runaway_speed * std::max(slice, any.report().dt.seconds());
      if (one.status.ok() && away) one.status.what = fmt::format("it ran away at {:.2f} s", now);
      one.last = centre;
      const EarlyStop& rule = task_->stop;
      const double moved = length(centre.x - one.start.x, centre.y - one.start.y);
      const bool judge = rule.after > 0 && now >= rule.after && !one.judged;
      one.judged |= judge;
      one.early = one.status.ok() && simulation.tick() < one.run->ticks() &&
                  ((judge && moved < rule.moved_less_than) || (rule.fell_below && centre.z < *rule.fell_below));
      one.over = !one.status.ok() || one.early || simulation.tick() >= one.run->ticks();
    }
    std::erase_if(which, [&](std::size_t i) { return batch[i].over; });
  }
  on_device_.add(population.on_device());
}

// Null: the processor.
std::shared_ptr<const physics::cuda::Device> Trials::device_for(std::size_t worlds) {
  const bool automatic = options_.device == "auto";
  if (options_.device == "cpu" || (automatic && worlds < fewest_on_device * narrow<std::size_t>(options_.threads)))
    return nullptr;
  if (automatic && task_->precision != physics::Precision::double_) return nullptr;  // it would refuse all of them
  if (!looked_for_device_) {
    auto found = physics::cuda::Device::find();
    if (found.ok()) device_ = *found;
    else if (!automatic) on_device_.failure = found.error().text();
    looked_for_device_ = true;
  }
  return device_;
}

std::vector<Outcome> Trials::run_here(std::span<const Genome> genomes, const std::atomic<bool>* stop) {
  const std::size_t per_genome = task_->trials.size(), count = genomes.size() * per_genome;
  std::vector<One> done(count);
  const std::size_t at_once = device_for(count) == nullptr ? narrow<std::size_t>(options_.at_once) : most_on_device;
  for (std::size_t first = 0; first < count;) {
    std::vector<One> batch;
    for (; first < count && batch.size() < at_once; ++first) {
      One& one = batch.emplace_back();
      one.genome = first / per_genome, one.trial = first % per_genome;
      auto run = prepare(decode(*task_, genomes[one.genome]), one.trial);
      if (run.ok()) one.run = std::move(*run);
      else one.failure = run.error().diagnostics().front().what;
    }
    run_batch(batch, stop);
    if (stop != nullptr && stop->load()) return {};
    for (One& one : batch) {
      const auto not_measured = [&](std::size_t n) { return std::vector<double>(n, unfit); };
      one.objectives = not_measured(task_->objectives.size()), one.features = not_measured(task_->map.size());
      if (one.run) {
        one.run->end();
        const sim::RunReport& report = one.run->report();
        one.hash = report.state_hash, one.simulated = report.sim_time;
        if (!one.status.ok()) one.failure = one.status.text();
        const auto measured = [&](const std::string& name) {
          if (name == "modules") return real(report.modules);
          const sim::Metric* metric = report.metrics.find(name);
          return metric == nullptr ? unfit : metric->value;
        };
        for (std::size_t i = 0; i < one.features.size(); ++i) one.features[i] = measured(task_->map[i].feature);
        for (std::size_t i = 0; i < one.objectives.size() && one.failure.empty(); ++i) {
          one.objectives[i] = task_->objectives[i].weight * measured(task_->objectives[i].metric);
          if (std::isnan(one.objectives[i]))
            one.failure = fmt::format("'{}' was not measured", task_->objectives[i].metric);
        }
        one.run.reset();
      }
      done[one.genome * per_genome + one.trial] = std::move(one);
    }
  }
  std::vector<Outcome> outcomes;
  for (std::size_t g = 0; g < genomes.size(); ++g)
    outcomes.push_back(outcome_of(std::span(done).subspan(g * per_genome, per_genome), genomes[g].modules()));
  return outcomes;
}

Outcome Trials::outcome_of(std::span<const One> trials, std::size_t) const {
  Outcome outcome;
  Hasher hasher;
  const auto gathered = [&](std::vector<double> One::*values, std::size_t i) {
    std::vector<double> all;
    for (const One& one : trials) all.push_back((one.*values)[i]);
    return over_trials(std::move(all), task_->over);
  };
  for (std::size_t i = 0; i < task_->objectives.size(); ++i)
    outcome.objectives.push_back(gathered(&One::objectives, i));
  for (std::size_t i = 0; i < task_->map.size(); ++i) outcome.features.push_back(gathered(&One::features, i));
  for (const One& one : trials) {
    hasher.add(one.hash);
    outcome.early += one.early;
    outcome.simulated += one.simulated;
    if (outcome.failure.empty() && !one.failure.empty())
      outcome.failure = fmt::format("trial {}: {}", one.trial + 1, one.failure);
  }
  outcome.hash = hasher.value();
  return outcome;
}

namespace {

std::string outcomes_text(const std::vector<Outcome>& outcomes, const sim::Population::OnDevice& on_device) {
  Json list = Json::array();
  for (const Outcome& outcome : outcomes) list.push_back(to_json(outcome));
  return to_json_text(
      Json{{"outcomes", list},
           {"device", {{"ticks", on_device.ticks}, {"left", on_device.left}, {"failure", on_device.failure}}}});
}

// Empty: these are no outcomes of the task.
std::vector<Outcome> outcomes_of_text(const std::string& text, const Task& task, sim::Population::OnDevice& on_device) {
  std::vector<Outcome> outcomes;
  const Json all = Json::parse(text, nullptr, false);
  if (!all.is_object() || !all.contains("outcomes") || !all["outcomes"].is_array()) return {};
  for (const Json& one : all["outcomes"]) {
    auto outcome = outcome_from(one);
    if (!outcome.ok() || !belongs_to(*outcome, task)) return {};
    outcomes.push_back(std::move(*outcome));
  }
  try {
    const Json& device = all.at("device");
    on_device.add({device.at("ticks").get<std::int64_t>(), device.at("left").get<std::map<std::string, std::int64_t>>(),
                   device.at("failure").get<std::string>()});
  } catch (const Json::exception&) {
    return {};
  }
  return outcomes;
}

struct Share {
  std::size_t first = 0, count = 0;  // of the genomes that are to be tried
  bool again = false;                // its process has ended once already
};

std::string order_of(std::span<const Genome> genomes, std::span<const std::size_t> which) {
  Json list = Json::array();
  for (const std::size_t i : which) list.push_back(to_json(genomes[i]));
  return to_json_text(list);
}

}  // namespace

// What a process makes of an order: genomes in, outcomes out.
std::string Trials::work(const std::string& order) {
  std::vector<Genome> genomes;
  for (const Json& one : Json::parse(order)) {
    auto genome = genome_from(one);
    if (!genome.ok()) throw std::runtime_error(genome.error().text());
    genomes.push_back(std::move(*genome));
  }
  on_device_ = {};
  const std::vector<Outcome> outcomes = run_here(genomes, nullptr);
  return outcomes_text(outcomes, on_device_);
}

Result<bool> Trials::serve(const std::atomic<bool>& stop) {
  return cluster::serve(
      *options_.ranks, [this](const std::string& order) { return work(order); }, options_.jobs, identity_, stop);
}

std::string Trials::key_of(const Genome& genome) const {
  return hash_text(hash_of(identity_ + to_json_text(to_json(genome))));
}

// A line for each outcome. The last one may be cut off.
void Trials::note_in_journal(const Genome& genome, const Outcome& outcome) const {
  if (options_.journal.empty()) return;
  std::ofstream file(options_.journal, std::ios::app);
  file << to_json_text(Json{{"genome", key_of(genome)}, {"outcome", to_json(outcome)}}) << std::endl;
}

std::vector<bool> Trials::read_journal(std::span<const Genome> genomes, std::vector<Outcome>& outcomes) const {
  std::vector<bool> known(genomes.size());
  std::map<std::string, Outcome> noted;
  std::error_code error;
  if (options_.journal.empty() || !std::filesystem::exists(options_.journal, error)) return known;
  // A pipe would wait for somebody to read it.
  if (!std::filesystem::is_regular_file(options_.journal, error)) std::filesystem::remove(options_.journal, error);
  const auto journal = read_file(options_.journal);
  std::istringstream lines(journal.ok() ? *journal : std::string());
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("outcome") || !json.value("genome", Json()).is_string()) continue;
    if (auto outcome = outcome_from(json["outcome"]); outcome.ok() && belongs_to(*outcome, *task_))
      noted[json["genome"]] = std::move(*outcome);
  }
  for (std::size_t i = 0; i < genomes.size() && !noted.empty(); ++i) {
    const auto found = noted.find(key_of(genomes[i]));
    if (found == noted.end()) continue;
    outcomes[i] = found->second, known[i] = true;
  }
  return known;
}

// A share of the genomes for each process. One that ends without its outcomes is cut into single genomes, so that only
// the one that is to blame is lost. A share whose rank went away is given to another one.
std::vector<Outcome> Trials::run_in_processes(std::span<const Genome> genomes, const std::atomic<bool>* stop) {
  std::vector<Outcome> outcomes(genomes.size());
  const std::vector<bool> known = read_journal(genomes, outcomes);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < genomes.size(); ++i)
    if (!known[i]) open.push_back(i);
  if (!crew_)
    crew_ = std::make_unique<cluster::Crew>([this](const std::string& order) { return work(order); }, options_.jobs,
                                            options_.ranks, identity_);
  std::deque<Share> waiting;
  std::vector<Share> given;  // by number of the piece
  const std::size_t share = std::max<std::size_t>(1, open.size() / (crew_->places() * 8));
  for (std::size_t first = 0; first < open.size(); first += share)
    waiting.push_back({first, std::min(share, open.size() - first)});
  std::size_t done = genomes.size() - open.size();
  const auto note_end = [&](std::size_t at, Outcome outcome) {
    note_in_journal(genomes[open[at]], outcome);
    outcomes[open[at]] = std::move(outcome);
    ++done;
  };
  const auto failed = [&](const Share& of, const std::string& why) {
    if (of.count > 1) {
      for (std::size_t i = 0; i < of.count; ++i) waiting.push_back({of.first + i, 1});
      return;
    }
    // Somebody may have killed it, or the memory was short. What crashes by itself does it again.
    if (!of.again) return waiting.push_back({of.first, 1, true});
    Outcome outcome;
    outcome.objectives.assign(task_->objectives.size(), unfit);
    outcome.features.assign(task_->map.size(), unfit);
    outcome.failure = "its process ended: " + why;
    note_end(of.first, std::move(outcome));
  };
  while (done < genomes.size()) {
    if (stop != nullptr && stop->load()) return crew_->abandon(), std::vector<Outcome>();
    while (crew_->has_room() && !waiting.empty()) {
      const Share next = waiting.front();
      const auto which = std::span(open).subspan(next.first, next.count);
      if (auto started = crew_->start(given.size(), order_of(genomes, which)); !started.ok()) {
        // The machine is to blame, not the genomes: they wait until a process has ended and made room.
        if (crew_->running() > 0) break;
        error_ = started.error();
        return {};
      }
      waiting.pop_front();
      given.push_back(next);
    }
    for (cluster::Finished& one : crew_->wait(1)) {
      const Share& of = given[one.piece];
      std::vector<Outcome> found = outcomes_of_text(one.text, *task_, on_device_);
      if (one.lost) waiting.push_front(of);
      else if (!one.failure.empty()) failed(of, one.failure);
      else if (found.size() != of.count) failed(of, "its outcomes are damaged");
      else
        for (std::size_t i = 0; i < of.count; ++i) note_end(of.first + i, std::move(found[i]));
    }
    if (options_.progress) options_.progress(done, genomes.size(), *crew_);
  }
  return outcomes;
}

std::vector<Outcome> Trials::run(std::span<const Genome> genomes, const std::atomic<bool>* stop) {
  error_ = {};
  return options_.jobs > 1 || options_.ranks != nullptr ? run_in_processes(genomes, stop) : run_here(genomes, stop);
}

}  // namespace volvox::evolve
