#include "volvox/base/parameters.h"
#include "volvox/base/parse.h"

#include <fmt/format.h>

namespace volvox {
namespace {

template <class Number>
bool read_number(std::string_view text, Number& number) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto read = to_number<Number>(text);
  if (read) number = *read;
  return read.has_value();
}

}  // namespace

template <class Value>
const std::string* Parameters::ask(const std::string& key, const Value& fallback) const {
  if (asked_.insert(key).second) defaults_[key] = fmt::format("{}", fallback);
  const auto it = values_.find(key);
  return it == values_.end() ? nullptr : &it->second;
}

void Parameters::bad(const std::string& key, const std::string& value, const std::string& wanted) const {
  error_.add(Diagnostic{file_, line_, fmt::format("{}: '{}' is '{}'", owner_, key, value), "give " + wanted});
}

double Parameters::number(const std::string& key, double fallback, double low, double high) const {
  const std::string* value = ask(key, fallback);
  if (value == nullptr) return fallback;
  double number = 0;
  if (read_number(*value, number) && std::isfinite(number) && number >= low && number <= high) return number;
  bad(key, *value,
      low <= -1e300 && high >= 1e300 ? "a number"
      : high >= 1e300                ? fmt::format("a number of at least {}", low)
                                     : fmt::format("a number from {} to {}", low, high));
  return fallback;
}

std::int64_t Parameters::integer(const std::string& key, std::int64_t fallback, std::int64_t low,
                                 std::int64_t high) const {
  const std::string* value = ask(key, fallback);
  if (value == nullptr) return fallback;
  std::int64_t number = 0;
  if (read_number(*value, number) && number >= low && number <= high) return number;
  bad(key, *value,
      low == INT64_MIN && high == INT64_MAX ? "a whole number"
      : high == INT64_MAX                   ? fmt::format("a whole number of at least {}", low)
                                            : fmt::format("a whole number from {} to {}", low, high));
  return fallback;
}

bool Parameters::flag(const std::string& key, bool fallback) const {
  const std::string* value = ask(key, fallback);
  if (value == nullptr) return fallback;
  if (*value == "true" || *value == "1") return true;
  if (*value == "false" || *value == "0") return false;
  bad(key, *value, "true or false");
  return fallback;
}

std::string Parameters::text(const std::string& key, const std::string& fallback) const {
  const std::string* value = ask(key, fallback);
  return value == nullptr ? fallback : *value;
}

Result<void> Parameters::check(bool all_asked) const {
  Error error = error_;
  if (all_asked) {
    const std::vector<std::string> known(asked_.begin(), asked_.end());
    for (const auto& [key, value] : values_) {
      if (asked_.contains(key)) continue;
      const std::string nearest = nearest_name(key, known);
      std::string all;
      for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
      error.add(Diagnostic{file_, line_, fmt::format("{} has no parameter '{}'", owner_, key),
                           nearest.empty() ? (all.empty() ? "remove it" : "use one of: " + all)
                                           : fmt::format("did you mean '{}'?", nearest)});
    }
  }
  if (!error.empty()) return error;
  return {};
}

}  // namespace volvox
