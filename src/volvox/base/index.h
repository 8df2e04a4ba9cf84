// Typed indices (of a link, a dock, an agent), and conversions between numbers whose names say why they are safe.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ranges>
#include <type_traits>

#include "volvox/base/check.h"

namespace volvox {

// Converts to a smaller type. The value must fit; debug and sanitizer builds check that it does.
template <class To, class From>
requires(std::is_arithmetic_v<To>&& std::is_arithmetic_v<From>) constexpr To narrow(From value) {
  const To result = static_cast<To>(value);
  VOLVOX_ASSERT(static_cast<From>(result) == value && (result < To{}) == (value < From{}));
  return result;
}

// A count as a floating-point number: exact below 2^53.
constexpr double real(std::integral auto count) { return static_cast<double>(count); }

// Rounds to the nearest float: what goes to files, sockets and GPUs.
constexpr float to_float(double value) { return static_cast<float>(value); }

// The halves of a 64-bit word.
constexpr std::uint32_t low_word(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
constexpr std::uint32_t high_word(std::uint64_t word) { return low_word(word >> 32); }

// The number of an enumerator, to index a table: names[number_of(kind)].
template <class Enum>
requires std::is_enum_v<Enum>
constexpr std::size_t number_of(Enum value) { return static_cast<std::size_t>(value); }

// The integer part, towards zero. The value must fit.
template <std::integral To = int>
constexpr To truncated(std::floating_point auto value) {
  VOLVOX_ASSERT(value > -9.3e18 && value < 1.9e19);
  return static_cast<To>(value);
}

// An index into arrays of one kind of thing: an Index<struct LinkTag> cannot be used as an Index<struct DockTag>. It
// converts to a plain number implicitly, so that arrays accept it; the way back is explicit.
template <class Tag>
class Index {
 public:
  constexpr Index() = default;  // none
  template <std::integral Number>
  constexpr explicit Index(Number number) : number_(narrow<std::uint32_t>(number)) {}

  constexpr operator std::uint32_t() const { return number_; }
  constexpr bool valid() const { return number_ != none_number; }
  constexpr Index& operator++() { return ++number_, *this; }
  constexpr Index operator++(int) {
    const Index before = *this;
    ++number_;
    return before;
  }
  friend constexpr Index operator+(Index index, std::integral auto offset) { return Index(index.number_ + offset); }
  friend constexpr auto operator<=>(Index, Index) = default;

 private:
  static constexpr std::uint32_t none_number = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t number_ = none_number;
};

// for (const LinkIndex link : indices<LinkIndex>(world.links())) ...
// for (const std::uint32_t i : indices(agents)) ...
template <class I = std::uint32_t>
constexpr auto indices(std::integral auto count) {
  return std::views::iota(std::uint32_t{0}, narrow<std::uint32_t>(count)) |
         std::views::transform([](std::uint32_t i) { return I(i); });
}
template <class I = std::uint32_t, std::ranges::sized_range Range>
constexpr auto indices(const Range& range) {
  return indices<I>(std::ranges::size(range));
}

}  // namespace volvox
