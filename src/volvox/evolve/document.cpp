#include "volvox/evolve/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/json_text.h"
#include "volvox/base/text.h"

namespace volvox::evolve {
namespace {

const Json nothing;
const Json no_fields = Json::object();

int line_at(const std::string& text, std::size_t position) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(position), '\n'));
}

}  // namespace

Result<Document> Document::read(const std::filesystem::path& file, std::uintmax_t largest) {
  Result<std::string> text = read_file(file, largest);
  if (!text.ok()) return text.error();
  return parse(std::move(*text), file.string());
}

Result<Document> Document::parse(std::string text, const std::string& file) {
  Document document;
  document.text_ = std::move(text), document.file_ = file;
  // JSON lets the last of two equal keys win; whoever wrote both would not know which of them counts.
  std::vector<std::set<std::string>> keys;  // of the objects around the present place
  std::string twice;
  const auto find_twice = [&](int, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed).second && twice.empty()) twice = parsed;
    return true;
  };
  // Comments may stand in a task: a person writes it.
  try {
    document.root_ = Json::parse(document.text_, find_twice, true, true);
  } catch (const Json::parse_error& error) {
    const std::size_t at = std::min(document.text_.size(), error.byte);
    return Diagnostic{file, line_at(document.text_, at),
                      "this is not JSON: a value, a comma or a bracket is wrong here",
                      "correct the line, or the one before; docs/formats.md shows such a file"};
  } catch (const Json::exception&) {
    return Diagnostic{file, 0, "a number in this file is larger than any number can be (such as 1e999)",
                      "give numbers of at most 1e308"};
  }
  if (!twice.empty())
    return Diagnostic{file, document.line_of({twice, twice}),
                      fmt::format("the key '{}' is there twice in one object", twice), "leave one of them out"};
  return document;
}

int Document::line_of(const std::vector<std::string>& keys) const {
  std::size_t at = 0;
  for (const std::string& key : keys) {
    const std::size_t found = text_.find('"' + key + '"', at);
    if (found == std::string::npos) break;
    at = found + 1;
  }
  return at == 0 ? 0 : line_at(text_, at);
}

void Fields::check_object() {
  if (json_->is_object()) return;
  error_->add({document_->file(), document_->line_of(path_),
               fmt::format("{} is not an object", !entry_.empty() ? entry_
                                                  : path_.empty() ? "the content"
                                                                  : "'" + path_.back() + "'"),
               "write it as { \"key\": value, ... }"});
  json_ = &no_fields;
}

std::string Fields::where(const std::string& key) const { return fmt::format("'{}'", key); }

void Fields::fail(const std::string& key, const std::string& what, const std::string& fix) const {
  std::vector<std::string> path = path_;
  if (!key.empty() && entry_.empty()) path.push_back(key);
  error_->add(
      {document_->file(), document_->line_of(path), entry_.empty() ? what : fmt::format("{}: {}", entry_, what), fix});
}

const Json* Fields::find(const std::string& key) {
  asked_.insert(key);
  const auto it = json_->find(key);
  return it == json_->end() ? nullptr : &*it;
}

double Fields::number(const std::string& key, double fallback, double low, double high) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_number() && value->get<double>() >= low && value->get<double>() <= high) return value->get<double>();
  fail(key, fmt::format("{} is {}", where(key), to_json_text(*value)),
       low <= -1e300 && high >= 1e300 ? "give a number"
       : high >= 1e300                ? fmt::format("give a number of at least {}", low)
                                      : fmt::format("give a number from {} to {}", low, high));
  return fallback;
}

std::int64_t Fields::integer(const std::string& key, std::int64_t fallback, std::int64_t low, std::int64_t high) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_number_integer() && value->get<std::int64_t>() >= low && value->get<std::int64_t>() <= high)
    return value->get<std::int64_t>();
  fail(key, fmt::format("{} is {}", where(key), to_json_text(*value)),
       fmt::format("give a whole number from {} to {}", low, high));
  return fallback;
}

bool Fields::flag(const std::string& key, bool fallback) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  fail(key, fmt::format("{} is {}", where(key), to_json_text(*value)), "give true or false");
  return fallback;
}

