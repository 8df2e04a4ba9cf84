#include "volvox/model/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "volvox/base/math.h"
#include "volvox/model/xml.h"

namespace volvox::model {
namespace {

constexpr int deepest = 32;  // parentheses, and values within values

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

std::variant<std::string, ExpressionError> evaluate(std::string_view text,
                                                    const std::map<std::string, std::string>& values, int depth);

std::variant<std::string, ExpressionError> expand(std::string_view text,
                                                  const std::map<std::string, std::string>& values, int depth) {
  if (depth > deepest)
    return ExpressionError{0, "parameters refer to each other in a circle", "give one of them a plain value"};
  std::string result;
  std::size_t at = 0;
  for (std::size_t dollar; (dollar = text.find("${", at)) != std::string_view::npos;) {
    const std::size_t close = text.find('}', dollar);
    if (close == std::string_view::npos) return ExpressionError{dollar, "${ has no }", "write ${name}"};
    auto value = evaluate(text.substr(dollar + 2, close - dollar - 2), values, depth);
    if (auto* error = std::get_if<ExpressionError>(&value)) return error->at += dollar + 2, *error;
    result += std::string(text.substr(at, dollar - at)) + std::get<std::string>(value);
    at = close + 1;
  }
  return result + std::string(text.substr(at));
}

// A parser by recursive descent. The first error ends it.
class Arithmetic {
 public:
  Arithmetic(std::string_view text, const std::map<std::string, std::string>& values, int depth)
      : text_(text), values_(values), depth_(depth) {}

  std::variant<std::string, ExpressionError> result() {
    const double value = sum();
    skip_spaces();
    if (at_ < text_.size()) fail(at_, fmt::format("'{}' is not expected here", text_[at_]), "write it as a*(b+c)");
    if (!error_ && !std::isfinite(value))
      fail(0, "the result is not a finite number", "see whether something is divided by zero");
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
      else if (take('/')) value /= factor();
      else if (take('%')) value = std::fmod(value, factor());
      else return value;
    }
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
    if (at_ < text_.size() && is_letter(text_[at_])) {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
      const std::string name(text_.substr(begin, at_ - begin));
      return take('(') ? function(name, begin) : parameter(name, begin);
    }
    double value = 0;
    const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code != std::errc())
      return fail(begin, "a number, a parameter or a ( is missing here", "write it as a*(b+c)"), 0;
    at_ = end - text_.data();
    return value;
  }

  double parameter(const std::string& name, std::size_t begin) {
    const auto found = values_.find(name);
    if (found == values_.end()) {
      if (name == "pi") return pi;
      std::vector<std::string> names;
      for (const auto& [known, value] : values_) names.push_back(known);
      fail(begin, fmt::format("there is no parameter {}", name),
           names.empty() ? fmt::format("declare it with <volvox:parameter name=\"{}\" value=\"...\"/>", name)
                         : suggest(name, names));
      return 0;
    }
    const auto value = expand(found->second, values_, depth_ + 1);
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
    if (name == "sqrt") return std::sqrt(x[0]);
    if (name == "abs") return std::fabs(x[0]);
    if (name == "floor") return std::floor(x[0]);
    if (name == "ceil") return std::ceil(x[0]);
    if (name == "round") return std::round(x[0]);
    return name == "sin" ? volvox::sin(x[0]) : volvox::cos(x[0]);
  }

  std::string_view text_;
  const std::map<std::string, std::string>& values_;
  std::size_t at_ = 0;
  int depth_, nested_ = 0;
  std::optional<ExpressionError> error_;
};

std::variant<std::string, ExpressionError> evaluate(std::string_view text,
                                                    const std::map<std::string, std::string>& values, int depth) {
  const std::size_t default_at = text.find(":-");
  const std::string_view name = text.substr(0, default_at);
  if (!is_identifier(name) && default_at != std::string_view::npos)
    return ExpressionError{0, fmt::format("'{}' is not the name of a parameter", name), "write ${name:-default}"};
  if (!is_identifier(name)) return Arithmetic(text, values, depth).result();
  if (const auto found = values.find(std::string(name)); found != values.end()) {
    auto value = expand(found->second, values, depth + 1);
    if (auto* error = std::get_if<ExpressionError>(&value)) error->at = 0;  // it is elsewhere
    return value;
  }
  if (default_at != std::string_view::npos) return std::string(text.substr(default_at + 2));
  return Arithmetic(text, values, depth).result();  // pi, or an error
}

}  // namespace

bool is_identifier(std::string_view name) {
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), is_word);
}

bool mentions(std::string_view expression, std::string_view name) {
  for (std::size_t at = 0; (at = expression.find(name, at)) != std::string_view::npos; at += name.size()) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_word(expression[at - 1])) && (end == expression.size() || !is_word(expression[end])))
      return true;
  }
  return false;
}

std::variant<std::string, ExpressionError> evaluate(std::string_view text,
                                                    const std::map<std::string, std::string>& values) {
  return evaluate(text, values, 0);
}

std::variant<std::string, ExpressionError> expand(std::string_view text,
                                                  const std::map<std::string, std::string>& values) {
  return expand(text, values, 0);
}

}  // namespace volvox::model
