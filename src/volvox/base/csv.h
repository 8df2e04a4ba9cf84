// Tables as comma-separated values (RFC 4180): one heading line, one line a row, "\n" between them.
// A table owns its text, and belongs to one thread. The same values give the same bytes in every locale.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace volvox {

// Numbers have the fewest digits that read back as the same number; text is quoted where it must be.
class Csv {
 public:
  Csv(std::initializer_list<std::string_view> headings);
  explicit Csv(const std::vector<std::string>& headings);

  template <class... Fields>
  void row(const Fields&... fields) {
    (field(fields), ...);
    end_row();
  }
  // A row whose length is known only at run time: its fields one after another.
  template <class Field>
  void field(const Field& value) {
    if constexpr (std::is_convertible_v<const Field&, std::string_view>) add(std::string_view(value));
    else add(fmt::format("{}", value));
  }
  void end_row();

  const std::string& text() const { return text_; }
  // What was added since the last call: for tables that are too long for memory.
  std::string take() { return std::exchange(text_, {}); }

  // A number with as many decimals.
  static std::string fixed(double value, int decimals) { return fmt::format("{:.{}f}", value, decimals); }

 private:
  void add(std::string_view field);

  std::string text_;
  bool row_begins_ = true;
};

}  // namespace volvox
