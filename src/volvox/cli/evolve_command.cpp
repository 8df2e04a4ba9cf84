#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/clock.h"
#include "volvox/base/platform/paths.h"
#include "volvox/base/platform/stop_on_signal.h"
#include "volvox/base/text.h"
#include "volvox/cli/evolve.h"
#include "volvox/cli/film.h"
#include "volvox/cli/live_page.h"
#include "volvox/cli/progress.h"
#include "volvox/cli/ranks.h"
#include "volvox/cli/terminal.h"
#include "volvox/cli/version.h"
#include "volvox/evolve/page.h"

namespace volvox::cli {
namespace fs = std::filesystem;
namespace {

// The settings and the engine of the command line are a part of the task: trials depend on them.
Result<void> adjust(const EvolveArguments& arguments, evolve::Task& task) {
  const auto settings = parse_settings(arguments.set);
  if (!settings.ok()) return settings.error();
  for (const auto& [key, value] : *settings) {
    const auto names_it = [&k = key](const auto& one) { return one.name == k; };
    const auto sets_it = [&k = key](const evolve::Condition& one) { return one.settings.contains(k); };
    const bool evolves = std::ranges::any_of(task.varied, names_it);
    if (evolves || std::ranges::any_of(task.trials, sets_it))
      return Diagnostic{task.file, 0,
                        fmt::format("{}={}: {} this task settle {} themselves", key, value,
                                    evolves ? "the genomes of" : "the trials of", key),
                        fmt::format("leave out --set {}=..., or change the task", key)};
    task.settings[key] = value;
  }
  if (!arguments.engine.empty()) task.engine = arguments.engine;
  if (!arguments.precision.empty()) {
    const auto precision = physics::parse_precision(arguments.precision);
    if (!precision.ok()) return precision.error();
    task.precision = *precision;
  }
  Hasher hasher;
  hasher.add(task.identity);
  const auto add = [&](const std::string& text) { hasher.add(hash_of(text)); };
  add(task.engine);
  if (task.precision) add(physics::name(*task.precision));
  for (const auto& [key, value] : task.settings) add(key), add(value);
  task.identity = hasher.value();
  return {};
}

// The fittest of the archive with different bodies first, so that a gallery is not six times the same.
std::vector<const evolve::Individual*> best_of(const evolve::Evolution& evolution, std::size_t count) {
  std::vector<const evolve::Individual*> all = evolution.archive(), chosen, rest;
  all.insert(all.begin(), &evolution.best());
  std::ranges::stable_sort(all,
                           [](const auto* a, const auto* b) { return evolve::fitter(a->fitness(), b->fitness()); });
  std::vector<std::int64_t> numbers;
  std::vector<std::uint64_t> shapes;
  for (const auto* one : all) {
    if (std::isnan(one->fitness()) || std::ranges::find(numbers, one->number) != numbers.end()) continue;
    numbers.push_back(one->number);
    const std::uint64_t shape = evolve::shape_hash(one->genome);
    const bool known = std::ranges::find(shapes, shape) != shapes.end();
    (known ? rest : chosen).push_back(one);
    if (!known) shapes.push_back(shape);
  }
  chosen.insert(chosen.end(), rest.begin(), rest.end());
  if (chosen.size() > count) chosen.resize(count);
  return chosen;
}

// The first trial of a genome as a film. `tell`: how much of it is done, from 0 to 1.
Result<void> film_of(const fs::path& genome, std::optional<physics::Precision> precision, const fs::path& file,
                     sim::Library& library, const std::function<void(double part)>& tell) {
  sim::RunOptions options;
  options.experiment = genome.string();
  options.precision = precision;
  Log nobody;
  auto run = sim::Run::prepare(options, library, nobody);
  if (!run.ok()) return run.error();
  ViewArguments view;
  view.size = "640x400", view.camera = (*run)->camera();
  auto film = Film::create(file.string(), view, render_engines(library), **run);
  if (!film.ok()) return film.error();
  (*run)->add_onlooker([&](const sim::Simulation& simulation) {
    (*film)->observe();
    tell(real(simulation.tick()) / real((*run)->ticks()));
  });
  (*run)->finish();
  return (*film)->finish();
}

class EvolutionFolder {
 public:
  EvolutionFolder(fs::path folder, const evolve::Evolution& evolution)
      : folder_(std::move(folder)), evolution_(evolution) {}
  fs::path state() const { return folder_ / "evolution.json"; }

  // After every generation. The state comes first: whatever happens to the rest, it is made from the state again.
  Result<void> save(const evolve::PageFacts& facts, bool page) const {
    if (auto done = write_file(state(), evolution_.state()); !done.ok()) return done;
    if (auto done = save_results(); !done.ok() || !page) return done;
    return write_file(folder_ / "index.html", evolve::evolution_page(evolution_, {}, facts));
  }

