#include "volvox/model/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "volvox/base/text.h"
#include "volvox/model/expression.h"
#include "volvox/model/names.h"

namespace volvox::model {
namespace {

// A ${...} in a text, outside of comments.
struct Hole {
  std::size_t begin = 0, end = 0;
  std::string_view inside;
  bool closed = true;
};

std::vector<Hole> holes_of(std::string_view text) {
  std::vector<Hole> holes;
  std::size_t at = 0;
  for (std::size_t dollar; (dollar = text.find("${", at)) != std::string_view::npos;) {
    if (const std::size_t comment = text.find("<!--", at); comment < dollar) {
      at = std::min(text.find("-->", comment), text.size());
      continue;
    }
    const std::size_t close = text.find_first_of("}\n", dollar);
    const bool closed = close != std::string_view::npos && text[close] == '}';
    holes.push_back({dollar, closed ? close + 1 : dollar + 2, {}, closed});
    if (closed) holes.back().inside = text.substr(dollar + 2, close - dollar - 2);
    at = holes.back().end;
  }
  return holes;
}

void report_at(std::string_view text, std::size_t at, const std::string& what, const std::string& fix, Report& report) {
  const std::string_view before = text.substr(0, at);
  const std::size_t line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  report.error(1 + narrow<int>(std::count(before.begin(), before.end(), '\n')),
               fmt::format("column {}: {}", at - line_begin + 1, what), fix);
}

// Where ${index} has a meaning: in a <volvox:parameter> of a <volvox:population>.
bool is_in_population(std::string_view text, std::size_t at) {
  const std::size_t tag = text.rfind('<', at), open = text.rfind("<volvox:population", at);
  if (tag == std::string_view::npos || open == std::string_view::npos) return false;
  if (!text.substr(tag).starts_with("<volvox:parameter")) return false;
  const std::size_t close = text.rfind("</volvox:population", at), end = text.find('>', open);
  return (close == std::string_view::npos || close < open) && end < at && text[end - 1] != '/';
}

// Whether a place is within a <volvox:module> or <volvox:population>.
bool is_in_module(std::string_view text, std::size_t at) {
  for (const std::string_view name : {"volvox:module", "volvox:population"}) {
    const std::size_t open = text.rfind(fmt::format("<{}", name), at);
    if (open == std::string_view::npos) continue;
    const std::size_t tag_end = text.find('>', open), close = text.find(fmt::format("</{}", name), open);
    const bool alone = tag_end != std::string_view::npos && text[tag_end - 1] == '/';
    if (at < (alone ? tag_end : close)) return true;
  }
  return false;
}

// Marks the parameters that only modules use.
void mark_those_of_modules(std::string_view text, std::vector<ParameterDesc>& parameters) {
  for (ParameterDesc& p : parameters) {
    bool used = false, elsewhere = false;
    for (const Hole& hole : holes_of(text)) {
      if (!mentions(hole.inside, p.name)) continue;
      used = true;
      elsewhere |= !is_in_module(text, hole.begin);
    }
    p.of_modules = used && !elsewhere;
  }
}

std::string range_text(const ParameterDesc& p) {
  const char* kind = p.whole ? "whole number" : "number";
  if (p.min && p.max) return fmt::format("a {} from {} to {}", kind, *p.min, *p.max);
  if (p.min) return fmt::format("a {} of at least {}", kind, *p.min);
  if (p.max) return fmt::format("a {} of at most {}", kind, *p.max);
  if (p.whole) return "a whole number";
  std::string choices;
  for (const std::string& choice : p.choices) choices += (choices.empty() ? "" : ", ") + choice;
  return "one of: " + choices;
}

bool allows(const ParameterDesc& p, const std::string& value) {
  if (!p.choices.empty()) return std::find(p.choices.begin(), p.choices.end(), value) != p.choices.end();
  if (!p.min && !p.max && !p.whole) return true;
  const std::optional<double> number = parse_number(value);
  // Only digits, because the value may later be parsed as an integer, which 1e2 is not.
  const bool digits = value.find_first_not_of("0123456789", value.starts_with('-') ? 1 : 0) == std::string::npos;
  if (p.whole && !digits) return false;
  return number && (!p.min || *number >= *p.min) && (!p.max || *number <= *p.max);
}

bool is_expression(const std::string& value) { return value.find("${") != std::string::npos; }

bool is_one_line(const std::string& value) {
  return std::none_of(value.begin(), value.end(), [](unsigned char c) { return c < 0x20; });
}

ParameterDesc read_parameter(const XMLElement& element, Report& report) {
  const Attributes attributes(element, report);
  ParameterDesc p;
  p.line = element.GetLineNum();
  p.name = attributes.required("name");
  if (!p.name.empty() && !is_identifier(p.name)) {
    report.error(element, fmt::format("\"{}\" cannot be the name of a parameter", p.name),
                 "use letters, digits and _ only");
  }
  if (!attributes.has("value")) attributes.required("value");
  p.value = attributes.text("value");
  if (attributes.has("min")) p.min = attributes.number("min", 0, Range::any());
  if (attributes.has("max")) p.max = attributes.number("max", 0, Range::any());
  p.whole = attributes.flag("whole", false);
  p.choices = split_words(attributes.text("choices"));
  p.description = text_of(&element);
  if (!p.choices.empty() && (p.min || p.max || p.whole)) {
    report.error(element, fmt::format("parameter {} has both choices= and a range", p.name), "keep one of them");
  } else if (!p.name.empty() && !is_expression(p.value) && !allows(p, p.value)) {
    report.error(element, fmt::format("the default \"{}\" of parameter {} is not {}", p.value, p.name, range_text(p)),
                 "change value=, or the range");
  }
  return p;
}

}  // namespace

std::vector<ParameterDesc> parameters_of(const XMLElement& world, const std::string& text, Report& report) {
  std::vector<ParameterDesc> parameters;
  for (const XMLElement* element : children(world, "volvox:parameter")) {
    ParameterDesc p = read_parameter(*element, report);
    const bool taken =
        std::any_of(parameters.begin(), parameters.end(), [&](const ParameterDesc& q) { return q.name == p.name; });
    if (taken)
      report.error(*element, fmt::format("there are two parameters named {}", p.name), "give each its own name");
    parameters.push_back(std::move(p));
  }
  const std::size_t declared = parameters.size();
  for (const Hole& hole : holes_of(text)) {  // ${name:-default} declares a parameter, too
    if (hole.inside.find("${") != std::string_view::npos) {
      report_at(text, hole.begin, fmt::format("{}{}}} has a ${{...}} within another", "${", hole.inside),
                "declare the inner value, as in <volvox:parameter name=\"b\" value=\"${a}\"/>, and write ${b}", report);
      continue;
    }
    const std::size_t colon = hole.inside.find(":-");
    const std::string name(hole.inside.substr(0, colon));
    if (colon == std::string_view::npos || !is_identifier(name)) continue;
    const std::string value(hole.inside.substr(colon + 2));
    const auto known =
        std::find_if(parameters.begin(), parameters.end(), [&](const ParameterDesc& q) { return q.name == name; });
    const int line = 1 + narrow<int>(std::count(text.begin(), text.begin() + hole.begin, '\n'));
    if (known == parameters.end()) parameters.push_back({name, value, {}, {}, {}, "", line});
    else if (std::cmp_greater_equal(known - parameters.begin(), declared) && known->value != value)
      report_at(text, hole.begin,
                fmt::format("the default of {} is {} here, but {} in line {}", name, value, known->value, known->line),
                fmt::format("give it once, or declare it with <volvox:parameter name=\"{}\" .../>", name), report);
  }
  mark_those_of_modules(text, parameters);
  return parameters;
}

Result<std::map<std::string, std::string>> settle_values(const std::vector<ParameterDesc>& parameters,
                                                         const std::map<std::string, std::string>& settings,
                                                         const std::string& file) {
  Error error;
  const std::vector<std::string> names = names_of(parameters);
  for (const auto& [key, value] : settings) {
    if (std::find(names.begin(), names.end(), key) == names.end())
      error.add({file, 0, fmt::format("there is no parameter {} to set", key),
                 names.empty() ? "this file has no parameters; leave the setting out" : suggest(key, names)});
  }
  std::map<std::string, std::string> given = settings, values;
  for (const ParameterDesc& p : parameters) given.emplace(p.name, p.value);
  for (const ParameterDesc& p : parameters) {
    const Expanded expanded = expand(given.at(p.name), given);
    if (const auto* wrong = std::get_if<ExpressionError>(&expanded)) {
      error.add({file, p.line, fmt::format("{}={}: {}", p.name, given.at(p.name), wrong->what), wrong->fix});
      continue;
    }
    const std::string& value = values[p.name] = std::get<std::string>(expanded);
    if (const auto set = settings.find(p.name); !p.settled.empty() && set != settings.end() && set->second != p.value)
      error.add({file, p.line, fmt::format("{}={} would change nothing: {}", p.name, set->second, p.settled),
                 fmt::format("leave {} out", p.name)});
    else if (!allows(p, value))
      error.add({file, p.line, fmt::format("{}={}: the value of {} is not {}", p.name, value, p.name, range_text(p)),
                 fmt::format("give {} {}", p.name, range_text(p))});
    else if (!is_one_line(value))
      error.add({file, p.line, fmt::format("the value of {} contains a line break or a control character", p.name),
                 "give one line of text"});
  }
  if (!error.empty()) return error;
  return values;
}

std::string substitute(const std::string& text, const std::map<std::string, std::string>& values, Report& report) {
  std::string result;
  result.reserve(text.size());
  std::size_t at = 0;
  for (const Hole& hole : holes_of(text)) {
    result.append(text, at, hole.begin - at);
    at = hole.end;
    if (!hole.closed) {
      report_at(text, hole.begin, "${ begins a parameter, but no } follows in this line", "write ${name}", report);
      continue;
    }
    const bool per_index = mentions(hole.inside, "index") && !values.contains("index");
    if (per_index && !is_in_population(text, hole.begin)) {
      report_at(text, hole.begin, "index has no meaning here",
                "use it in a <volvox:parameter> of a <volvox:population>, or declare a parameter of that name", report);
      continue;
    }
    std::map<std::string, std::string> known = values;
    if (per_index) known["index"] = "0";  // to find mistakes where they are
    const auto value = evaluate(hole.inside, known);
    if (const auto* error = std::get_if<ExpressionError>(&value))
      report_at(text, hole.begin + 2 + error->at, error->what, error->fix, report);
    else if (per_index) result.append(text, hole.begin, hole.end - hole.begin);  // for expand_index()
    else result += xml_escaped(std::get<std::string>(value));
  }
  result.append(text, at, std::string::npos);
  return result;
}

bool uses_index(const Mind& mind) {
  return std::any_of(mind.parameters.begin(), mind.parameters.end(),
                     [](const auto& parameter) { return is_expression(parameter.second); }) ||
         std::any_of(mind.further.begin(), mind.further.end(), uses_index);
}

void expand_index(Mind& mind, std::int64_t index, std::map<std::string, std::string> values, Report& report) {
  values["index"] = std::to_string(index);
  for (auto& [name, text] : mind.parameters) {
    if (!is_expression(text)) continue;
    const auto value = expand(text, values);
    if (const auto* error = std::get_if<ExpressionError>(&value))
      report.error(mind.line, fmt::format("parameter {} of module {}: {}", name, index, error->what), error->fix);
    else text = std::get<std::string>(value);
  }
  for (Mind& more : mind.further) expand_index(more, index, values, report);
}

}  // namespace volvox::model
