#include "volvox/lattice/motion.h"

#include <algorithm>
#include <bit>

#include "volvox/lattice/catom.h"

namespace volvox::lattice {

Referee::Claim& Referee::claim(PackedCell cell) {
  std::size_t slot = (cell * 0x9E3779B97F4A7C15ull >> 24) & mask_;
  while (claims_[slot].cell != cell && claims_[slot].cell != no_cell) slot = (slot + 1) & mask_;
  claims_[slot].cell = cell;
  return claims_[slot];
}

void Referee::clear(std::size_t claims) {
  claims_.assign(std::bit_ceil(2 * claims + 1), Claim{});
  mask_ = claims_.size() - 1;
}

const std::vector<Roll>& Referee::decide(const Ensemble& ensemble, std::uint64_t key_of_tick, std::vector<Roll>& wishes,
                                         MotionCount& count) {
  std::sort(wishes.begin(), wishes.end(), [](const Roll& a, const Roll& b) { return a.catom < b.catom; });
  possible_.clear();
  chosen_.clear();
  for (const Roll& wish : wishes) {
    const auto around = ensemble.around(wish.catom);
    if (around.at(wish.to()) == nobody && around.at(wish.beyond()) == nobody) possible_.push_back(wish);
    else ++count.blocked;
  }
  const Lattice& lattice = ensemble.lattice();
  const auto neighbor = [&](const Roll& roll, int port) {
    return pack(lattice.neighbor(ensemble.cell(roll.catom), port));
  };
  clear(4 * possible_.size());
  for (const Roll& roll : possible_) {
    const std::uint64_t key = catom_key(key_of_tick, roll.catom);
    const auto alone = [&](PackedCell cell) {
      std::uint64_t& lowest = claim(cell).alone;
      lowest = std::min(lowest, key);
    };
    alone(pack(ensemble.cell(roll.catom)));
    alone(neighbor(roll, roll.to()));
    alone(neighbor(roll, roll.beyond()));
    std::uint64_t& lowest = claim(neighbor(roll, roll.pivot)).shared;
    lowest = std::min(lowest, key);
  }
  for (const Roll& roll : possible_) {
    const std::uint64_t key = catom_key(key_of_tick, roll.catom);
    const auto has = [&](PackedCell cell) {
      const Claim& c = claim(cell);
      return c.alone == key && key < c.shared;
    };
    const bool wins = has(pack(ensemble.cell(roll.catom))) && has(neighbor(roll, roll.to())) &&
                      has(neighbor(roll, roll.beyond())) && key < claim(neighbor(roll, roll.pivot)).alone;
    if (wins) chosen_.push_back(roll);
    else ++count.lost;
  }
  count.moves += chosen_.size();
  return chosen_;
}

}  // namespace volvox::lattice