  // At the end: the gallery with its pictures, and the page.
  Result<void> finish(const evolve::PageFacts& facts, std::size_t pictures, bool film, sim::Library& library, Log& log,
                      Progress& progress) const {
    if (auto done = save_results(); !done.ok()) return done;
    std::vector<evolve::Shown> shown;
    std::error_code error;
    fs::create_directories(folder_ / "gallery", error);
    const std::vector<const evolve::Individual*> best = best_of(evolution_, pictures);
    for (const evolve::Individual* one : best) {
      const std::string name = fmt::format("gallery/{:02}", shown.size() + 1);
      evolve::Shown& entry = shown.emplace_back();
      entry.individual = one;
      entry.file = name + ".json";
      if (auto done = write_file(folder_ / entry.file, evolution_.genome_file(*one, folder_ / "gallery")); !done.ok())
        return done;
      PictureArguments picture;
      picture.run.experiment = (folder_ / entry.file).string();
      picture.run.quiet = true;
      if (const auto precision = evolution_.task().precision) picture.run.precision = physics::name(*precision);
      picture.run.view.size = "640x400";
      picture.at = evolution_.task().duration;
      picture.strobe = 4;
      picture.file = (folder_ / (name + ".png")).string();
      progress.show(real(shown.size() - 1) / real(best.size()),
                    fmt::format("picture {} of {}", shown.size(), best.size()));
      if (picture_command(picture, library, log) == done) entry.picture = picture.file;
      if (film && shown.size() == 1) {
        const fs::path file = folder_ / (name + ".mp4");
        const auto tell = [&](double part) { progress.show(part / real(best.size()), "film of the best"); };
        if (auto filmed = film_of(folder_ / entry.file, evolution_.task().precision, file, library, tell); filmed.ok())
          entry.film = file;
        else progress.clear(), log.warning("there is no film of the best: " + filmed.error().text());
      }
    }
    return write_file(folder_ / "index.html", evolve::evolution_page(evolution_, shown, facts));
  }

 private:
  Result<void> save_results() const {
    if (evolution_.best().number >= 0)
      if (auto done = write_file(folder_ / "best.json", evolution_.genome_file(evolution_.best(), folder_)); !done.ok())
        return done;
    return write_file(folder_ / "generations.csv", evolution_.csv());
  }