std::string Fields::text(const std::string& key, const std::string& fallback) {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_string()) return value->get<std::string>();
  fail(key, fmt::format("{} is {}", where(key), to_json_text(*value)), "give a text in quotes");
  return fallback;
}

std::string Fields::one_of(const std::string& key, const std::string& fallback, const std::vector<std::string>& names) {
  const std::string value = text(key, fallback);
  if (std::ranges::find(names, value) != names.end()) return value;
  const std::string nearest = nearest_name(value, names);
  fail(key, fmt::format("{} is '{}'", where(key), value),
       nearest.empty() ? fmt::format("use one of: {}", fmt::join(names, ", "))
                       : fmt::format("did you mean '{}'? There are: {}", nearest, fmt::join(names, ", ")));
  return fallback;
}

std::vector<std::string> Fields::texts(const std::string& key) {
  std::vector<std::string> list;
  const Json* value = find(key);
  if (value == nullptr) return list;
  if (value->is_array() && std::ranges::all_of(*value, [](const Json& one) { return one.is_string(); }))
    for (const Json& one : *value) list.push_back(one.get<std::string>());
  else fail(key, fmt::format("{} is {}", where(key), to_json_text(*value)), "give a list of texts: [\"a\", \"b\"]");
  return list;
}

std::vector<double> Fields::numbers(const std::string& key, std::size_t least, std::size_t most) {
  std::vector<double> list;
  const Json* value = find(key);
  if (value == nullptr) return list;
  if (value->is_array() && value->size() >= least && value->size() <= most &&
      std::ranges::all_of(*value, [](const Json& one) { return one.is_number(); })) {
    for (const Json& one : *value) list.push_back(one.get<double>());
    return list;
  }
  fail(key, fmt::format("{} is {}", where(key), to_json_text(*value)),
       least == most ? fmt::format("give {} numbers, such as [1, 2]", least)
                     : fmt::format("give {} to {} numbers in a list", least, most));
  return list;
}

std::map<std::string, std::string> Fields::settings(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return {};
  if (value->is_object()) return child(key).all_settings();
  fail(key, fmt::format("{} is not an object", where(key)), "write it as { \"name\": value, ... }");
  return {};
}

std::map<std::string, std::string> Fields::all_settings() const {
  std::map<std::string, std::string> read;
  for (const auto& [name, one] : json_->items())
    if (one.is_string()) read[name] = one.get<std::string>();
    else if (one.is_number() || one.is_boolean()) read[name] = to_json_text(one);
    else fail(name, fmt::format("{} is {}", where(name), to_json_text(one)), "give a text or a number");
  return read;
}

Fields Fields::child(const std::string& key) {
  const Json* value = find(key);
  std::vector<std::string> path = path_;
  path.push_back(key);
  return {*document_, *error_, value == nullptr ? no_fields : *value, std::move(path), entry_};
}

std::vector<Fields> Fields::list(const std::string& key) {
  std::vector<Fields> entries;
  const Json* value = find(key);
  if (value == nullptr) return entries;
  if (!value->is_array()) {
    fail(key, fmt::format("{} is not a list", where(key)), "write it as [{ \"key\": value, ... }, ...]");
    return entries;
  }
  std::vector<std::string> path = path_;
  path.push_back(key);
  for (const Json& one : *value)
    entries.push_back(Fields(*document_, *error_, one, path, fmt::format("entry {} of '{}'", entries.size(), key)));
  return entries;
}

std::vector<std::string> Fields::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json_->items()) keys.push_back(key);
  return keys;
}

const Json& Fields::raw(const std::string& key) {
  const Json* value = find(key);
  return value == nullptr ? nothing : *value;
}

void Fields::refuse_others() {
  const std::vector<std::string> known(asked_.begin(), asked_.end());
  for (const std::string& key : keys()) {
    if (asked_.contains(key)) continue;
    const std::string nearest = nearest_name(key, known);
    fail(key, fmt::format("there is no key '{}' here", key),
         nearest.empty() ? fmt::format("use some of: {}", fmt::join(known, ", "))
                         : fmt::format("did you mean '{}'?", nearest));
  }
}

}  // namespace volvox::evolve
