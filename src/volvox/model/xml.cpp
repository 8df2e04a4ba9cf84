#include "volvox/model/xml.h"
#include "volvox/base/parse.h"

#include <fmt/format.h>

#include <cmath>

namespace volvox::model {
namespace {

constexpr std::size_t max_diagnostics = 50;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

void Report::error(int line, std::string what, std::string fix) {
  if (error_.diagnostics().size() < max_diagnostics) error_.add({file_, line, std::move(what), std::move(fix)});
}

void Report::error(const Error& other) {
  if (error_.diagnostics().size() < max_diagnostics) error_.add(other);
}

void Report::warn(int line, std::string what, std::string fix) {
  if (warnings_.size() < max_diagnostics) warnings_.push_back({file_, line, std::move(what), std::move(fix)});
}

bool parse_xml(const std::string& text, tinyxml2::XMLDocument& document, Report& report) {
  if (text.find('\0') != std::string::npos) {
    report.error(0, "this is not a text file: it holds zero bytes", "give an SDF or URDF file");
    return false;
  }
  document.Parse(text.data(), text.size());
  switch (document.ErrorID()) {
    case tinyxml2::XML_SUCCESS: break;
    case tinyxml2::XML_ERROR_EMPTY_DOCUMENT:
      report.error(0, "the file is empty", "write an <sdf> with a <world> or a <model> into it");
      return false;
    case tinyxml2::XML_ERROR_MISMATCHED_ELEMENT:
      report.error(document.ErrorLineNum(), "an element that begins here is not closed by its own end tag",
                   "close each <element> with </element>, innermost first");
      return false;
    case tinyxml2::XML_ERROR_PARSING_ATTRIBUTE:
      report.error(document.ErrorLineNum(), "an attribute of this element is given twice, or is not well-formed",
                   "write each attribute once, as name=\"value\"");
      return false;
    case tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED:
      report.error(document.ErrorLineNum(), "elements are nested too deeply here (more than 100 levels)", "nest less");
      return false;
    default:
      report.error(document.ErrorLineNum(), fmt::format("this is not well-formed XML ({})", document.ErrorName()),
                   "correct the tag, attribute or quotation mark at or before this line");
      return false;
  }
  if (document.RootElement() == nullptr) {
    report.error(0, "the file holds no element", "write an <sdf> with a <world> or a <model> into it");
    return false;
  }
  return true;
}

namespace {

// Iterates over the tags of a text that tinyxml2 has accepted; tinyxml2 itself gives only the line
// of an element, not its position in the text.
class TagScanner {
 public:
  explicit TagScanner(std::string_view text) : text_(text) {}

  struct Tag {
    std::size_t begin = 0, end = 0;
    std::string_view name;
    bool opens = false, closes = false;  // both: <x/>
  };

  bool next(Tag& tag) {
    while (true) {
      const std::size_t begin = text_.find('<', at_);
      if (begin == std::string_view::npos) return false;
      const std::string_view rest = text_.substr(begin);
      if (rest.starts_with("<!--")) skip(begin + 4, "-->");
      else if (rest.starts_with("<![CDATA[")) skip(begin + 9, "]]>");
      else if (rest.starts_with("<?")) skip(begin + 2, "?>");
      else if (rest.starts_with("<!")) skip(begin + 2, ">");
      else return read_tag(begin, tag);
    }
  }