  fs::path folder_;
  const evolve::Evolution& evolution_;
};

void show(Progress& progress, const evolve::Evolution& evolution, const std::string& more = "") {
  const std::size_t now = evolution.history().size();
  progress.show(real(now) / evolution.generations(),
                fmt::format("generation {} of {}, best {}, median {}{}", now, evolution.generations(),
                            number(evolution.best().fitness()),
                            now == 0 ? "-" : number(evolution.history().back().median), more));
}

nlohmann::ordered_json to_json(const evolve::Evolution& evolution, const EvolveArguments& arguments,
                               const fs::path& folder, const evolve::PageFacts& facts, bool stopped,
                               const std::vector<std::int64_t>& pieces) {
  const auto number_or_null = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  };
  const evolve::Task& task = evolution.task();
  std::int64_t unfit = 0, early = 0;
  for (const evolve::Generation& g : evolution.history()) unfit += g.unfit, early += g.early;
  nlohmann::ordered_json json = {{"task", task.name},
                                 {"experiment", task.experiment},
                                 {"algorithm", task.algorithm.name},
                                 {"seed", arguments.seed},
                                 {"population", evolution.population()},
                                 {"threads", evolution.options().trials.threads},
                                 {"jobs", evolution.options().trials.jobs},
                                 {"ranks", std::max<std::size_t>(1, pieces.size())},
                                 {"pieces_by_rank", pieces},
                                 {"status", stopped ? "stopped" : "done"},
                                 {"generations", evolution.history().size()},
                                 {"trials", evolution.trials()},
                                 {"best_fitness", number_or_null(evolution.best().fitness())},
                                 {"best_genome", (folder / "best.json").string()},
                                 {"best_modules", evolution.best().genome.modules()},
                                 {"bar", task.bar ? nlohmann::ordered_json(*task.bar) : nlohmann::ordered_json()},
                                 {"solved", evolution.solved()},
                                 {"state_hash", hash_text(evolution.hash())},
                                 {"trials_per_s", facts.wall_time > 0 ? real(facts.trials_here) / facts.wall_time : 0},
                                 {"wall_time_s", facts.wall_time},
                                 {"simulated_s", evolution.simulated()},
                                 {"archive", evolution.archive().size()},
                                 {"unfit", unfit},
                                 {"stopped_early", early},
                                 {"bodies_repaired", evolution.repairs().repaired},
                                 {"bodies_refused", evolution.repairs().refused},
                                 {"failures", evolution.failures()},
                                 {"ticks_on_gpu", evolution.on_device().ticks},
                                 {"ticks_not_on_gpu", evolution.on_device().left},
                                 {"folder", folder.string()}};
  return json;
}

// The folder of results, and the state in it if there is one to go on from.
Result<fs::path> folder_of(const EvolveArguments& arguments, const evolve::Task& task) {
  std::error_code error;
  if (!arguments.out && arguments.resume) return Error("--resume needs the folder of the evolution", "give --out DIR");
  if (!arguments.out) return make_next_run_folder("evolve_" + folder_name(arguments.task, task.name));
  const fs::path folder = *arguments.out, state = folder / "evolution.json";
  const bool there = fs::exists(state, error);
  if (there && !arguments.resume)
    return Diagnostic{state.string(), 0, "there is an evolution in this folder",
                      "go on with it (--resume), or give another folder"};
  if (!there && arguments.resume)
    return Diagnostic{state.string(), 0, "there is no evolution to go on with in this folder",
                      "leave --resume out to begin one, or give its folder"};
  return folder;
}

evolve::EvolveOptions options_of(const EvolveArguments& arguments, cluster::Ranks* ranks, bool leads) {
  evolve::EvolveOptions options;
  options.seed = arguments.seed;
  options.generations = arguments.generations, options.population = arguments.population;
  options.version = version;
  model::Sources program;
  for (const fs::path& file : {platform::executable(), platform::library()}) model::note_source(program, file);
  for (const auto& [file, fingerprint] : program) options.build += fingerprint;
  options.trials.jobs = arguments.jobs;
  const int hardware = std::max(1, narrow<int>(std::thread::hardware_concurrency()));
  options.trials.threads = arguments.threads > 0 ? arguments.threads : std::max(1, hardware / arguments.jobs);
  options.trials.ranks = ranks;
  options.trials.device = arguments.device;
  if (leads && arguments.out) options.trials.journal = fs::path(*arguments.out) / "generation.jsonl";
  return options;
}

Result<void> resume(evolve::Evolution& evolution, const EvolutionFolder& files, Log& log) {
  if (auto loaded = evolution.load(files.state()); !loaded.ok()) return loaded.error();
  if (evolution.other_build())
    log.warning(Diagnostic{files.state().string(), 0, "this evolution was begun by another build of volvox",
                           "begin again in another folder (--out DIR) if results must repeat"}
                    .text());
  return {};
}

// Generation after generation, each saved as soon as it is complete.
class Breeding {
 public:
  Breeding(evolve::Evolution& evolution, const EvolutionFolder& files, const EvolveArguments& arguments)
      : evolution_(evolution),
        files_(files),
        arguments_(arguments),
        trials_before_(evolution.trials()),
        begin_(platform::monotonic_seconds()) {}

  evolve::PageFacts facts(bool running) const {
    return {platform::monotonic_seconds() - begin_, evolution_.trials() - trials_before_, running};
  }

  // True: stopped on request. While it runs, `within_a_generation` shows what else there is to say.
  Result<bool> run(std::function<void(const std::string& more)>& within_a_generation) {
    const platform::StopOnSignal stop;
    // From the beginning, so that --resume goes on from whatever happens in the first generation.
    if (!arguments_.resume)
      if (auto saved = files_.save({}, false); !saved.ok()) return saved.error();
    Progress progress(evolution_.task().name, arguments_.quiet || arguments_.json);
    within_a_generation = [&](const std::string& more) { show(progress, evolution_, more); };
    const auto ended = generations(progress, stop.requested());
    within_a_generation = nullptr;
    return ended;
  }

 private:
  Result<bool> generations(Progress& progress, const std::atomic<bool>& stop) {
    double page_at = begin_;
    while (!evolution_.done()) {
      show(progress, evolution_);
      const bool complete = evolution_.step(&stop);
      if (const Error& error = evolution_.error(); !error.empty()) return error;
      if (!complete) return true;
      const bool page = platform::monotonic_seconds() - page_at > 3;
      if (page) page_at = platform::monotonic_seconds();
      if (auto saved = files_.save(facts(true), page); !saved.ok()) return saved.error();
      std::error_code error;
      fs::remove(evolution_.options().trials.journal, error);  // what it has is in the state now
    }
    return false;
  }

