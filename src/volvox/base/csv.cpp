#include "volvox/base/csv.h"

#include <algorithm>

#include "volvox/base/letters.h"
#include "volvox/base/text.h"

namespace volvox {

Csv::Csv(std::initializer_list<std::string_view> headings) {
  for (const std::string_view heading : headings) add(heading);
  end_row();
}

Csv::Csv(const std::vector<std::string>& headings) {
  for (const std::string& heading : headings) add(heading);
  end_row();
}

void Csv::add(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return byte_value(c) < 0x80; });
  const std::string readable = plain ? std::string() : valid_utf8(text);
  const std::string_view field = plain ? text : std::string_view(readable);
  if (!row_begins_) text_ += ',';
  row_begins_ = false;
  if (field.find_first_of(",\"\n\r") == std::string_view::npos) {
    text_ += field;
    return;
  }
  text_ += '"';
  for (const char c : field) {
    if (c == '"') text_ += '"';
    text_ += c;
  }
  text_ += '"';
}

void Csv::end_row() {
  text_ += '\n';
  row_begins_ = true;
}

}  // namespace volvox
