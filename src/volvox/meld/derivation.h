// Why a derived fact is there. Each fact has a record for each support: where the derivation came from, and how deep it
// is. Neighbours that support each other's facts after the source is gone would keep them for ever; but each of them is
// deeper than the other, so that their depths grow. A fact with a source follows from other facts, each of which is
// less deep, so none is deeper than there are facts: rules do not see a record that is (Machine::may_be_seen). It
// stays, for whoever told it takes it back.
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