  evolve::Evolution& evolution_;
  const EvolutionFolder& files_;
  const EvolveArguments& arguments_;
  std::int64_t trials_before_;
  double begin_;  // s, on the monotonic clock
};

void print_outcome(const evolve::Evolution& evolution, const fs::path& folder, Log& log) {
  const std::string best = printable((folder / "best.json").string());
  fmt::print(
      "{}: fitness {} after {} generations and {} trials{}\n  best   {}\n  page   {}\n  hash   {}\n  run    volvox run "
      "{} {}--view\n",
      printable(evolution.task().name), number(evolution.best().fitness()), evolution.history().size(),
      evolution.trials(), evolution.solved() ? ": solved" : "", best, printable((folder / "index.html").string()),
      hash_text(evolution.hash()), printable(shell_word((folder / "best.json").string())),
      evolution.task().precision ? fmt::format("--precision {} ", physics::name(*evolution.task().precision)) : "");
  for (const auto& [why, count] : evolution.failures())
    log.warning(fmt::format("{} of {} genomes: {}", count, evolution.tried(), why));
}

// What a GPU did, where it was asked to.
void warn_of_device(const sim::Population::OnDevice& on_device, const std::string& device, Log& log) {
  if (!on_device.failure.empty()) log.warning(on_device.failure);
  if (device == "cpu" || (device == "auto" && on_device.ticks == 0)) return;
  for (const auto& [why, count] : on_device.left)
    if (why != on_device.failure)
      log.warning(fmt::format("{} ticks of trials were not made by the GPU: {}", count, why));
}

}  // namespace

Result<void> check_trial_device(const std::string& device, const std::string& who) {
  if (device == "auto" || device == "cpu" || device == "cuda") return {};
  return Error(fmt::format("{} does not run on the device '{}'", who, device), "use one of: auto, cpu, cuda");
}

int evolve_command(const EvolveArguments& arguments, sim::Library& library, Log& log) {
  if (auto known = check_trial_device(arguments.device, "evolve"); !known.ok()) return complain(known.error());
  auto task = evolve::read_task(arguments.task);
  if (!task.ok()) return complain(task.error());
  if (auto adjusted = adjust(arguments, *task); !adjusted.ok()) return complain(adjusted.error());
  auto ranks = cluster::join(arguments.ranks, arguments.out.value_or(""));
  if (!ranks.ok()) return complain(ranks.error());
  RanksEnd tell_the_others(ranks->get());
  const bool leads = !*ranks || (*ranks)->rank() == 0;
  evolve::EvolveOptions options = options_of(arguments, ranks->get(), leads);
  std::function<void(const std::string& more)> within_a_generation;  // while there is something to tell it
  options.trials.progress = [&](std::size_t genomes_done, std::size_t all, cluster::Crew& crew) {
    if (within_a_generation) within_a_generation(fmt::format(", {} of {} genomes{}", genomes_done, all, by_rank(crew)));
    for (const std::string& news : crew.news()) log.warning(news);
  };
  auto evolution = evolve::Evolution::create(*task, library, evolve::built_in_algorithms(), options);
  if (!evolution.ok()) return complain(evolution.error());
  if (!leads) {
    const platform::StopOnSignal stop;
    return served(**ranks, (*evolution)->serve(stop.requested()));
  }

  const auto folder = folder_of(arguments, *task);
  if (!folder.ok()) return complain(folder.error());
  const auto kept = keep_folder(*folder, 2);
  if (!kept.ok()) return complain(kept.error());
  const EvolutionFolder files(*folder, **evolution);
  if (arguments.resume)
    if (auto resumed = resume(**evolution, files, log); !resumed.ok()) return complain(resumed.error());
  std::unique_ptr<LivePage> live;  // before the first generation: it shows that there is something to wait for
  if (arguments.show) {
    auto started = LivePage::start(*folder / "index.html", arguments.viewer);
    if (!started.ok()) return complain(started.error());
    live = std::move(*started);
  }
  Breeding breeding(**evolution, files, arguments);
  const auto stopped = breeding.run(within_a_generation);
  if (!stopped.ok()) return complain(stopped.error()), run_failed;
  const std::vector<std::int64_t> pieces = (*evolution)->done_by_rank();
  warn_of_device((*evolution)->on_device(), arguments.device, log);
  (*evolution)->dismiss();
  if (*stopped) tell_the_others.stopped();
  else tell_the_others.over();  // they need not wait for pictures
  const evolve::PageFacts facts = breeding.facts(false);
  {
    Progress progress("gallery", arguments.quiet || arguments.json);
    if (auto finished =
            files.finish(facts, narrow<std::size_t>(arguments.gallery), !arguments.no_film, library, log, progress);
        !finished.ok())
      return complain(finished.error()), run_failed;
  }
  if (arguments.json)
    fmt::print("{}\n", to_json_text(to_json(**evolution, arguments, *folder, facts, *stopped, pieces), 2));
  else if (!arguments.quiet) print_outcome(**evolution, *folder, log);
  if (*stopped)
    print_error("stopped on request; go on with the same command, --resume and --out " + shell_word(folder->string()));
  return *stopped || std::isnan((*evolution)->best().fitness()) ? run_failed : done;
}

}  // namespace volvox::cli
