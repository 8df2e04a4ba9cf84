#include "volvox/evolve/evolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "volvox/base/check.h"
#include "volvox/base/csv.h"
#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"

namespace volvox::evolve {
namespace {

constexpr const char* mark = "evolution 2";
constexpr std::size_t most_failures = 100;  // kinds that are told apart

double number_or_nan(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

Json to_json(const Generation& g) {
  return {{"number", g.number},
          {"best", g.best},
          {"upper", g.upper},
          {"median", g.median},
          {"lower", g.lower},
          {"best_so_far", g.best_so_far},
          {"diversity", g.diversity},
          {"shapes", g.shapes},
          {"trials", g.trials},
          {"early", g.early},
          {"unfit", g.unfit},
          {"archive", g.archive},
          {"mean_modules", g.mean_modules}};
}

Generation generation_from(const Json& json) {
  Generation g;
  g.number = json.at("number").get<int>();
  g.best = number_or_nan(json.at("best")), g.upper = number_or_nan(json.at("upper"));
  g.median = number_or_nan(json.at("median")), g.lower = number_or_nan(json.at("lower"));
  g.best_so_far = number_or_nan(json.at("best_so_far")), g.diversity = number_or_nan(json.at("diversity"));
  g.shapes = json.at("shapes").get<int>(), g.trials = json.at("trials").get<int>();
  g.early = json.at("early").get<int>(), g.unfit = json.at("unfit").get<int>();
  g.archive = json.at("archive").get<std::size_t>(), g.mean_modules = number_or_nan(json.at("mean_modules"));
  return g;
}

// The mean standard deviation of the genes that all of them have: of a large body beside a small one, the shared genes
// and those of the first modules.
double diversity_of(const std::vector<Individual>& tried) {
  std::size_t genes = 1'000'000'000;
  for (const Individual& one : tried) genes = std::min(genes, flat(one.genome).size());
  if (tried.empty() || genes == 0) return 0;
  double sum = 0;
  std::vector<std::vector<double>> rows;
  for (const Individual& one : tried) rows.push_back(flat(one.genome));
  for (std::size_t i = 0; i < genes; ++i) {
    double mean = 0, squares = 0;
    for (const auto& row : rows) mean += row[i] / real(rows.size());
    for (const auto& row : rows) squares += (row[i] - mean) * (row[i] - mean) / real(rows.size());
    sum += std::sqrt(squares);
  }
  return sum / real(genes);
}

// "trial 2: it ran away at 3.25 s" and the like, without the trial's number and without times.
std::string without_times(const std::string& failure) {
  std::size_t begin = failure.starts_with("trial ") ? failure.find_first_not_of("0123456789", 6) : 0;
  if (begin == std::string::npos || failure.compare(begin, 2, ": ") != 0) begin = 0;
  std::string text = begin == 0 ? failure : failure.substr(begin + 2);
  for (std::size_t at = text.find(" at "); at != std::string::npos; at = text.find(" at ", at)) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789.", at + 4), text.size());
    const bool is_time =
        end > at + 4 && text.compare(end, 2, " s") == 0 &&
        (end + 2 == text.size() || std::string_view(" ,:;").find(text[end + 2]) != std::string_view::npos);
    if (is_time) text.erase(at, end + 2 - at);
    else ++at;
  }
  return text;
}

Diagnostic not_ours(const std::filesystem::path& file, const std::string& what, const std::string& fix) {
  return {file.string(), 0, what, fix};
}

}  // namespace

Result<std::unique_ptr<Evolution>> Evolution::create(const Task& task, const sim::Library& library,
                                                     const AlgorithmRegistry& algorithms,
                                                     const EvolveOptions& options) {
  const auto factory = algorithms.find(task.algorithm.name, task.file);
  if (!factory.ok()) return factory.error();
  auto trials = Trials::create(task, library, options.trials);
  if (!trials.ok()) return trials.error();
  auto breeder = Breeder::create(task, trials->models(), trials->modules_of_experiment());
  if (!breeder.ok()) return breeder.error();
  std::unique_ptr<Evolution> evolution(new Evolution(task, options, std::move(*trials), std::move(*breeder)));
  evolution->population_ = options.population.value_or(task.algorithm.population);
  evolution->generations_ = options.generations.value_or(task.algorithm.generations);
  Task sized = task;
  sized.algorithm.population = evolution->population_;
  auto algorithm = task.algorithm.islands > 1 ? make_islands(sized, **factory) : (**factory)(sized);
  if (!algorithm.ok()) return algorithm.error();
  evolution->algorithm_ = std::move(*algorithm);
  evolution->best_.outcome.objectives.assign(task.objectives.size(), std::numeric_limits<double>::quiet_NaN());
  RandomStream random(options.seed, 0, "check");
  const Genome any = evolution->breeder_.random(random);
  if (auto accepted = evolution->algorithm_->accepts(any); !accepted.ok()) {
    Diagnostic why = accepted.error().diagnostics().front();
    why.file = task.file;
    return why;
  }
  if (auto checked = evolution->runner_.check(any); !checked.ok()) return checked.error();
  evolution->files_ = evolution->runner_.models()->sources();
  std::string about = hash_text(task.identity) + options.version + options.build;
  for (const auto& [file, fingerprint] : evolution->files_) about += fingerprint;  // not where they lie
  evolution->runner_.identify(hash_text(hash_of(about)));
  return evolution;
}

bool Evolution::solved() const { return task_->bar && best_.fitness() >= *task_->bar; }

bool Evolution::done() const { return std::ssize(history_) >= generations_ || (task_->stop_at_bar && solved()); }

bool Evolution::step(const std::atomic<bool>* stop) {
  const int number = narrow<int>(history_.size());
  const Breeder::Counts before = breeder_.counts();
  // The stream is the generation's own: nothing of it has to be kept.
  RandomStream random(options_.seed, narrow<std::uint64_t>(number), "generation");
  std::vector<Individual> tried = algorithm_->ask(breeder_, narrow<std::size_t>(population_), random);
  VOLVOX_ASSERT(std::ssize(tried) == population_);
  std::vector<Genome> genomes;
  for (const Individual& one : tried) genomes.push_back(one.genome);
  std::vector<Outcome> outcomes = runner_.run(genomes, stop);
  if (outcomes.size() != tried.size()) {
    breeder_.set_counts(before);
    return false;
  }
  for (std::size_t i = 0; i < tried.size(); ++i) {
    tried[i].number = next_number_++, tried[i].generation = number;
    tried[i].outcome = std::move(outcomes[i]);
    ancestors_[tried[i].number] = {number, tried[i].fitness(), tried[i].parents};
    if (best_.number < 0 || fitter(tried[i].fitness(), best_.fitness())) best_ = tried[i];
    VOLVOX_ASSERT(belongs_to(tried[i].outcome, *task_));
  }
  note(tried);
  algorithm_->tell(std::move(tried));
  history_.back().archive = algorithm_->archive().size();
  forget_the_dead();
  return true;
}

void Evolution::note(const std::vector<Individual>& tried) {
  Generation g;
  g.number = narrow<int>(history_.size());
  std::vector<double> fit;
  std::set<std::uint64_t> shapes;
  for (const Individual& one : tried) {
    if (std::isnan(one.fitness())) ++g.unfit;
    else fit.push_back(one.fitness());
    shapes.insert(shape_hash(one.genome));
    g.early += one.outcome.early;
    g.trials += narrow<int>(task_->trials.size());
    g.mean_modules += real(one.genome.modules()) / real(tried.size());
    simulated_ += one.outcome.simulated;
    // What went wrong, without when and in which trial: the same mistake is counted as one.
    if (const std::string why = without_times(one.outcome.failure); !why.empty()) {
      if (failures_.contains(why) || failures_.size() < most_failures) ++failures_[why];
    }
  }
  trials_ += g.trials;
  std::ranges::sort(fit);
  const auto quantile = [&](double part) {
    return fit.empty() ? std::numeric_limits<double>::quiet_NaN()
                       : fit[truncated<std::size_t>(part * real(fit.size() - 1) + 0.5)];
  };
  g.best = quantile(1), g.upper = quantile(0.75), g.median = quantile(0.5), g.lower = quantile(0.25);
  g.best_so_far = best_.fitness();
  g.diversity = diversity_of(tried);
  g.shapes = narrow<int>(shapes.size());
  history_.push_back(g);
}

// Keeps the ancestors of what lives and of the best.
void Evolution::forget_the_dead() {
  std::set<std::int64_t> kept;
  std::vector<std::int64_t> open = {best_.number};
  for (const Individual* one : algorithm_->archive()) open.push_back(one->number);
  while (!open.empty()) {
    const std::int64_t number = open.back();
    open.pop_back();
    const auto found = ancestors_.find(number);
    if (found == ancestors_.end() || !kept.insert(number).second) continue;
    open.insert(open.end(), found->second.parents.begin(), found->second.parents.end());
  }
  std::erase_if(ancestors_, [&](const auto& one) { return !kept.contains(one.first); });
  VOLVOX_ASSERT(ancestors_.contains(best_.number) && ancestors_.rbegin()->first < next_number_);
}

std::uint64_t Evolution::hash() const {
  Hasher hasher;
  const auto add = [&](const Individual& one) {
    hasher.add(static_cast<std::uint64_t>(one.number));
    const std::string genome = to_json_text(evolve::to_json(one.genome));
    hasher.add(genome.data(), genome.size());
    hasher.add(one.outcome.hash);
    for (const double objective : one.outcome.objectives)
      hasher.add(std::isnan(objective) ? 0 : std::bit_cast<std::uint64_t>(objective));
  };
  hasher.add(history_.size());
  add(best_);
  for (const Individual* one : algorithm_->archive()) add(*one);
  return hasher.value();
}

std::string Evolution::genome_file(const Individual& individual, const std::filesystem::path& folder) const {
  Organism organism = decode(*task_, individual.genome);
  if (const std::filesystem::path world = organism.experiment; world.extension() == ".sdf" && world.is_absolute())
    organism.experiment = world.lexically_relative(std::filesystem::absolute(folder).lexically_normal()).string();
  organism.origin = {
      {"number", individual.number},     {"generation", individual.generation},         {"parents", individual.parents},
      {"fitness", individual.fitness()}, {"objectives", individual.outcome.objectives}, {"evolve_seed", options_.seed}};
  return to_json_text(evolve::to_json(organism), 2) + "\n";
}

std::string Evolution::csv() const {
  Csv csv({"generation", "best", "upper_quartile", "median", "lower_quartile", "best_so_far", "diversity", "shapes",
           "trials", "early", "unfit", "archive", "mean_modules"});
  for (const Generation& g : history_)
    csv.row(g.number, g.best, g.upper, g.median, g.lower, g.best_so_far, g.diversity, g.shapes, g.trials, g.early,
            g.unfit, g.archive, g.mean_modules);
  return csv.text();
}

std::string Evolution::state() const {
  Json ancestors = Json::array(), history = Json::array();
  for (const auto& [number, one] : ancestors_) ancestors.push_back({number, one.generation, one.fitness, one.parents});
  for (const Generation& g : history_) history.push_back(to_json(g));
  const Json content = {{"task", task_->name},
                        {"task_hash", hash_text(task_->identity)},
                        {"files", files_},
                        {"build", options_.build},
                        {"algorithm", task_->algorithm.name},
                        {"seed", options_.seed},
                        {"population", population_},
                        {"next_number", next_number_},
                        {"trials", trials_},
                        {"simulated", simulated_},
                        {"repaired", breeder_.counts().repaired},
                        {"refused", breeder_.counts().refused},
                        {"failures", failures_},
                        {"best", evolve::to_json(best_)},
                        {"history", history},
                        {"ancestors", ancestors},
                        {"state", algorithm_->save()}};
  const std::string text = to_json_text(content);
  return fmt::format("{{\"volvox\": \"{}\", \"version\": {}, \"seal\": \"{}\", \"content\":\n{}}}\n", mark,
                     to_json_text(Json(options_.version)), hash_text(hash_of(text)), text);
}

Result<void> Evolution::load(const std::filesystem::path& file) {
  // However large: a population of thousands of bodies has more than any file that a person writes.
  auto document = Document::read(file, std::numeric_limits<std::uintmax_t>::max());
  const auto damaged = [&] {
    return not_ours(file, "the state of the evolution is cut off or damaged",
                    "begin again in another folder (--out DIR); the genomes in this one are still whole");
  };
  if (!document.ok()) {
    std::error_code error;
    if (std::filesystem::exists(file, error)) return damaged();
    return document.error();
  }
  const Json& root = document->root();
  const auto says = [&](const char* key, const std::string& wanted) {
    return root.is_object() && root.contains(key) && root[key].is_string() && root[key] == wanted;
  };
  if (!says("volvox", mark) || !says("version", options_.version))
    return not_ours(file, "the state of the evolution is of another version of Volvox",
                    "go on with the version that wrote it, or begin again in another folder (--out DIR)");
  if (!root.contains("content") || !says("seal", hash_text(hash_of(to_json_text(root["content"]))))) return damaged();
  const Json& content = root["content"];
  try {
    if (content.at("task_hash") != hash_text(task_->identity))
      return not_ours(file,
                      fmt::format("this folder has the evolution of another task ('{}'), or the task was changed since",
                                  content.at("task").get<std::string>()),
                      "give the task as it was, or another folder (--out DIR)");
    if (content.at("seed") != options_.seed || content.at("population") != population_)
      return not_ours(file,
                      fmt::format("this evolution was begun with --seed {} and --population {}",
                                  to_json_text(content.at("seed")), to_json_text(content.at("population"))),
                      "give the same, or another folder (--out DIR)");
    if (const auto changed = model::changes(content.at("files").get<model::Sources>(), files_); !changed.empty())
      return not_ours(file, fmt::format("this evolution was begun with other files: {}", fmt::join(changed, "; ")),
                      "put the files back as they were, or begin again in another folder (--out DIR)");
    other_build_ = content.at("build") != options_.build;
    auto best = individual_from(content.at("best"));
    if (!best.ok()) return damaged();
    best_ = std::move(*best);
    if (!algorithm_->load(content.at("state")).ok()) return damaged();
    next_number_ = content.at("next_number").get<std::int64_t>();
    trials_ = content.at("trials").get<std::int64_t>();
    simulated_ = content.at("simulated").get<double>();
    breeder_.set_counts({content.at("repaired").get<std::int64_t>(), content.at("refused").get<std::int64_t>()});
    failures_ = content.at("failures").get<std::map<std::string, int>>();
    history_.clear(), ancestors_.clear();
    for (const Json& one : content.at("history")) history_.push_back(generation_from(one));
    for (const Json& one : content.at("ancestors"))
      ancestors_[one.at(0).get<std::int64_t>()] = {one.at(1).get<int>(), number_or_nan(one.at(2)),
                                                   one.at(3).get<std::vector<std::int64_t>>()};
  } catch (const Json::exception&) {
    return damaged();
  }
  std::vector<const Individual*> all = algorithm_->archive();
  if (best_.number >= 0) all.push_back(&best_);  // before the first generation there is none
  for (const Individual* one : all)
    if (!belongs_to(one->outcome, *task_) || !breeder_.is_valid(one->genome)) return damaged();
  return {};
}

}  // namespace volvox::evolve
