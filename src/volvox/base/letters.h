// What kind of character a byte is: ASCII alone, and so the same in every locale, other than <cctype>.
// Pure functions.
#pragma once

namespace volvox {

// From 0 to 255; a plain char may be negative.
constexpr unsigned char byte_value(char c) { return static_cast<unsigned char>(c); }

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_small_letter(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(char c) { return is_small_letter(c) || is_capital(c); }
constexpr bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }
constexpr char small_letter(char c) { return is_capital(c) ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace volvox
