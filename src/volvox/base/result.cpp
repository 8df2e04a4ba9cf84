#include "volvox/base/result.h"

#include <algorithm>
#include <numeric>

namespace volvox {

std::string Diagnostic::text() const {
  std::string text;
  if (!file.empty()) {
    text += file;
    if (line > 0) text += ":" + std::to_string(line);
    text += ": ";
  }
  text += what;
  if (!fix.empty()) text += "\n  fix: " + fix;
  return text;
}

std::string Error::text() const {
  // One mistake may be found many times, once for each module that has it.
  std::vector<std::string> said;
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics_) {
    const std::string one = diagnostic.text();
    if (std::find(said.begin(), said.end(), one) != said.end()) continue;
    said.push_back(one);
    text += (text.empty() ? "" : "\n") + one;
  }
  return text;
}

void detail::value_of_failure(const Error& error) {
  const std::string message = "value() of a failed Result, whose error is: " + error.text();
  check_failed("ok()", message.c_str(), __FILE__, __LINE__);
}

namespace {

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(const std::string& wanted, const std::vector<std::string>& candidates) {
  std::string best;
  // With more than a third of the letters wrong it is not a typing error.
  std::size_t best_distance = wanted.size() / 3 + 2;
  for (const std::string& candidate : candidates) {
    // A name without its folder ("snake" for "remod3d/snake") matches best.
    if (candidate.ends_with("/" + wanted)) return candidate;
    const std::size_t distance = edit_distance(wanted, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace volvox
