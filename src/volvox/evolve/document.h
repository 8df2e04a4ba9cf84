// A JSON file that a person wrote: every mistake is named with file, line and what to do, and an unknown key with the
// one that may have been meant. Values stay as they are in the file; ranges are checked where they are read.
// A Document owns its content; Fields refer to it. For one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "volvox/base/result.h"

namespace volvox::evolve {

using Json = nlohmann::ordered_json;

class Document {
 public:
  // `largest`: bytes; a genome of thousands of modules has a few millions.
  static Result<Document> read(const std::filesystem::path& file, std::uintmax_t largest = 64u << 20);
  static Result<Document> parse(std::string text, const std::string& file);

  const Json& root() const { return root_; }
  const std::string& file() const { return file_; }
  // Where the value of these keys, one inside the other, stands; 0: it cannot be found.
  int line_of(const std::vector<std::string>& keys) const;

 private:
  std::string text_, file_;
  Json root_;
};

// The values of one object of a document. Mistakes are collected in the given error, which must outlive it.
class Fields {
 public:
  Fields(const Document& document, Error& error) : document_(&document), json_(&document.root()), error_(&error) {
    check_object();
  }

  bool has(const std::string& key) const { return json_->is_object() && json_->contains(key); }
  double number(const std::string& key, double fallback, double low = -1e300, double high = 1e300);
  std::int64_t integer(const std::string& key, std::int64_t fallback, std::int64_t low, std::int64_t high);
  bool flag(const std::string& key, bool fallback);
  std::string text(const std::string& key, const std::string& fallback);
  std::string one_of(const std::string& key, const std::string& fallback, const std::vector<std::string>& names);
  std::vector<std::string> texts(const std::string& key);
  std::vector<double> numbers(const std::string& key, std::size_t least, std::size_t most);  // empty if absent
  std::map<std::string, std::string> settings(const std::string& key);  // values as text: 3 and "3" are the same
  std::map<std::string, std::string> all_settings() const;              // of this object itself
  Fields child(const std::string& key);                                 // an empty object if absent
  std::vector<Fields> list(const std::string& key);                     // of objects; empty if absent
  std::vector<std::string> keys() const;
  const Json& raw(const std::string& key);  // null if absent

  // To be called when all was read: keys that nobody asked for are mistakes.
  void refuse_others();
  void fail(const std::string& key, const std::string& what, const std::string& fix) const;

 private:
  Fields(const Document& document, Error& error, const Json& json, std::vector<std::string> path,
         std::string entry = {})
      : document_(&document), json_(&json), error_(&error), path_(std::move(path)), entry_(std::move(entry)) {
    check_object();
  }
  void check_object();
  const Json* find(const std::string& key);
  std::string where(const std::string& key) const;

  const Document* document_;
  const Json* json_;
  Error* error_;
  std::vector<std::string> path_;
  std::string entry_;  // "entry 3 of 'modules'", if it is one of a list: its line is that of the list
  std::set<std::string> asked_;
};

}  // namespace volvox::evolve
