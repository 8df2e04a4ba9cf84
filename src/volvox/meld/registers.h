// What the 64 bits of a register and the 32 bits of a word of a fact mean. Pure functions.
#pragma once

#include <bit>

#include "volvox/base/index.h"
#include "volvox/meld/program.h"

namespace volvox::meld {

constexpr std::int32_t signed_word(std::uint32_t word) { return std::bit_cast<std::int32_t>(word); }

// Whole numbers have 32 bits, and wrap around.
constexpr Register whole(std::int64_t value) { return std::int64_t{signed_word(low_word(value))}; }
constexpr std::int64_t number(Register r) { return std::bit_cast<std::int64_t>(r); }
constexpr double real_of(Register r) { return std::bit_cast<double>(r); }
constexpr Register of_real(double value) { return std::bit_cast<Register>(value); }

// A tick, which may be far away, in two words of a fact.
constexpr std::int64_t tick_in(const std::uint32_t* words) {
  return std::bit_cast<std::int64_t>(std::uint64_t{words[1]} << 32 | words[0]);
}

}  // namespace volvox::meld
