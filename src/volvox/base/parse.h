// A number that is the whole of a text: "1e3", and neither " 1", "+1", "1 m" nor "". The same in every locale.
// Pure; any thread.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace volvox {

template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stopped == end ? std::optional(value) : std::nullopt;
}

}  // namespace volvox