 private:
  void skip(std::size_t from, std::string_view end) {
    const std::size_t found = text_.find(end, from);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  bool read_tag(std::size_t begin, Tag& tag) {
    std::size_t i = begin + 1;
    const bool end_tag = i < text_.size() && text_[i] == '/';
    if (end_tag) ++i;
    const std::size_t name_begin = i;
    while (i < text_.size() && !is_space(text_[i]) && text_[i] != '>' && text_[i] != '/') ++i;
    tag.name = text_.substr(name_begin, i - name_begin);
    char quote = 0;
    for (; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '>') {
        break;
      }
    }
    if (i >= text_.size()) return false;
    tag.begin = begin;
    tag.end = at_ = i + 1;
    tag.opens = !end_tag;
    tag.closes = end_tag || text_[i - 1] == '/';
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

void blank_elements(std::string& text,
                    const std::function<bool(std::string_view name, std::string_view parent)>& unwanted) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  std::vector<std::string_view> open;
  std::size_t blank_from = 0, blank_depth = 0;  // depth 0: nothing is being blanked
  TagScanner scanner(text);
  for (TagScanner::Tag tag; scanner.next(tag);) {
    if (tag.opens) {
      if (blank_depth == 0 && unwanted(tag.name, open.empty() ? std::string_view() : open.back())) {
        blank_from = tag.begin;
        blank_depth = open.size() + 1;
      }
      open.push_back(tag.name);
    }
    if (tag.closes && !open.empty()) {
      if (blank_depth == open.size()) {
        ranges.emplace_back(blank_from, tag.end);
        blank_depth = 0;
      }
      open.pop_back();
    }
  }
  for (const auto& [begin, end] : ranges) {
    for (std::size_t i = begin; i < end; ++i) {
      if (text[i] != '\n' && text[i] != '\r') text[i] = ' ';
    }
  }
}

std::optional<double> parse_number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('+')) return std::nullopt;
  const auto value = to_number<double>(text);
  return value && !std::isnan(*value) ? value : std::nullopt;
}

std::optional<std::vector<double>> parse_numbers(std::string_view text) {
  std::vector<double> values;
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && is_space(text[at])) ++at;
    if (at == text.size()) return values;
    std::size_t end = at;
    while (end < text.size() && !is_space(text[end])) ++end;
    const std::optional<double> value = parse_number(text.substr(at, end - at));
    if (!value) return std::nullopt;
    values.push_back(*value);
    at = end;
  }
}

std::string Range::text() const {
  const bool bounded_low = low > -std::numeric_limits<double>::max();
  const bool bounded_high = high < std::numeric_limits<double>::max();
  if (bounded_low && bounded_high && open_low) return fmt::format("a number above {}, up to {}", low, high);
  if (bounded_low && bounded_high) return fmt::format("a number from {} to {}", low, high);
  if (bounded_low && low == 0) return open_low ? "a positive number" : "a number that is not negative";
  return "a number";
}

std::string Attributes::text(const char* name, std::string fallback) const {
  const char* value = element_.Attribute(name);
  return value != nullptr ? std::string(value) : std::move(fallback);
}

std::string Attributes::required(const char* name) const {
  const char* value = element_.Attribute(name);
  if (value != nullptr && !trimmed(value).empty()) return value;
  report_.error(element_, fmt::format("<{}> has no {}=", element_.Name(), name), fmt::format("add {}=\"...\"", name));
  return {};
}

double Attributes::number(const char* name, double fallback, Range range) const {
  const char* value = element_.Attribute(name);
  if (value == nullptr) return fallback;
  const std::optional<double> number = parse_number(value);
  if (number && range.contains(*number)) return *number;
  report_.error(element_, fmt::format("{}=\"{}\" of <{}> is not {}", name, value, element_.Name(), range.text()),
                fmt::format("give {} {}", name, range.text()));
  return fallback;
}

double Attributes::required_number(const char* name, Range range) const {
  const double fallback = range.contains(0) ? 0 : range.contains(1) ? 1 : range.low;
  return required(name).empty() ? fallback : number(name, fallback, range);
}

std::int64_t Attributes::integer(const char* name, std::int64_t fallback, std::int64_t low, std::int64_t high) const {
  const char* value = element_.Attribute(name);
  if (value == nullptr) return fallback;
  const auto number = to_number<std::int64_t>(trimmed(value));
  if (number && *number >= low && *number <= high) return *number;
  report_.error(
      element_,
      fmt::format("{}=\"{}\" of <{}> is not a whole number from {} to {}", name, value, element_.Name(), low, high),
      fmt::format("give {} a whole number from {} to {}", name, low, high));
  return fallback;
}

