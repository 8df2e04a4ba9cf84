#include "volvox/evolve/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/platform/paths.h"
#include "volvox/base/random.h"
#include "volvox/base/time.h"

namespace volvox::evolve {
namespace fs = std::filesystem;
namespace {

// [0.1, 2], or { "from": 0.1, "to": 2, "whole": true, "count": 12 }, or { "choices": ["a", "b"] }
Space read_space(Fields& list, const std::string& name) {
  Space space;
  space.name = name;
  if (list.raw(name).is_array()) {
    if (const auto range = list.numbers(name, 2, 2); range.size() == 2) space.from = range[0], space.to = range[1];
  } else {
    Fields fields = list.child(name);
    space.choices = fields.texts("choices");
    if (fields.has("choices") && space.choices.empty())
      list.fail(name, fmt::format("'{}' has no choices", name),
                "give at least one, such as {\"choices\": [\"a\", \"b\"]}");
    space.from = fields.number("from", 0), space.to = fields.number("to", 1);
    space.whole = fields.flag("whole", false);
    space.count = narrow<int>(fields.integer("count", 1, 1, 100'000));
    fields.refuse_others();
  }
  const auto is_whole = [](double value) { return value == std::floor(value) && std::fabs(value) <= 1e15; };
  if (space.whole && !(is_whole(space.from) && is_whole(space.to)))
    list.fail(name, fmt::format("'{}' is whole, but its range is from {} to {}", name, space.from, space.to),
              "give whole numbers of at most 1e15");
  if (!std::isfinite(space.to - space.from))
    list.fail(name, fmt::format("the range of '{}' is larger than any number", name), "give smaller numbers");
  else if (!(space.to >= space.from))
    list.fail(name, fmt::format("the range of '{}' ends at {} before it begins at {}", name, space.to, space.from),
              "give the smaller number first");
  return space;
}

std::vector<Space> read_spaces(Fields fields) {
  std::vector<Space> spaces;
  for (const std::string& name : fields.keys()) spaces.push_back(read_space(fields, name));
  return spaces;
}

void read_objectives(Fields& top, const Document& document, Task& task) {
  const Json& list = top.raw("fitness");
  const auto bad = [&] {
    top.fail("fitness", "the task does not say what is fit",
             "give a list: \"fitness\": [{\"metric\": \"moved_m\", \"better\": \"more\"}]");
  };
  if (!list.is_array() || list.empty()) return bad();
  for (const Json& one : list) {
    if (!one.is_object() || !one.value("metric", Json()).is_string()) return bad();
    Error error;
    auto inner = Document::parse(to_json_text(one), document.file());
    Fields fields(*inner, error);
    Objective objective;
    objective.metric = fields.text("metric", "");
    objective.weight = fields.number("weight", 1, 1e-9, 1e9);
    if (fields.one_of("better", "more", {"more", "less"}) == "less") objective.weight = -objective.weight;
    fields.refuse_others();
    for (const Diagnostic& wrong : error.diagnostics()) top.fail("fitness", wrong.what, wrong.fix);
    task.objectives.push_back(objective);
  }
}

constexpr std::size_t most_given = 1000;  // modules, as of "modules"

void read_body(Fields body, Task& task) {
  task.robot = body.text("robot", "");
  if (task.robot.empty()) body.fail("", "the body has no robot", "give \"robot\": NAME, such as \"superbot\"");
  const auto limits = body.numbers("modules", 1, 2);
  if (!limits.empty()) {
    const auto whole = [&](double value) {
      if (value >= 1 && value <= 1000 && value == std::floor(value)) return truncated(value);
      body.fail("modules", fmt::format("{} is no number of modules", value), "give whole numbers from 1 to 1000");
      return 1;
    };
    task.least = whole(limits.front()), task.most = whole(limits.back());
    if (task.least > task.most)
      body.fail("modules", "the smallest body is larger than the largest", "give the smaller number first");
  }
  task.largest_mass = body.number("largest_mass", 1e9, 0);
  task.docks = body.texts("docks");
  for (const double turn : body.numbers("turns", 1, 64)) {
    if (turn >= 0 && turn <= 1000 && turn == std::floor(turn)) task.turns.push_back(truncated(turn));
    else body.fail("turns", fmt::format("{} is no turn of a dock", turn), "give whole numbers from 0 to 1000");
  }
  task.loops = body.flag("loops", false);
  Fields start = body.child("start");
  task.start.x = start.number("x", 0), task.start.y = start.number("y", 0), task.start.z = start.number("z", 0.001);
  task.start.by_front = start.flag("front", false);
  start.refuse_others();
  const Json& given = body.raw("given");
  if (given.is_array() && given.size() > most_given)
    body.fail("given", fmt::format("the given body has {} modules", given.size()),
              fmt::format("give at most {}", most_given));
  else if (given.is_array())
    for (std::size_t i = 0; i < given.size(); ++i) {
      Part part;
      try {
        const auto whole = [&](std::size_t k) {  // get() would round, or wrap around
          const Json& number = given[i].at(k);
          return number.is_number_integer() && number >= 0 && number <= 1000 ? number.get<int>() : -2;
        };
        if (i > 0) part = {whole(0), given[i].at(1).get<std::string>(), given[i].at(2).get<std::string>(), whole(3)};
      } catch (const Json::exception&) {
        part.on = -2;
      }
      const bool good =
          i > 0 ? part.on >= 0 && part.on < narrow<int>(i) && part.turn >= 0 : given[0].is_array() && given[0].empty();
      task.given.push_back(part);
      if (good) continue;
      body.fail("given", fmt::format("module {} of the given body is not understood", i),
                "give [], then for each module [the module it is docked to, that module's dock, its own dock, turn]");
      break;  // the others follow from it
    }
  else if (!given.is_null())
    body.fail("given", "the given body is not a list", "give [[], [0, \"front\", \"back\", 0], ...]");
  if (!task.given.empty()) task.least = task.most = narrow<int>(task.given.size());
  else if (limits.empty())
    body.fail("modules", "the body has no limits", "give \"modules\": [1, 8], or a \"given\" body");
  body.refuse_others();
}

// Conditions are drawn once, by trial, so that all genomes meet the same.
void read_trials(Fields trial, Task& task) {
  task.duration = trial.number("duration", 10, 1e-3, 1e6);
  task.dt = trial.text("dt", "");
  if (!task.dt.empty())
    if (const auto dt = TickLength::parse(task.dt); !dt.ok())
      trial.fail("dt", dt.error().diagnostics().front().what, dt.error().diagnostics().front().fix);
  const auto count = narrow<std::size_t>(trial.integer("count", 1, 1, 1000));
  const auto friction = trial.numbers("friction", 2, 2), noise = trial.numbers("noise", 1, 2);
  for (const auto& [name, range] : {std::pair{"friction", friction}, std::pair{"noise", noise}})
    if (!range.empty() && !(range.front() >= 0 && range.front() <= range.back() && range.back() <= 100))
      trial.fail(name, fmt::format("\"{}\" goes from {} to {}", name, range.front(), range.back()),
                 "give numbers from 0 to 100, the smaller one first");
  const std::vector<Space> vary = read_spaces(trial.child("settings"));
  task.trials.clear();
  for (std::size_t k = 0; k < count; ++k) {
    RandomStream random(k + 1, 0, "trial");
    Condition condition;
    if (!friction.empty()) condition.friction = random.uniform(friction[0], friction[1]);
    if (!noise.empty()) condition.noise = random.uniform(noise.front(), noise.back());
    for (const Space& space : vary) {
      std::vector<double> genes(space.count);
      for (double& gene : genes) gene = random.uniform();
      condition.settings[space.name] = space.value(genes);
    }
    task.trials.push_back(std::move(condition));
  }
  const std::string over = trial.one_of("fitness_by", "median", {"median", "worst", "mean"});
  task.over = over == "worst" ? Over::worst : over == "mean" ? Over::mean : Over::median;
  Fields stop = trial.child("stop");
  task.stop.after = stop.number("after", 0, 0);
  task.stop.moved_less_than = stop.number("moved_less_than", 0, 0);
  if (stop.has("below")) task.stop.fell_below = stop.number("below", 0);
  stop.refuse_others();
  trial.refuse_others();
}

void read_algorithm(Fields fields, AlgorithmSettings& algorithm) {
  algorithm.name = fields.text("name", algorithm.name);  // the registry knows the names
  algorithm.population = narrow<int>(fields.integer("population", algorithm.population, 2, 1'000'000));
  algorithm.generations = narrow<int>(fields.integer("generations", algorithm.generations, 1, 1'000'000'000));
  algorithm.step = fields.number("step", algorithm.step, 1e-6, 1);
  algorithm.rate = fields.number("rate", algorithm.rate, 0, 1);
  algorithm.crossover = fields.number("crossover", algorithm.crossover, 0, 1);
  algorithm.body = fields.number("body", algorithm.body, 0, 1);
  algorithm.patience = narrow<int>(fields.integer("patience", algorithm.patience, 0, 1'000'000));
  if (algorithm.patience > 0 && algorithm.name != "ga")
    fields.fail("patience", fmt::format("{} does not begin anew", algorithm.name), "leave it out, or use \"ga\"");
  Fields islands = fields.child("islands");
  algorithm.islands = narrow<int>(islands.integer("count", 1, 1, 1000));
  algorithm.migrate_every = narrow<int>(islands.integer("every", algorithm.migrate_every, 1, 1'000'000));
  algorithm.migrants = narrow<int>(islands.integer("migrants", algorithm.migrants, 0, 1000));
  if (algorithm.patience > 0 && algorithm.islands > 1)
    fields.fail("patience", "islands do not begin anew: the first guest would be the parent of all",
                "leave \"patience\" or \"islands\" out");
  islands.refuse_others();
  fields.refuse_others();
}

void read_map(Fields map, Task& task) {
  for (const char* side : {"x", "y"}) {
    Fields fields = map.child(side);
    Axis axis;
    axis.feature = fields.text("feature", "");
    axis.from = fields.number("from", 0), axis.to = fields.number("to", 1);
    axis.cells = narrow<int>(fields.integer("cells", 10, 1, 1000));
    if (axis.feature.empty() || !(axis.to > axis.from))
      map.fail(side, fmt::format("the side {} of the map is not complete", side),
               "give \"feature\" (a metric, or \"modules\"), \"from\", \"to\" and \"cells\"");
    fields.refuse_others();
    task.map.push_back(axis);
  }
  map.refuse_others();
}

std::uint64_t identity_of(const Document& document) {
  // The number of generations is no part of it: a finished evolution may go on for longer.
  Json root = document.root();
  if (root.contains("algorithm") && root["algorithm"].is_object()) root["algorithm"].erase("generations");
  root.erase("about");
  return hash_of(to_json_text(root));
}

std::size_t genes_of(const std::vector<Space>& spaces) {
  std::size_t sum = 0;
  for (const Space& space : spaces) sum += space.count;
  return sum;
}

}  // namespace

std::string Space::value(std::span<const double> genes) const {
  std::string text;
  for (const double gene : genes) {
    if (!text.empty()) text += ' ';
    if (!choices.empty()) {
      const auto at = truncated<std::size_t>(gene * real(choices.size()));
      text += choices[std::min(at, choices.size() - 1)];
    } else if (whole) {
      text += fmt::format("{}", truncated<std::int64_t>(std::min(to, std::floor(from + gene * (to - from + 1)))));
    } else {
      text += fmt::format("{}", from + gene * (to - from));
    }
  }
  return text;
}

std::size_t Task::shared_genes() const { return genes_of(shared) + genes_of(varied); }
std::size_t Task::each_genes() const { return genes_of(each); }

Result<Task> task_from(const Document& document, const std::string& name) {
  Error error;
  Task task;
  task.name = name, task.file = document.file();
  Fields top(document, error);
  task.about = top.text("about", "");
  task.experiment = top.text("experiment", "");
  if (task.experiment.empty())
    top.fail("experiment", "the task has no experiment", "give \"experiment\": NAME, or the path of a world file");
  // A world file is named as seen from the task.
  if (const fs::path world = task.experiment; world.extension() == ".sdf" && world.is_relative())
    task.experiment = (fs::absolute(document.file()).parent_path() / world).lexically_normal().string();
  task.engine = top.text("engine", "");
  if (const std::string precision = top.text("precision", ""); !precision.empty()) {
    const auto known = physics::parse_precision(precision);
    if (known.ok()) task.precision = *known;
    else top.fail("precision", fmt::format("there is no precision '{}'", precision), "give mixed or double");
  }
  task.settings = top.settings("settings");
  read_objectives(top, document, task);
  if (top.has("body")) read_body(top.child("body"), task);
  Fields mind = top.child("mind");
  task.behavior = mind.text("behavior", "");
  task.fixed = mind.settings("fixed");
  task.shared = read_spaces(mind.child("shared"));
  task.each = read_spaces(mind.child("each"));
  mind.refuse_others();
  if (!task.robot.empty() && task.behavior.empty())
    top.fail("mind", "the bodies have no behavior",
             "give \"mind\": {\"behavior\": NAME, ...}; see: volvox list behaviors");
  task.varied = read_spaces(top.child("evolve_settings"));
  read_trials(top.child("trial"), task);
  for (const Space& space : task.varied)
    if (task.settings.contains(space.name) || task.trials.front().settings.contains(space.name))
      top.fail("evolve_settings", fmt::format("'{}' evolves and is set, too", space.name), "keep one of them");
  if (top.has("map")) read_map(top.child("map"), task);
  if (top.has("bar")) task.bar = top.number("bar", 0);
  task.stop_at_bar = top.flag("stop_at_bar", true);
  read_algorithm(top.child("algorithm"), task.algorithm);
  top.refuse_others();
  if (task.shared_genes() + task.each_genes() == 0 && !task.evolves_body())
    top.fail("", "nothing evolves in this task",
             "give ranges in \"mind\", \"evolve_settings\", or limits of a \"body\"");
  if (!error.empty()) return error;
  task.identity = identity_of(document);
  return task;
}

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const fs::path& root : platform::resource_path()) {
    std::error_code error;
    const fs::path experiments = root / "experiments";
    for (fs::recursive_directory_iterator it(experiments, error), end; !error && it != end; it.increment(error))
      if (it->path().filename() == "task.json")
        names.push_back(fs::relative(it->path().parent_path(), experiments, error).generic_string());
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<Task> read_task(const std::string& name_or_file) {
  fs::path file = name_or_file;
  std::error_code error;
  std::string name = name_or_file;
  if (file.extension() == ".json") {
    name = file.filename() == "task.json" ? fs::absolute(file).parent_path().filename().string() : file.stem().string();
  } else {
    for (const fs::path& root : platform::resource_path())
      if (const fs::path found = root / "experiments" / name_or_file / "task.json"; fs::is_regular_file(found, error)) {
        file = found;
        break;
      }
    if (file.extension() != ".json") {
      if (fs::is_regular_file(file / "evolution.json", error))
        return Diagnostic{file.string(), 0, "this is the folder of an evolution, not a task",
                          fmt::format("go on with it by: volvox evolve TASK --out {} --resume", file.string())};
      if (fs::is_regular_file(file / "task.json", error))
        return Diagnostic{file.string(), 0, "this is a folder",
                          fmt::format("give its task: {}", (file / "task.json").string())};
      const std::vector<std::string> known = task_names();
      const std::string nearest = nearest_name(name_or_file, known);
      return Error(fmt::format("there is no task named '{}'", name_or_file),
                   nearest.empty()
                       ? fmt::format("use one of: {}; or the path of a task.json (volvox new task NAME begins one)",
                                     fmt::join(known, ", "))
                       : fmt::format("did you mean '{}'?", nearest));
    }
  }
  auto document = Document::read(file);
  if (!document.ok()) return document.error();
  return task_from(*document, name);
}

Organism decode(const Task& task, const Genome& genome) {
  Organism organism;
  organism.task = task.name, organism.experiment = task.experiment;
  organism.engine = task.engine, organism.dt = task.dt, organism.duration = task.duration;
  organism.settings = task.settings;
  organism.robot = task.robot, organism.loops = task.loops, organism.start = task.start;
  organism.tree = genome.tree;
  organism.behavior = task.behavior, organism.parameters = task.fixed;
  organism.trials = task.trials;
  const auto give = [](const std::vector<Space>& spaces, std::span<const double> genes,
                       std::map<std::string, std::string>& into) {
    std::size_t next = 0;
    for (const Space& space : spaces) {
      const auto count = narrow<std::size_t>(space.count);
      into[space.name] = space.value(genes.subspan(next, count));
      next += count;
    }
  };
  const std::size_t shared = genes_of(task.shared);
  give(task.shared, std::span(genome.genes).first(shared), organism.parameters);
  give(task.varied, std::span(genome.genes).subspan(shared), organism.settings);
  for (const auto& part : genome.parts) {
    auto& own = organism.each.emplace_back();
    give(task.each, part, own);
  }
  if (task.each.empty()) organism.each.clear();
  return organism;
}

}  // namespace volvox::evolve
