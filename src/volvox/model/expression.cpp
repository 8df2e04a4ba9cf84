#include "volvox/model/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "volvox/base/letters.h"
#include "volvox/base/math.h"
#include "volvox/model/xml.h"

namespace volvox::model {
namespace {

constexpr int deepest = 32;               // parentheses, and values within values
constexpr std::size_t longest = 1 << 16;  // characters of a text with all its values

bool begins_word(char c) { return is_letter(c) || c == '_'; }
bool is_word(char c) { return is_letter_or_digit(c) || c == '_'; }

// The values of parameters, each expanded once: without that, parameters that use others twice would take
// exponential time and memory.
class Lookup {
 public:
  explicit Lookup(const std::map<std::string, std::string>& values) : values_(values) {}

  bool has(const std::string& name) const { return values_.contains(name); }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, value] : values_) all.push_back(name);
    return all;
  }
  Expanded value(const std::string& name);

 private:
  const std::map<std::string, std::string>& values_;
  std::map<std::string, Expanded> expanded_;
  int depth_ = 0;
};

Expanded evaluate(std::string_view text, Lookup& values);

Expanded expand(std::string_view text, Lookup& values) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t dollar; (dollar = text.find("${", at)) != std::string_view::npos;) {
    const std::size_t close = text.find('}', dollar);
    if (close == std::string_view::npos) return ExpressionError{dollar, "${ has no }", "write ${name}"};
    Expanded value = evaluate(text.substr(dollar + 2, close - dollar - 2), values);
    if (auto* error = std::get_if<ExpressionError>(&value)) return error->at += dollar + 2, *error;
    result += std::string(text.substr(at, dollar - at)) + std::get<std::string>(value);
    if (result.size() > longest)
      return ExpressionError{dollar, fmt::format("the text is longer than {} characters", longest), "make it shorter"};
    at = close + 1;
  }
  return result + std::string(text.substr(at));
}

Expanded Lookup::value(const std::string& name) {
  if (const auto found = expanded_.find(name); found != expanded_.end()) return found->second;
  if (depth_ == deepest)
    return ExpressionError{0, "parameters refer to each other in a circle, or too deeply",
                           "give one of them a plain value"};
  ++depth_;
  const Expanded value = expand(values_.at(name), *this);
  --depth_;
  return expanded_[name] = value;
}

constexpr const char* how_to_write =
    "write it as a*(b+c), with + - * / % and the functions of docs/formats.md; there are no comparisons";

// A parser by recursive descent. The first error ends it.
class Arithmetic {
 public:
  Arithmetic(std::string_view text, Lookup& values) : text_(text), values_(values) {}

  Expanded result() {
    const double value = sum();
    skip_spaces();
    if (at_ < text_.size()) fail(at_, fmt::format("'{}' is not expected here", text_[at_]), how_to_write);
    if (!error_ && !std::isfinite(value))
      fail(0, "the result is not a finite number", "see whether a number is too large");
    if (error_) return *error_;
    // Whole numbers stay whole: they may count modules.
    return value == std::round(value) && std::fabs(value) < 1e15 ? fmt::format("{:.0f}", value + 0.0)
                                                                 : fmt::format("{}", value);
  }

