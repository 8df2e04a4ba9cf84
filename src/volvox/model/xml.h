// tinyxml2 with diagnostics: every value that is read is checked, and mistakes are reported
// with file and line. Internal to model/.
// Elements belong to their document, which must outlive all that reads it. For one thread.
#pragma once

#include <tinyxml2.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "volvox/base/math.h"
#include "volvox/base/result.h"

namespace volvox::model {

using tinyxml2::XMLElement;

// Collects the mistakes of one file, so that its author sees all of them at once.
class Report {
 public:
  explicit Report(std::string file) : file_(std::move(file)) {}

  void error(int line, std::string what, std::string fix);
  void error(const XMLElement& at, std::string what, std::string fix) {
    error(at.GetLineNum(), std::move(what), std::move(fix));
  }
  void error(const Error& other);
  void warn(int line, std::string what, std::string fix);
  void warn(const XMLElement& at, std::string what, std::string fix) {
    warn(at.GetLineNum(), std::move(what), std::move(fix));
  }

  bool ok() const { return error_.empty(); }
  const Error& error() const { return error_; }
  const std::string& file() const { return file_; }
  std::vector<Diagnostic>& warnings() { return warnings_; }

 private:
  std::string file_;
  Error error_;
  std::vector<Diagnostic> warnings_;
};

// Parses a text. False after reporting the line where the XML is not well-formed.
bool parse_xml(const std::string& text, tinyxml2::XMLDocument& document, Report& report);

// Overwrites with spaces every element, including its content, for which `unwanted` returns true. Line breaks
// stay, so the line numbers of the rest do not change.
void blank_elements(std::string& text,
                    const std::function<bool(std::string_view name, std::string_view parent)>& unwanted);

inline bool is_ours(std::string_view name) { return name.starts_with("volvox:"); }

std::optional<double> parse_number(std::string_view text);  // accepts "inf", rejects "nan"
std::optional<std::vector<double>> parse_numbers(std::string_view text);

struct Range {
  double low = -std::numeric_limits<double>::max();
  double high = std::numeric_limits<double>::max();
  bool open_low = false;  // low itself is excluded

  static Range any() { return {}; }
  static Range positive() { return {0, std::numeric_limits<double>::max(), true}; }
  static Range not_negative() { return {0, std::numeric_limits<double>::max(), false}; }
  static Range positive_or_infinite() { return {0, std::numeric_limits<double>::infinity(), true}; }
  static Range between(double low, double high) { return {low, high, false}; }
  bool contains(double x) const { return (open_low ? x > low : x >= low) && x <= high; }
  std::string text() const;  // "a positive number"
};

// Reads the attributes of one element. A bad value is reported and replaced by the fallback,
// so that reading continues and finds further mistakes.
class Attributes {
 public:
  Attributes(const XMLElement& element, Report& report) : element_(element), report_(report) {}

  bool has(const char* name) const { return element_.Attribute(name) != nullptr; }
  std::string text(const char* name, std::string fallback = {}) const;
  std::string required(const char* name) const;  // present and not empty
  double number(const char* name, double fallback, Range range) const;
  double required_number(const char* name, Range range) const;
  std::int64_t integer(const char* name, std::int64_t fallback, std::int64_t low, std::int64_t high) const;
  bool flag(const char* name, bool fallback) const;
  // The index of the value in the choices.
  std::size_t choice(const char* name, std::size_t fallback, const std::vector<std::string>& choices) const;
  std::optional<Pose> pose(const char* name) const;  // none if absent
  std::optional<std::vector<double>> numbers(const char* name, std::size_t count) const;

 private:
  const XMLElement& element_;
  Report& report_;
};

Pose pose_of(const std::vector<double>& xyz_rpy);

// All children of a name. model_children also searches the <gazebo> children, which hold the extensions of a URDF.
std::vector<const XMLElement*> children(const XMLElement& parent, const char* name);
std::vector<const XMLElement*> model_children(const XMLElement& model, const char* name);
const XMLElement* child_named(const XMLElement* parent, const char* element, const std::string& name);
std::string text_of(const XMLElement* element);  // trimmed; "" for null

std::vector<std::string> split_words(std::string_view text);
// "did you mean x?", or the list of candidates.
std::string suggest(const std::string& wanted, const std::vector<std::string>& candidates);

}  // namespace volvox::model
