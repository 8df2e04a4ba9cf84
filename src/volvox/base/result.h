// Result<T>: a value, or an error that says what is wrong, where, and how to fix it.
// All errors in external input (files, options, plugins, users' code) are reported in this way.
// A Result owns its value or error; it is a plain value, without locks and without globals.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "volvox/base/check.h"

namespace volvox {

struct Diagnostic {
  std::string file;  // empty: not in a file
  int line = 0;      // 0: unknown
  std::string what;  // what is wrong
  std::string fix;   // what to do

  // "robots/a.sdf:12: the mass is zero\n  fix: give <mass> a positive value in kg"
  std::string text() const;
};

class Error {
 public:
  Error() = default;
  Error(Diagnostic diagnostic) { add(std::move(diagnostic)); }
  Error(std::string what, std::string fix) { add({{}, 0, std::move(what), std::move(fix)}); }

  void add(Diagnostic diagnostic) { diagnostics_.push_back(std::move(diagnostic)); }
  void add(const Error& other) {
    diagnostics_.insert(diagnostics_.end(), other.diagnostics_.begin(), other.diagnostics_.end());
  }
  bool empty() const { return diagnostics_.empty(); }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  std::string text() const;

 private:
  std::vector<Diagnostic> diagnostics_;
};

namespace detail {
// Somebody uses a value that is not there: ends the program and says which error was overlooked.
[[noreturn]] void value_of_failure(const Error& error);
}  // namespace detail

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {
    VOLVOX_CHECK(!this->error().empty(), "an Error without a diagnostic");
  }
  Result(Diagnostic diagnostic) : Result(Error(std::move(diagnostic))) {}

  bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() {
    if (!ok()) detail::value_of_failure(error());
    return std::get<0>(content_);
  }
  const T& value() const {
    if (!ok()) detail::value_of_failure(error());
    return std::get<0>(content_);
  }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const {
    VOLVOX_CHECK(!ok(), "error() of a Result that has none");
    return std::get<1>(content_);
  }

 private:
  std::variant<T, Error> content_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  Result(Diagnostic diagnostic) : error_(Error(std::move(diagnostic))) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    VOLVOX_CHECK(!ok(), "error() of a Result that has none");
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

// The candidate with the smallest edit distance ("superbot" for "superbt"); empty if none is similar.
std::string nearest_name(const std::string& wanted, const std::vector<std::string>& candidates);

}  // namespace volvox
