// Why a derived fact is there: its supports. A support is the source of a derivation (a neighbour, or the catom itself)
// and its depth, which is one more than that of the deepest fact that it follows from. A fact has one record for each.
//
// Depths are needed to notice facts that have lost their origin. Two neighbours could support each other's facts for
// ever. But each of these facts is deeper than the other, so their depths grow without end. A fact that still has an
// origin cannot be deeper than the number of facts there are. So rules do not see a record that is deeper
// (Machine::may_be_seen). The record is kept until the neighbour that sent it takes it back. Pure functions.
#pragma once

#include <cstdint>

namespace volvox::meld {

using Support = std::uint32_t;

inline constexpr std::uint32_t deepest_support = 8'000'000;
// Sources: the ports of a catom, and these.
inline constexpr std::uint8_t from_afar = 253;  // a catom that is no neighbour
inline constexpr std::uint8_t for_good = 254;   // an axiom, or a rule with linear facts: it is never taken back
inline constexpr std::uint8_t from_itself = 255;

constexpr Support support_of(std::uint32_t depth, std::uint8_t source) { return depth << 8 | source; }
constexpr std::uint32_t depth_of(Support s) { return s >> 8; }
constexpr std::uint8_t source_of(Support s) { return s & 0xff; }

// The second word of a derived fact: derivations with this support, and whether rules see this record. Of several
// records of a fact one is seen, the least deep.
inline constexpr std::uint32_t seen = 1, one_more = 2;
constexpr std::uint32_t derivations(std::uint32_t word) { return word >> 1; }

}  // namespace volvox::meld