 private:
  void fail(std::size_t at, std::string what, std::string fix) {
    if (!error_) error_ = ExpressionError{at, std::move(what), std::move(fix)};
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip_spaces();
    if (error_ || at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  double sum() {
    double value = product();
    while (true) {
      if (take('+')) value += product();
      else if (take('-')) value -= product();
      else return value;
    }
  }

  double product() {
    double value = factor();
    while (true) {
      if (take('*')) value *= factor();
      else if (take('/')) value /= divisor();
      else if (take('%')) value = std::fmod(value, divisor());
      else return value;
    }
  }

  double divisor() {
    const std::size_t begin = at_;
    const double value = factor();
    if (value == 0) fail(begin, "this divides by zero", "give another number");
    return value == 0 ? 1 : value;
  }

  double factor() {
    if (++nested_ > deepest) fail(at_, "this is nested too deeply", "use fewer parentheses and signs");
    const double value = error_ ? 0 : take('-') ? -factor() : take('+') ? factor() : primary();
    --nested_;
    return value;
  }

  double primary() {
    if (take('(')) {
      const double value = sum();
      if (!take(')')) fail(at_, "a ( is not closed", "add )");
      return value;
    }
    skip_spaces();
    const std::size_t begin = at_;
    if (at_ < text_.size() && begins_word(text_[at_])) {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
      const std::string name(text_.substr(begin, at_ - begin));
      return take('(') ? function(name, begin) : parameter(name, begin);
    }
    double value = 0;
    const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code == std::errc::result_out_of_range)
      return fail(begin, "this number is too large or too small", "use numbers up to 1e308"), 0;
    if (code != std::errc()) return fail(begin, "a number, a parameter or a ( is missing here", how_to_write), 0;
    at_ = end - text_.data();
    return value;
  }

  double parameter(const std::string& name, std::size_t begin) {
    if (!values_.has(name)) {
      if (name == "pi") return pi;
      const std::vector<std::string> names = values_.names();
      fail(begin, fmt::format("there is no parameter {}", name),
           names.empty() ? fmt::format("declare it with <volvox:parameter name=\"{}\" value=\"...\"/>", name)
                         : suggest(name, names));
      return 0;
    }
    const Expanded value = values_.value(name);
    if (const auto* error = std::get_if<ExpressionError>(&value)) return fail(begin, error->what, error->fix), 0;
    const auto number = parse_number(std::get<std::string>(value));
    if (!number)
      fail(begin, fmt::format("{} is '{}', which is not a number", name, std::get<std::string>(value)),
           "calculate with numbers only");
    return number.value_or(0);
  }

  double function(const std::string& name, std::size_t begin) {
    std::vector<double> x = {sum()};
    while (take(',')) x.push_back(sum());
    if (!take(')')) fail(at_, "a ( is not closed", "add )");
    const std::vector<std::string> of_one = {"sqrt", "abs", "floor", "ceil", "round", "sin", "cos"};
    const bool one = std::find(of_one.begin(), of_one.end(), name) != of_one.end();
    if (!one && name != "min" && name != "max")
      return fail(begin, fmt::format("there is no function {}", name),
                  suggest(name, {"sqrt", "abs", "floor", "ceil", "round", "sin", "cos", "min", "max"})),
             0;
    if (one && x.size() != 1) return fail(begin, fmt::format("{} has one argument", name), "leave out the others"), 0;
    if (name == "min") return *std::min_element(x.begin(), x.end());
    if (name == "max") return *std::max_element(x.begin(), x.end());
    if (name == "sqrt" && x[0] < 0) return fail(begin, "the root of a negative number", "give another number"), 0;
    if (name == "sqrt") return std::sqrt(x[0]);
    if (name == "abs") return std::fabs(x[0]);
    if (name == "floor") return std::floor(x[0]);
    if (name == "ceil") return std::ceil(x[0]);
    if (name == "round") return std::round(x[0]);
    return name == "sin" ? volvox::sin(x[0]) : volvox::cos(x[0]);
  }

  std::string_view text_;
  Lookup& values_;
  std::size_t at_ = 0;
  int nested_ = 0;
  std::optional<ExpressionError> error_;
};

Expanded evaluate(std::string_view text, Lookup& values) {
  const std::size_t default_at = text.find(":-");
  const std::string name(text.substr(0, default_at));
  if (!is_identifier(name) && default_at != std::string_view::npos)
    return ExpressionError{0, fmt::format("'{}' is not the name of a parameter", name), "write ${name:-default}"};
  if (!is_identifier(name)) return Arithmetic(text, values).result();
  if (values.has(name)) {
    Expanded value = values.value(name);
    if (auto* error = std::get_if<ExpressionError>(&value)) error->at = 0;  // it is elsewhere
    return value;
  }
  if (default_at != std::string_view::npos) return std::string(text.substr(default_at + 2));
  return Arithmetic(text, values).result();  // pi, or an error
}

}  // namespace

bool is_identifier(std::string_view name) {
  return !name.empty() && begins_word(name[0]) && std::all_of(name.begin(), name.end(), is_word);
}

bool mentions(std::string_view expression, std::string_view name) {
  if (name.empty()) return false;  // of a parameter whose name was forgotten
  for (std::size_t at = 0; (at = expression.find(name, at)) != std::string_view::npos; at += name.size()) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_word(expression[at - 1])) && (end == expression.size() || !is_word(expression[end])))
      return true;
  }
  return false;
}

Expanded evaluate(std::string_view text, const std::map<std::string, std::string>& values) {
  Lookup lookup(values);
  return evaluate(text, lookup);
}

Expanded expand(std::string_view text, const std::map<std::string, std::string>& values) {
  Lookup lookup(values);
  return expand(text, lookup);
}

}  // namespace volvox::model
