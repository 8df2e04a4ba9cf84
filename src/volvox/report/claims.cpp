#include "volvox/report/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "volvox/base/index.h"
#include "volvox/base/json_text.h"
#include "volvox/base/text.h"
#include "volvox/report/table.h"

namespace volvox::report {
namespace {

using nlohmann::json;

constexpr const char* known_keys[] = {"place",       "dt",       "than",     "claim",     "missing",
                                      "experiment",  "set",      "duration", "metric",    "unit",
                                      "paper_value", "at_least", "at_most",  "tolerance", "better",
                                      "chance",      "explains", "picture",  "trials"};

// Reads one claim; the first mistake is kept.
class ClaimReader {
 public:
  explicit ClaimReader(const json& from) : from_(from) {}

  Claim read() {
    Claim claim;
    for (const auto& [key, value] : from_.items())
      if (std::find(std::begin(known_keys), std::end(known_keys), key) == std::end(known_keys))
        fail(fmt::format("there is no key '{}'", key));
    claim.place = text("place"), claim.claim = text("claim");
    claim.missing = text("missing"), claim.explains = text("explains");
    claim.experiment = text("experiment"), claim.metric = text("metric"), claim.unit = text("unit");
    claim.duration = number("duration"), claim.paper_value = number("paper_value");
    claim.at_least = number("at_least"), claim.at_most = number("at_most");
    claim.tolerance = number("tolerance").value_or(0);
    if (from_.contains("chance")) {
      if (from_["chance"].is_boolean()) claim.chance = from_["chance"];
      else fail("chance is true or false");
    }
    if (const auto trials = number("trials")) {
      if (*trials >= 1 && *trials <= 10'000 && *trials == std::floor(*trials)) claim.trials = truncated(*trials);
      else fail("trials is a whole number from 1 to 10000");
    }
    claim.dt = text("dt");
    claim.set = settings("set");
    if (from_.contains("than")) claim.than = settings("than");
    const std::string better = text("better");
    if (better == "less") claim.better = Better::less;
    else if (better == "more") claim.better = Better::more;
    else if (!better.empty()) fail("better is \"less\" or \"more\"");
    if (from_.contains("picture")) claim.picture = picture(from_["picture"]);
    check(claim);
    return claim;
  }
  const std::string& mistake() const { return mistake_; }

 private:
  void fail(const std::string& what) {
    if (mistake_.empty()) mistake_ = what;
  }
  std::string text(const char* key) {
    if (!from_.contains(key)) return {};
    if (from_[key].is_string()) return from_[key];
    fail(fmt::format("{} is not a text", key));
    return {};
  }
  std::optional<double> number(const char* key) {
    if (!from_.contains(key)) return {};
    if (from_[key].is_number()) return from_[key].get<double>();
    fail(fmt::format("{} is not a number", key));
    return {};
  }
  std::map<std::string, std::string> settings(const char* key) {
    std::map<std::string, std::string> read;
    if (!from_.contains(key)) return read;
    if (!from_[key].is_object()) fail(fmt::format("{} is an object, such as {{\"modules\": 5}}", key));
    else
      for (const auto& [name, value] : from_[key].items())
        read[name] = value.is_string() ? value.get<std::string>() : to_json_text(value);
    return read;
  }
  ClaimPicture picture(const json& view) {
    ClaimPicture read;
    const auto is = [&](const char* key, bool (json::*kind)() const noexcept) {
      return !view.contains(key) || (view[key].*kind)();
    };
    const bool good = view.is_object() && view.contains("at") && is("at", &json::is_number) &&
                      is("strobe", &json::is_number_unsigned) && is("camera", &json::is_string);
    if (!good) return fail("picture is an object such as {\"at\": 2.5, \"strobe\": 3, \"camera\": \"right\"}"), read;
    read.at = view["at"];
    read.strobe = std::clamp(view.value("strobe", 1), 1, 100);
    read.camera = view.value("camera", "");
    return read;
  }
  void check(const Claim& claim) {
    if (claim.place.empty() || claim.claim.empty()) fail("place and claim say where in the paper it stands, and what");
    if (!claim.missing.empty()) return;
    if (claim.experiment.empty() || claim.metric.empty()) fail("it needs an experiment and a metric, or missing: why");
    const bool bounds = claim.at_least || claim.at_most;
    if (bounds == claim.paper_value.has_value())
      fail("it needs either paper_value and tolerance, or at_least or at_most");
    if (claim.paper_value && !(claim.tolerance > 0)) fail("tolerance is a positive share of paper_value");
    if (claim.metric != frames_per_second) return;
    const bool other = std::ranges::any_of(claim.set, [](const auto& setting) { return setting.first != "modules"; });
    if (other || claim.than || claim.duration || !claim.dt.empty())
      fail("frames_per_second is measured without duration, dt and than, and set names modules alone");
  }

  const json& from_;
  std::string mistake_;
};

std::string arguments_of(const Claim& claim, std::uint64_t seed, bool than) {
  std::string arguments = claim.experiment;
  for (const auto& [key, value] : than&& claim.than ? *claim.than : claim.set)
    arguments += fmt::format(" --set {}={}", key, value);
  if (claim.duration) arguments += fmt::format(" --duration {}", *claim.duration);
  if (!claim.dt.empty()) arguments += " --dt " + claim.dt;
  return arguments + fmt::format(" --seed {}", seed);
}

}  // namespace

Result<std::vector<Claim>> read_claims(const std::filesystem::path& file) {
  const auto wrong = [&](const std::string& what) {
    return Diagnostic{file.string(), 0, what, "see docs/formats.md, \"Claims\""};
  };
  const auto text = read_file(file);
  if (!text.ok()) return text.error();
  json whole;
  try {
    whole = json::parse(*text);
  } catch (const json::parse_error& error) {  // its text has line and column
    return wrong(error.what());
  }
  if (!whole.is_object() || !whole.contains("paper") || !whole["paper"].is_string() || !whole.contains("claims") ||
      !whole["claims"].is_array())
    return wrong("it is not an object with the texts paper and title and the list claims");
  std::vector<Claim> claims;
  for (std::size_t i = 0; i < whole["claims"].size(); ++i) {
    const json& one = whole["claims"][i];
    if (!one.is_object()) return wrong(fmt::format("claim {} is not an object", i + 1));
    ClaimReader reader(one);
    claims.push_back(reader.read());
    claims.back().paper = whole["paper"];
    if (whole.contains("title") && whole["title"].is_string()) claims.back().title = whole["title"];
    if (!reader.mistake().empty())
      return wrong(fmt::format("claim {} ({}): {}", i + 1, claims.back().place, reader.mistake()));
  }
  return claims;
}

const char* name(Verdict verdict) {
  constexpr const char* names[] = {"agrees", "better", "differs", "failed", "missing"};
  return names[number_of(verdict)];
}

Median median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  Median median;
  median.value = n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
  // As many values are left out at each end as the median is beyond with at most 2.5 %: a coin that falls so often.
  double chance = std::pow(0.5, real(n)), below = 0;
  std::size_t left_out = 0;
  while (left_out < n / 2 && below + chance <= 0.025) {
    below += chance;
    ++left_out;
    chance *= real(n - left_out + 1) / real(left_out);
  }
  const std::size_t first = left_out > 0 ? left_out - 1 : 0;
  median.low = values[first];
  median.high = values[n - 1 - first];
  return median;
}

Judgement judge(const Claim& claim, std::span<const double> values) {
  Judgement judgement;
  if (!claim.missing.empty()) {
    judgement.why = claim.missing;
    return judgement;
  }
  judgement.seeds = values.size();
  for (const double value : values)
    if (std::isfinite(value)) judgement.values.push_back(value);
  if (!judgement.values.empty()) judgement.median = median_of(judgement.values);
  if (judgement.values.size() < values.size() || values.empty()) {
    judgement.verdict = Verdict::failed;
    judgement.why = fmt::format("{} of {} runs failed or measured no {}", values.size() - judgement.values.size(),
                                values.size(), claim.metric);
    return judgement;
  }
  if (!claim.paper_value) {
    const auto breaks = [&](double v) {
      return (claim.at_least && v < *claim.at_least) || (claim.at_most && v > *claim.at_most);
    };
    const auto broken = std::count_if(judgement.values.begin(), judgement.values.end(), breaks);
    judgement.verdict = broken == 0 ? Verdict::agrees : Verdict::differs;
    if (broken > 0) judgement.why = fmt::format("{} of {} seeds", broken, values.size());
    return judgement;
  }
  const double paper = *claim.paper_value, width = claim.tolerance * std::fabs(paper);
  const Median& median = *judgement.median;
  if (median.low <= paper + width && median.high >= paper - width) judgement.verdict = Verdict::agrees;
  else if ((claim.better == Better::less && median.value < paper) ||
           (claim.better == Better::more && median.value > paper))
    judgement.verdict = Verdict::better;
  else judgement.verdict = Verdict::differs;
  return judgement;
}

std::string rule_of(const Claim& claim) {
  const std::string unit = claim.unit.empty() ? "" : " " + claim.unit;
  if (claim.paper_value)
    return fmt::format("within {:g} % of {}{}{}", 100 * claim.tolerance, number(*claim.paper_value), unit,
                       claim.better == Better::less   ? ", less is better"
                       : claim.better == Better::more ? ", more is better"
                                                      : "");
  std::string text;
  if (claim.at_least) text = fmt::format("at least {}", number(*claim.at_least));
  if (claim.at_most) text += fmt::format("{}at most {}", text.empty() ? "" : ", ", number(*claim.at_most));
  return text + unit;
}

std::string command_of(const Claim& claim, std::uint64_t seed, bool than) {
  if (claim.experiment.empty()) return {};
  if (claim.metric == frames_per_second)
    return "volvox bench view" + (claim.set.contains("modules") ? " --n " + claim.set.at("modules") : "") + " " +
           claim.experiment;
  return "volvox run " + arguments_of(claim, seed, than);
}

std::string picture_command_of(const Claim& claim, std::uint64_t seed) {
  std::string command = fmt::format("volvox picture {} --at {}", arguments_of(claim, seed, false), claim.picture->at);
  if (claim.picture->strobe > 1) command += fmt::format(" --strobe {}", claim.picture->strobe);
  if (!claim.picture->camera.empty()) command += fmt::format(" --camera {}", claim.picture->camera);
  return command + " -o FILE";
}

}  // namespace volvox::report
