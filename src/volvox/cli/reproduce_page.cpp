#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <set>

#include "volvox/base/csv.h"
#include "volvox/base/index.h"
#include "volvox/base/letters.h"
#include "volvox/base/text.h"
#include "volvox/cli/reproduce.h"
#include "volvox/cli/version.h"
#include "volvox/report/chart.h"
#include "volvox/report/page.h"
#include "volvox/report/table.h"

namespace volvox::cli {
namespace {

using report::Verdict;

constexpr const char* style = R"(<style>
body { max-width: 78rem; }
td.place { white-space: nowrap; } td.place a { color: inherit; } td.strip { min-width: 15rem; } td.strip svg { width: 15rem; }
code { font-size: .75rem; color: #5b6775; overflow-wrap: anywhere; }
td figure.picture { margin: .5rem 0; } td img { max-width: 26rem; width: 100%; } summary { color: #5b6775; cursor: pointer; font-size: .85rem; }
nav ul { list-style: none; padding: 0; } nav li { margin: .15rem 0; }
@media (max-width: 60rem) {
  table, tbody, tr, td { display: block; } th { display: none; } td { border: 0; padding: .1rem 0; }
  tr { border-bottom: 1px solid #e3e8ee; padding: .6rem 0; } td.strip { min-width: 0; } td.place { font-weight: 600; }
}
.agrees { color: #00704f; } .better { color: #0072b2; } .differs { color: #b35900; } .missing { color: #777; }
.agrees, .better, .differs, .missing { font-weight: 600; }
.why { color: #5b6775; font-size: .85rem; }
</style>
)";

// The seeds as dots, the interval of their median as a bar, the paper's number as a line with its tolerance behind it.
std::string strip(const ReproducedClaim& row) {
  const report::Claim& claim = row.claim;
  report::StripChart chart{"seeds beside the paper", row.judgement.values};
  if (const auto& median = row.judgement.median) chart.low = median->low, chart.high = median->high;
  chart.expected = claim.paper_value, chart.agrees_from = claim.at_least, chart.agrees_to = claim.at_most;
  if (claim.paper_value) {
    const double tolerance = claim.tolerance * std::fabs(*claim.paper_value);
    chart.agrees_from = *claim.paper_value - tolerance, chart.agrees_to = *claim.paper_value + tolerance;
  }
  return report::svg(chart, true);
}

std::string anchor(const report::Claim& claim) {
  std::string out = "c" + claim.paper + "-";
  for (const char c : claim.place) out += is_letter_or_digit(c) ? c : '-';
  return out;
}

// What there is to see: the picture, and the figures that the experiment wrote, the first time that a row has them.
std::string seen(const ReproducedClaim& row, std::set<std::string>& shown) {
  std::string out;
  if (!row.picture.empty() && shown.insert(row.picture.string()).second)
    out += report::html_picture(row.picture, row.claim.experiment + ", " + row.claim.place);
  if (row.results.empty() || !shown.insert(row.results.string()).second) return out;
  std::string figures;
  for (const auto& file : report::pictures_in(row.results, 2 << 20))
    figures += report::html_picture(file, file.filename().string());
  if (!figures.empty()) out += fmt::format("<details><summary>figures of one run</summary>{}</details>", figures);
  return out;
}

std::string html_row(const ReproducedClaim& row, bool first_of_place, std::set<std::string>& shown) {
  const report::Claim& claim = row.claim;
  const std::string verdict = name(row.judgement.verdict);
  const bool ran = claim.missing.empty();
  std::string why = row.judgement.why;
  if (!claim.explains.empty()) why += (why.empty() ? "" : ". ") + claim.explains;
  return fmt::format(
      "<tr{}><td class=\"place\"><a href=\"#{}\">{}</a></td><td>{}{}{}</td><td>{}</td><td>{}{}</td><td "
      "class=\"{}\">{}</td><td class=\"strip\">{}</td></tr>\n",
      first_of_place ? fmt::format(" id=\"{}\"", anchor(claim)) : "", anchor(claim), xml_escaped(claim.place),
      xml_escaped(claim.claim), ran ? fmt::format("<br><code>{}</code>", xml_escaped(row.command)) : "",
      seen(row, shown), xml_escaped(ran ? rule_of(claim) : ""), xml_escaped(ran ? measured_text(row) : ""),
      why.empty() ? "" : fmt::format("{}<span class=\"why\">{}</span>", ran ? "<br>" : "", xml_escaped(why)), verdict,
      verdict, ran && !row.judgement.values.empty() ? strip(row) : "");
}

// A line for each paper, with how its claims came out.
std::string contents(const Reproduction& r) {
  std::string list;
  for (auto row = r.claims.begin(); row != r.claims.end();) {
    const auto end = std::find_if(row, r.claims.end(),
                                  [&](const ReproducedClaim& other) { return other.claim.paper != row->claim.paper; });
    std::map<std::string, int> counts;
    for (auto it = row; it != end; ++it) ++counts[name(it->judgement.verdict)];
    std::string how;
    for (const auto& [verdict, count] : counts)
      how += fmt::format("{}<span class=\"{}\">{} {}</span>", how.empty() ? "" : ", ", verdict, count, verdict);
    list += fmt::format("<li><a href=\"#p{0}\">{0} {1}</a>: {2}</li>\n", xml_escaped(row->claim.paper),
                        xml_escaped(row->claim.title), how);
    row = end;
  }
  return "<nav><ul>\n" + list + "</ul></nav>\n";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32] = {};
  if (const std::tm* utc = std::gmtime(&now)) std::strftime(text, sizeof text, "%Y-%m-%d", utc);
  return text;
}

}  // namespace

std::size_t Reproduction::count(Verdict verdict) const {
  return std::count_if(claims.begin(), claims.end(),
                       [&](const ReproducedClaim& claim) { return claim.judgement.verdict == verdict; });
}

std::string measured_text(const ReproducedClaim& row) {
  const auto& median = row.judgement.median;
  if (!median) return "-";
  const std::string unit = row.claim.unit.empty() ? "" : " " + row.claim.unit;
  const std::size_t seeds = row.judgement.seeds;
  if (median->low == median->high)
    return fmt::format("{}{}, {}", report::number(median->value), unit,
                       seeds == 1 ? "1 seed" : fmt::format("{} seeds", seeds));
  return fmt::format("{}{} [{}, {}], {} seeds", report::number(median->value), unit, report::number(median->low),
                     report::number(median->high), seeds);
}

std::string reproduction_page(const Reproduction& r) {
  std::string body = style;
  body += fmt::format(
      "<p class=\"summary\">{} claims: {} agree, {} better, {} differ, {} failed, {} missing. Volvox {}, {}; seeds {} "
      "to "
      "{}.</p>\n",
      r.claims.size(), r.count(Verdict::agrees), r.count(Verdict::better), r.count(Verdict::differs),
      r.count(Verdict::failed), r.count(Verdict::missing), version, today(), r.first_seed, r.first_seed + r.seeds - 1);
  body +=
      "<p>The rule: a claim with a number <b>agrees</b> if the interval of our median (95 %, distribution-free; of "
      "fewer "
      "than six seeds their range) reaches into the paper's number plus or minus its tolerance; it is <b>better</b> "
      "beyond "
      "that on the side that is better, and <b>differs</b> otherwise. A claim in words agrees if every seed keeps its "
      "bound. A claim <b>failed</b> if a seed measured nothing. In the plots: dots are seeds, the bar is the interval, "
      "the "
      "line is the paper's number, green is where a value agrees.</p>\n";
  body += contents(r);
  std::string paper;
  std::set<std::string> places, shown;
  for (const ReproducedClaim& row : r.claims) {
    if (row.claim.paper != paper) {
      if (!paper.empty()) body += "</table>\n";
      paper = row.claim.paper;
      body += fmt::format(
          "<h2 id=\"p{0}\">{0} {1}</h2>\n<table><tr><th>place</th><th>the paper</th><th>agrees if</th><th>Volvox</th>"
          "<th>verdict</th><th>seeds</th></tr>\n",
          xml_escaped(paper), xml_escaped(row.claim.title));
    }
    body += html_row(row, places.insert(anchor(row.claim)).second, shown);
  }
  if (!paper.empty()) body += "</table>\n";
  return report::html_page("What the papers claim, and what Volvox measures", body);
}

std::string reproduction_markdown(const Reproduction& r) {
  report::Rows rows = {{"paper", "place", "claim", "paper", "Volvox, median [interval], seeds", "verdict", "why"}};
  const auto cell = [](std::string text) {  // a bar would end the cell
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
    return text;
  };
  for (const ReproducedClaim& row : r.claims) {
    const report::Claim& claim = row.claim;
    const bool unlike = row.judgement.verdict != Verdict::agrees && row.judgement.verdict != Verdict::better;
    rows.push_back({claim.paper, claim.place, cell(claim.claim),
                    claim.paper_value ? report::number(*claim.paper_value) : "",
                    claim.missing.empty() ? measured_text(row) : "", name(row.judgement.verdict),
                    unlike ? cell(claim.missing.empty() ? claim.explains : claim.missing) : ""});
  }
  return fmt::format(
      "# What the papers claim, and what came out\nWritten by `volvox reproduce`, Volvox {}, {}; up to {} seeds from "
      "{} "
      "on. {} claims: {} agree, {} better, {} differ, {} failed, {} missing.\nReal-time rows depend on the machine. "
      "The "
      "rule is in docs/formats.md, \"Claims\"; index.html, which the command writes beside this, has a plot and a "
      "picture a row.\n\n{}",
      version, today(), r.seeds, r.first_seed, r.claims.size(), r.count(Verdict::agrees), r.count(Verdict::better),
      r.count(Verdict::differs), r.count(Verdict::failed), r.count(Verdict::missing), report::markdown_table(rows));
}

std::string reproduction_csv(const Reproduction& r) {
  Csv csv{"paper", "place", "claim", "paper_value", "value", "low", "high", "seeds", "unit", "verdict", "command"};
  const auto number = [](std::optional<double> value) { return value ? fmt::format("{}", *value) : std::string(); };
  for (const ReproducedClaim& row : r.claims) {
    const auto& median = row.judgement.median;
    const auto part = [&](double report::Median::*which) { return median ? number((*median).*which) : std::string(); };
    csv.row(row.claim.paper, row.claim.place, row.claim.claim, number(row.claim.paper_value),
            part(&report::Median::value), part(&report::Median::low), part(&report::Median::high), row.judgement.seeds,
            row.claim.unit, name(row.judgement.verdict), row.command);
  }
  return csv.text();
}

}  // namespace volvox::cli
