// Lines and words of text files, with line numbers for messages.
// Only look at the text, which must outlive them. One thread each. Numbers are read alike in every locale.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

#include "volvox/base/parse.h"

namespace volvox {

// Splits a text into lines, which end in "\n" or "\r\n".
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  // False at the end.
  bool next(std::string_view& line) {
    if (position_ >= text_.size()) return false;
    const std::size_t end = text_.find('\n', position_);
    line = text_.substr(position_, end == std::string_view::npos ? end : end - position_);
    position_ = end == std::string_view::npos ? text_.size() : end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number_;
    return true;
  }
  int number() const { return number_; }              // of the last line, from 1
  std::size_t position() const { return position_; }  // offset of the byte after it

 private:
  std::string_view text_;
  std::size_t position_ = 0;
  int number_ = 0;
};

// Splits a line into words at blanks, commas and semicolons.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  // Empty at the end.
  std::string_view next() {
    const std::size_t begin = rest_.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return rest_ = {};
    rest_.remove_prefix(begin);
    const std::size_t end = std::min(rest_.find_first_of(blanks), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return word;
  }
  template <class Number>
  std::optional<Number> number() {
    std::string_view word = next();
    if (word.starts_with('+')) word.remove_prefix(1);
    return to_number<Number>(word);
  }
  bool at_end() const { return rest_.find_first_not_of(blanks) == std::string_view::npos; }

 private:
  static constexpr std::string_view blanks = " \t,;\v\f";
  std::string_view rest_;
};

// The next line that is not empty and not a comment.
inline bool next_content(Lines& lines, std::string_view& line) {
  while (lines.next(line)) {
    line = line.substr(0, line.find('#'));
    if (!Words(line).at_end()) return true;
  }
  return false;
}

// Three numbers of a Vec3.
template <class Point>
bool next_point(Words& words, Point& point) {
  for (int i = 0; i < 3; ++i) {
    const auto value = words.number<double>();
    if (!value) return false;
    point[i] = *value;
  }
  return true;
}

}  // namespace volvox
