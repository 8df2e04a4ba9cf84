// Typed indices (of a link, a dock, an agent), and conversions between numbers whose names say why they are safe.
// Plain values and pure functions: any thread, the same everywhere.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

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

// No index at all: converts to an Index of any kind and compares equal to its default value.
struct NoIndex {
  constexpr operator std::uint32_t() const { return std::numeric_limits<std::uint32_t>::max(); }
};

// An index into arrays of one kind of thing: an Index<struct LinkTag> cannot be used as an Index<struct DockTag>, nor
// be compared with one. Plain numbers convert to it and it converts to a plain number, both implicitly: loops and
// arrays need no casts, and an index of another kind would need both conversions at once, which C++ does not make. As
// large as its number, and saved as it.
template <class Tag>
class Index {
 public:
  constexpr Index() = default;  // none
  constexpr Index(NoIndex) {}
  template <std::integral Number>
  constexpr Index(Number number) : number_(narrow<std::uint32_t>(number)) {}

  constexpr operator std::uint32_t() const { return number_; }
  constexpr bool valid() const { return number_ != NoIndex{}; }
  constexpr Index& operator++() { return ++number_, *this; }
  constexpr Index operator++(int) {
    const Index before = *this;
    ++number_;
    return before;
  }
  friend constexpr Index operator+(Index index, std::integral auto offset) { return Index(index.number_ + offset); }
  friend constexpr auto operator<=>(Index, Index) = default;
  // Without these, a comparison with a plain number could convert either side. They compare values: no index is -1.
  friend constexpr bool operator==(Index index, std::integral auto number) {
    return std::cmp_equal(index.number_, number);
  }
  template <std::integral Number>
  friend constexpr std::strong_ordering operator<=>(Index index, Number number) {
    using Wide = std::conditional_t<std::is_signed_v<Number>, std::int64_t, std::uint64_t>;
    return Wide{index.number_} <=> static_cast<Wide>(number);
  }

 private:
  std::uint32_t number_ = NoIndex{};
};

template <class To, class Tag>
constexpr To narrow(Index<Tag> index) {
  return narrow<To>(std::uint32_t{index});
}

template <class A, class B>
requires(!std::same_as<A, B>) bool operator==(Index<A>, Index<B>) = delete;
template <class A, class B>
requires(!std::same_as<A, B>) bool operator<=>(Index<A>, Index<B>) = delete;

// The indices from 0 up to a count, as a range. std::views::iota would do, but Clang 14, and so clang-tidy, cannot read
// GCC 12's.
template <class I>
class IndexRange {
 public:
  class Iterator {
   public:
    using value_type = I;
    using difference_type = std::ptrdiff_t;
    constexpr Iterator() = default;
    constexpr explicit Iterator(std::uint32_t at) : at_(at) {}
    constexpr I operator*() const { return I(at_); }
    constexpr Iterator& operator++() { return ++at_, *this; }
    constexpr Iterator operator++(int) { return Iterator(at_++); }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    std::uint32_t at_ = 0;
  };
  constexpr explicit IndexRange(std::uint32_t count) : count_(count) {}
  constexpr Iterator begin() const { return Iterator(0); }
  constexpr Iterator end() const { return Iterator(count_); }
  constexpr std::size_t size() const { return count_; }

 private:
  std::uint32_t count_;
};

// for (const LinkIndex link : indices<LinkIndex>(world.links())) ...
// for (const std::uint32_t i : indices(agents)) ...
template <class I = std::uint32_t>
constexpr IndexRange<I> indices(std::integral auto count) {
  return IndexRange<I>(narrow<std::uint32_t>(count));
}
template <class I = std::uint32_t, class Range>
requires requires(const Range& range) { std::size(range); }
constexpr IndexRange<I> indices(const Range& range) { return indices<I>(std::size(range)); }

}  // namespace volvox
