// Parameters given as text (SDF attributes, --set KEY=VALUE), read as numbers, flags or text.
// check() reports keys that were never read, so that a misspelt key is an error. Reading records the key, so one
// thread may use an object at a time.
#pragma once

#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "volvox/base/result.h"

namespace volvox {

class Parameters {
 public:
  Parameters() = default;
  // `owner` is used in messages: "behavior 'snake'"; file and line are where the parameters were given.
  Parameters(std::map<std::string, std::string> values, std::string owner, std::string file = {}, int line = 0)
      : values_(std::move(values)), owner_(std::move(owner)), file_(std::move(file)), line_(line) {}

  double number(const std::string& key, double fallback, double low = -1e300, double high = 1e300) const;
  std::int64_t integer(const std::string& key, std::int64_t fallback, std::int64_t low = INT64_MIN,
                       std::int64_t high = INT64_MAX) const;
  bool flag(const std::string& key, bool fallback) const;
  std::string text(const std::string& key, const std::string& fallback) const;

  void set(const std::string& key, const std::string& value) { values_[key] = value; }
  void unset(const std::string& key) { values_.erase(key); }
  const std::map<std::string, std::string>& given() const { return values_; }
  const std::set<std::string>& asked() const { return asked_; }  // all keys that were read
  // Of the keys that were read: what holds where nothing is given, as the first reader said.
  const std::map<std::string, std::string>& defaults() const { return defaults_; }
  void forget_errors() const { error_ = {}; }

  // The errors so far: bad values, and, if `all_asked`, keys that were never read.
  Result<void> check(bool all_asked = true) const;

 private:
  template <class Value>
  const std::string* ask(const std::string& key, const Value& fallback) const;
  void bad(const std::string& key, const std::string& value, const std::string& wanted) const;

  std::map<std::string, std::string> values_;
  std::string owner_, file_;
  int line_ = 0;
  mutable std::set<std::string> asked_;
  mutable std::map<std::string, std::string> defaults_;
  mutable Error error_;
};

}  // namespace volvox
