#include "volvox/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/text.h"

namespace volvox::report {
namespace {

// Columns that hold numbers alone, below their heading.
std::vector<bool> number_columns(const Rows& rows) {
  std::vector<bool> numbers;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    numbers.resize(std::max(numbers.size(), rows[r].size()), true);
    for (std::size_t c = 0; r > 0 && c < rows[r].size(); ++c)
      if (rows[r][c].find_first_not_of("0123456789.+-e %x") != std::string::npos) numbers[c] = false;
  }
  return numbers;
}

}  // namespace

std::string number(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  if (std::fabs(value) < 1e15 && value == std::round(value)) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}g}", value, digits);
}

std::string text_table(const Rows& given) {
  Rows rows = given;
  for (auto& row : rows)
    for (std::string& cell : row) cell = printable(cell);
  const std::vector<bool> right = number_columns(rows);
  std::vector<std::size_t> widths(right.size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t c = 0; c < row.size(); ++c)
      line += right[c] ? fmt::format(" {:>{}} ", row[c], widths[c]) : fmt::format(" {:<{}} ", row[c], widths[c]);
    while (!line.empty() && line.back() == ' ') line.pop_back();
    text += line + "\n";
  }
  return text;
}

std::string markdown_table(const Rows& rows) {
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (const std::string& cell : rows[r]) text += cell.empty() ? "| " : fmt::format("| {} ", cell);
    text += "|\n";
    if (r > 0) continue;
    for (std::size_t c = 0; c < rows[0].size(); ++c) text += "|---";
    text += "|\n";
  }
  return text;
}

std::string html_table(const Rows& rows) {
  const std::vector<bool> right = number_columns(rows);
  std::string text = "<table>";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (r == 0 && rows[0].empty()) {
      text += "<tbody>\n";
      continue;
    }
    text += r == 0 ? "<thead><tr>" : "<tr>";
    for (std::size_t c = 0; c < rows[r].size(); ++c)
      text += fmt::format("<{0}{1}>{2}</{0}>", r == 0 ? "th" : "td", r > 0 && right[c] ? " class=\"number\"" : "",
                          xml_escaped(rows[r][c]));
    text += r == 0 ? "</tr></thead><tbody>\n" : "</tr>\n";
  }
  return text + "</tbody></table>\n";
}

}  // namespace volvox::report
