#include "volvox/evolve/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "volvox/base/hash.h"
#include "volvox/base/index.h"
#include "volvox/base/text.h"
#include "volvox/report/chart.h"
#include "volvox/report/page.h"
#include "volvox/report/table.h"

namespace volvox::evolve {
namespace {

using report::number;

const report::Axis generation{"generation", false, {}, {}, {}, true};

std::string figure(const report::Chart& chart) { return "<figure>" + report::svg(chart, true) + "</figure>\n"; }

std::string history_charts(const Evolution& evolution) {
  report::Curve spread{"median and quartiles of a generation", {}}, best{"best of a generation", {}},
      ever{"best so far", {}}, diversity{"", {}}, shapes{"", {}}, unfit{"unfit", {}}, early{"stopped early", {}};
  spread.spread = report::Spread::band;
  ever.join = report::Join::steps;
  for (const Generation& g : evolution.history()) {
    const double x = g.number;
    spread.points.push_back({x, g.median, g.lower, g.upper});
    best.points.push_back({x, g.best});
    ever.points.push_back({x, g.best_so_far});
    diversity.points.push_back({x, g.diversity});
    shapes.points.push_back({x, real(g.shapes)});
    unfit.points.push_back({x, real(g.unfit)});
    early.points.push_back({x, real(g.early)});
  }
  report::Panel fitness{"", generation, {"fitness"}, {spread, best, ever}};
  if (evolution.task().bar) fitness.marks.push_back({*evolution.task().bar, "bar"});
  std::string out = "<h2>Fitness</h2>\n" + figure({"Fitness over the generations", {fitness}, "", 640, 260});
  out += "<h2>Diversity</h2>\n<div class=\"plots\">";
  out += figure({"Spread of the genes", {{"", generation, {"mean deviation", false, 0}, {diversity}}}, "", 370, 170});
  if (evolution.task().evolves_body())
    out += figure({"Different bodies", {{"", generation, {"bodies", false, 0, {}, {}, true}, {shapes}}}, "", 370, 170});
  out += figure({"Trials that ended badly or early",
                 {{"", generation, {"number", false, 0, {}, {}, true}, {unfit, early}}},
                 "",
                 370,
                 170});
  return out + "</div>\n";
}

// The best and its ancestors, generation by generation: where its fitness came from.
std::string lineage_chart(const Evolution& evolution) {
  const auto& all = evolution.ancestors();
  report::Curve line{"first parent", {}}, others{"all ancestors", {}};
  others.join = report::Join::nothing, others.marks = true, line.marks = true;
  std::set<std::int64_t> seen;
  std::vector<std::int64_t> open = {evolution.best().number};
  while (!open.empty()) {
    const std::int64_t one = open.back();
    open.pop_back();
    const auto found = all.find(one);
    if (found == all.end() || !seen.insert(one).second) continue;
    others.points.push_back({real(found->second.generation), found->second.fitness});
    open.insert(open.end(), found->second.parents.begin(), found->second.parents.end());
  }
  for (auto found = all.find(evolution.best().number); found != all.end();) {
    line.points.push_back({real(found->second.generation), found->second.fitness});
    if (found->second.parents.empty()) break;
    found = all.find(found->second.parents.front());
  }
  std::ranges::reverse(line.points);
  if (others.points.size() < 2) return {};
  return "<h2>Lineage of the best</h2>\n" + figure({fmt::format("{} ancestors of the best", others.points.size() - 1),
                                                    {{"", generation, {"fitness"}, {others, line}}},
                                                    "",
                                                    640,
                                                    220});
}

std::string map_of_elites(const Evolution& evolution) {
  const std::vector<Axis>& map = evolution.task().map;
  const auto archive = evolution.archive();
  // Other algorithms keep members with the same features, and unfit ones, which have no colour.
  if (evolution.task().algorithm.name != "map_elites" || map.size() != 2 || archive.empty()) return {};
  const auto side = [](const Axis& axis) {
    return report::MapChart::Side{axis.feature, axis.from, axis.to, axis.cells};
  };
  report::MapChart chart{"Map of the elites", {}, side(map[0]), side(map[1]), {}};
  double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
  for (const Individual* one : archive) {
    const auto cell = [&](std::size_t i) {
      const double at = (one->outcome.features[i] - map[i].from) / (map[i].to - map[i].from) * map[i].cells;
      return truncated(clamp(at, 0, map[i].cells - 1));
    };
    const auto measured = [](double value) { return std::isfinite(value); };
    if (one->outcome.features.size() != 2 || !std::ranges::all_of(one->outcome.features, measured) ||
        !measured(one->fitness()))
      continue;
    low = std::min(low, one->fitness()), high = std::max(high, one->fitness());
    chart.cells.push_back({cell(0), cell(1), one->fitness()});
  }
  chart.caption = fmt::format("Elites: {} of {} cells; fitness from {} (dark) to {} (bright)", archive.size(),
                              map[0].cells * map[1].cells, number(low), number(high));
  return "<h2>Map</h2>\n<figure>" + report::svg(chart, true) + "</figure>\n";
}

std::string gallery_of(const std::vector<Shown>& gallery) {
  if (gallery.empty()) return {};
  std::string out = "<h2>The best</h2>\n<div class=\"plots\">";
  for (const Shown& one : gallery) {
    const Individual& who = *one.individual;
    const std::string caption =
        fmt::format("number {}, generation {}, {} modules: fitness {}. volvox run {}", who.number, who.generation,
                    who.genome.modules(), number(who.fitness()), one.file);
    const std::string picture = one.picture.empty() ? "" : report::html_picture(one.picture, caption);
    out += picture.empty() ? "<figure><figcaption>" + xml_escaped(caption) + "</figcaption></figure>\n" : picture;
    if (!one.film.empty())
      out += report::html_film(one.film, "number " + fmt::format("{}", who.number) + ", its first trial");
  }
  return out + "</div>\n";
}

std::string facts_table(const Evolution& evolution, const PageFacts& facts) {
  const Task& task = evolution.task();
  std::string fitness;
  for (const Objective& objective : task.objectives)
    fitness += fmt::format("{}{} ({} is better)", fitness.empty() ? "" : " + ",
                           std::fabs(objective.weight) == 1
                               ? objective.metric
                               : fmt::format("{} x {}", std::fabs(objective.weight), objective.metric),
                           objective.weight > 0 ? "more" : "less");
  const char* over = task.over == Over::worst ? "worst" : task.over == Over::mean ? "mean" : "median";
  report::Rows rows = {{}};
  rows.push_back({"task", task.name});
  rows.push_back({"experiment", task.experiment});
  rows.push_back(
      {"fitness", fmt::format("{}; {} of {} trials of {} s", fitness, over, task.trials.size(), task.duration)});
  rows.push_back(
      {"algorithm", fmt::format("{}, {} genomes a generation", task.algorithm.name, evolution.population())});
  rows.push_back({"seed", fmt::format("{}", evolution.options().seed)});
  rows.push_back({"generations, trials", fmt::format("{}, {}", evolution.history().size(), evolution.trials())});
  rows.push_back({"simulated", fmt::format("{:.4g} s", evolution.simulated())});
  rows.push_back(
      {"bodies repaired, refused", fmt::format("{}, {}", evolution.repairs().repaired, evolution.repairs().refused)});
  rows.push_back({"hash of the archive", hash_text(evolution.hash())});
  if (facts.wall_time > 0 && facts.trials_here > 0) {
    const double rate = real(facts.trials_here) / facts.wall_time;
    rows.push_back({"here", fmt::format("{:.3g} trials a second, {:.3g} s", rate, facts.wall_time)});
    // Trials are independent of each other, so that a generation takes as long as its share of them.
    rows.push_back(
        {"a million trials",
         fmt::format("{:.3g} hours here; {:.3g} with 100 times these cores, in generations of at least {} genomes",
                     1e6 / rate / 3600, 1e6 / rate / 3600 / 100,
                     100 * std::max(1, evolution.options().trials.threads * evolution.options().trials.jobs))});
  }
  return report::html_table(rows);
}

}  // namespace

std::string evolution_page(const Evolution& evolution, const std::vector<Shown>& gallery, const PageFacts& facts) {
  std::string body;
  if (facts.running) body += "<meta http-equiv=\"refresh\" content=\"5\">\n";
  body += fmt::format("<p class=\"summary\">{}</p>\n", xml_escaped(evolution.task().about));
  const std::string bar = evolution.task().bar ? fmt::format(" The bar is {}.", number(*evolution.task().bar)) : "";
  body += fmt::format("<p>{}{} fitness {} after {} generations.{}</p>\n", facts.running ? "Still running. " : "",
                      evolution.solved() ? "Solved:" : "Best", number(evolution.best().fitness()),
                      evolution.history().size(), bar);
  body += history_charts(evolution) + gallery_of(gallery) + map_of_elites(evolution) + lineage_chart(evolution);
  if (!evolution.failures().empty()) {
    report::Rows rows = {{"what went wrong", "genomes"}};
    for (const auto& [why, count] : evolution.failures()) rows.push_back({why, fmt::format("{}", count)});
    body += "<h2>Unfit</h2>\n" + report::html_table(rows);
  }
  body += "<h2>Facts</h2>\n" + facts_table(evolution, facts);
  return report::html_page("Evolution: " + evolution.task().name, body);
}

}  // namespace volvox::evolve
