#include "volvox/lattice/motion.h"

#include "volvox/lattice/catom.h"

namespace volvox::lattice {
namespace {

constexpr std::size_t wishes_a_thread = 1024;

std::uint8_t coded(const Roll& roll) { return narrow<std::uint8_t>(1 + 2 * roll.pivot + number_of(roll.turn)); }
Roll decoded(std::uint8_t code) {
  return {0, narrow<std::uint8_t>((code - 1) / 2), (code - 1) % 2 == 0 ? Turn::counter_clockwise : Turn::clockwise};
}

}  // namespace

bool Referee::is_free(const Ensemble& ensemble, const Roll& roll) const {
  const auto around = ensemble.around(roll.catom);
  return around.at(roll.to()) == nobody && around.at(roll.beyond()) == nobody;
}

// Whether a catom wants to go through the cell at one of its ports.
bool Referee::goes_through(std::uint32_t catom, int port) const {
  if (wish_[catom] == 0) return false;
  const Roll roll = decoded(wish_[catom]);
  return roll.to() == port || roll.beyond() == port;
}

// Whoever could be in the way is a neighbour of one of the two cells, the pivot, or leans on this catom.
bool Referee::wins(const Ensemble& ensemble, std::uint64_t key_of_tick, const Roll& roll) const {
  const std::uint64_t key = catom_key(key_of_tick, roll.catom);
  const auto before = [&](std::uint32_t other) { return catom_key(key_of_tick, other) < key; };
  const auto around = ensemble.around(roll.catom);
  const std::uint32_t pivot = around.at(roll.pivot);
  if (wish_[pivot] != 0 && before(pivot)) return false;
  for (int port = 0; port < 6; ++port) {
    const std::uint32_t other = around.at(port);
    if (other == nobody || wish_[other] == 0) continue;
    if (decoded(wish_[other]).pivot == Lattice::opposite(port) && before(other)) return false;
  }
  const Lattice& lattice = ensemble.lattice();
  const Cell here = ensemble.cell(roll.catom);
  for (const int way : {roll.to(), roll.beyond()}) {
    const auto beside = ensemble.around(lattice.neighbor(here, way));
    for (int port = 0; port < 6; ++port) {
      const std::uint32_t other = beside.at(port);
      if (other == nobody || other == roll.catom) continue;
      if (goes_through(other, Lattice::opposite(port)) && before(other)) return false;
    }
  }
  return true;
}

void Referee::decide(const Ensemble& ensemble, std::uint64_t key_of_tick, std::vector<Roll>& wishes, MotionCount& count,
                     ThreadPool* threads) {
  wish_.resize(ensemble.count());
  possible_.resize(wishes.size());
  parallel_for(threads, wishes.size(), wishes_a_thread, [&](std::size_t i) {
    possible_[i] = is_free(ensemble, wishes[i]);
    if (possible_[i] != 0) wish_[wishes[i].catom] = coded(wishes[i]);
  });
  for (const std::uint8_t possible : possible_) count.blocked += 1 - possible;
  parallel_for(threads, wishes.size(), wishes_a_thread, [&](std::size_t i) {
    if (possible_[i] != 0 && !wins(ensemble, key_of_tick, wishes[i])) possible_[i] = 2;
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    wish_[wishes[i].catom] = 0;
    if (possible_[i] == 2) ++count.lost;
    if (possible_[i] == 1) wishes[kept++] = wishes[i];
  }
  wishes.resize(kept);
  count.moves += kept;
}

}  // namespace volvox::lattice
