#include "volvox/model/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "volvox/base/text.h"
#include "volvox/model/names.h"

namespace volvox::model {
namespace {

bool is_identifier(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
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
  } else if (!p.name.empty() && !allows(p, p.value)) {
    report.error(element, fmt::format("the default \"{}\" of parameter {} is not {}", p.value, p.name, range_text(p)),
                 "change value=, or the range");
  }
  return p;
}

}  // namespace

std::vector<ParameterDesc> parameters_of(const XMLElement& world, Report& report) {
  std::vector<ParameterDesc> parameters;
  for (const XMLElement* element : children(world, "volvox:parameter")) {
    ParameterDesc p = read_parameter(*element, report);
    const bool taken =
        std::any_of(parameters.begin(), parameters.end(), [&](const ParameterDesc& q) { return q.name == p.name; });
    if (taken)
      report.error(*element, fmt::format("there are two parameters named {}", p.name), "give each its own name");
    parameters.push_back(std::move(p));
  }
  return parameters;
}

Result<void> check_settings(const std::vector<ParameterDesc>& parameters,
                            const std::map<std::string, std::string>& settings, const std::string& file) {
  Error error;
  const std::vector<std::string> names = names_of(parameters);
  for (const auto& [key, value] : settings) {
    const auto found =
        std::find_if(parameters.begin(), parameters.end(), [&](const ParameterDesc& p) { return p.name == key; });
    if (found == parameters.end()) {
      error.add({file, 0, fmt::format("there is no parameter {} to set", key),
                 names.empty() ? "this file has no parameters; leave the setting out" : suggest(key, names)});
    } else if (!allows(*found, value)) {
      error.add({file, found->line,
                 fmt::format("{}={}: the value of {} is not {}", key, value, key, range_text(*found)),
                 fmt::format("give {} {}", key, range_text(*found))});
    } else if (!is_one_line(value)) {
      error.add({file, found->line, fmt::format("the value of {} contains a line break or a control character", key),
                 "give one line of text"});
    }
  }
  if (!error.empty()) return error;
  return {};
}

std::string substitute(const std::string& text, const std::map<std::string, std::string>& values, Report& report) {
  std::string result;
  result.reserve(text.size());
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t dollar = text.find("${", at), comment = text.find("<!--", at);
    if (dollar == std::string::npos) break;
    if (comment < dollar) {
      const std::size_t end = std::min(text.find("-->", comment), text.size());
      result.append(text, at, end - at);
      at = end;
      continue;
    }
    result.append(text, at, dollar - at);
    const std::size_t close = text.find('}', dollar);
    const std::string name = close == std::string::npos ? std::string() : text.substr(dollar + 2, close - dollar - 2);
    const auto found = values.find(name);
    if (found == values.end()) {
      const int line = 1 + narrow<int>(std::count(text.begin(), text.begin() + dollar, '\n'));
      if (is_identifier(name)) {
        report.error(line, fmt::format("there is no parameter {} for ${{{}}}", name, name),
                     names.empty() ? fmt::format("declare it with <volvox:parameter name=\"{}\" value=\"...\"/>", name)
                                   : suggest(name, names));
      } else {
        report.error(line, "${ begins a parameter, but no name and } follow", "write ${name}");
      }
      result += "0";
      at = close == std::string::npos ? dollar + 2 : close + 1;
      continue;
    }
    result += xml_escaped(found->second);
    at = close + 1;
  }
  result.append(text, at, std::string::npos);
  return result;
}

}  // namespace volvox::model