bool Attributes::flag(const char* name, bool fallback) const {
  const char* value = element_.Attribute(name);
  if (value == nullptr) return fallback;
  const std::string_view word = trimmed(value);
  if (word == "true" || word == "1") return true;
  if (word == "false" || word == "0") return false;
  report_.error(element_, fmt::format("{}=\"{}\" of <{}> is neither true nor false", name, value, element_.Name()),
                fmt::format("write {0}=\"true\" or {0}=\"false\"", name));
  return fallback;
}

std::size_t Attributes::choice(const char* name, std::size_t fallback, const std::vector<std::string>& choices) const {
  const char* value = element_.Attribute(name);
  if (value == nullptr) return fallback;
  for (std::size_t i = 0; i < choices.size(); ++i)
    if (trimmed(value) == choices[i]) return i;
  report_.error(
      element_,
      fmt::format("{}=\"{}\" of <{}> is not one of: {}", name, value, element_.Name(), fmt::join(choices, ", ")),
      suggest(value, choices));
  return fallback;
}

std::optional<std::vector<double>> Attributes::numbers(const char* name, std::size_t count) const {
  const char* value = element_.Attribute(name);
  if (value == nullptr) return std::nullopt;
  std::optional<std::vector<double>> list = parse_numbers(value);
  if (list && list->size() == count) {
    bool all_finite = true;
    for (const double x : *list) all_finite = all_finite && std::isfinite(x);
    if (all_finite) return list;
  }
  report_.error(element_,
                fmt::format("{}=\"{}\" of <{}> is not {} finite numbers", name, value, element_.Name(), count),
                fmt::format("give {} numbers, separated by spaces", count));
  return std::nullopt;
}

std::optional<Pose> Attributes::pose(const char* name) const {
  if (!has(name)) return std::nullopt;
  const auto list = numbers(name, 6);
  return list ? pose_of(*list) : Pose{};
}

Pose pose_of(const std::vector<double>& v) { return {{v[0], v[1], v[2]}, Quat::rpy(v[3], v[4], v[5])}; }

std::vector<const XMLElement*> children(const XMLElement& parent, const char* name) {
  std::vector<const XMLElement*> found;
  for (const XMLElement* e = parent.FirstChildElement(name); e != nullptr; e = e->NextSiblingElement(name))
    found.push_back(e);
  return found;
}

std::vector<const XMLElement*> model_children(const XMLElement& model, const char* name) {
  std::vector<const XMLElement*> found = children(model, name);
  for (const XMLElement* gazebo : children(model, "gazebo")) {
    for (const XMLElement* e : children(*gazebo, name)) found.push_back(e);
  }
  return found;
}

const XMLElement* child_named(const XMLElement* parent, const char* element, const std::string& name) {
  if (parent == nullptr) return nullptr;
  for (const XMLElement* e = parent->FirstChildElement(element); e != nullptr; e = e->NextSiblingElement(element)) {
    const char* value = e->Attribute("name");
    if (value != nullptr && name == value) return e;
  }
  return nullptr;
}

std::string text_of(const XMLElement* element) {
  const char* text = element != nullptr ? element->GetText() : nullptr;
  return text != nullptr ? std::string(trimmed(text)) : std::string();
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && is_space(text[at])) ++at;
    const std::size_t begin = at;
    while (at < text.size() && !is_space(text[at])) ++at;
    if (at > begin) words.emplace_back(text.substr(begin, at - begin));
  }
  return words;
}

std::string suggest(const std::string& wanted, const std::vector<std::string>& candidates) {
  const std::string near = nearest_name(wanted, candidates);
  std::string all;
  for (const std::string& candidate : candidates) all += (all.empty() ? "" : ", ") + candidate;
  if (!near.empty()) return fmt::format("did you mean {}? There are: {}", near, all);
  return all.empty() ? "there are none to choose from" : "use one of: " + all;
}

}  // namespace volvox::model
