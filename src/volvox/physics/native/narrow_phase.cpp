#include "volvox/physics/native/narrow_phase.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/isa.h"
#include "volvox/physics/native/gjk_lanes.h"

namespace volvox::physics::native {
namespace {

// What touches is shifted apart along the normal that it had: by twice its overlap and this.
constexpr double least_shift = 1e-4;  // m
// What overlaps now and did not before is tried with this shift, and then with larger ones.
constexpr double first_shift = 5e-4, largest_shift = 8e-3;  // m
// Below this distance the direction between two polyhedra says little.
constexpr double too_near = 1e-7;  // m
// The least overlap is found where the normal is that of the shift, but for what changes the overlap by this.
constexpr double turned_enough = 1e-9;  // m
// Deeper, the shortest way out may be on another side than the last time.
constexpr double deep = 2e-3;  // m
constexpr int most_passes = 10;
// Pairs of a portion, the work of one thread at a time: enough to fill lanes again with what needs more rounds.
constexpr std::size_t pairs_of_a_portion = 64;
// Most searches that start from their last corners end after the first round, most others within six.
constexpr int rounds_of_a_pass[] = {2, 4, 8, 24};

void search_together(ConvexPair* const* pairs, std::size_t count, int rounds) {
  if (isa() == Isa::avx512) search_avx512(pairs, count, rounds);
  else if (isa() == Isa::avx2) search_avx2(pairs, count, rounds);
  else search_sse2(pairs, count, rounds);
}

void shift_by(ConvexPair& pair, const Vec3& normal, double amount) {
  pair.normal = normal, pair.known = true;
  pair.shifted = amount, pair.shift = normal * amount;
  pair.guess = normal;
}

void begin(ConvexPair& pair) {
  pair.corners.forget_beyond(pair.a->points.size(), pair.b->points.size());
  pair.guess = pair.known ? pair.normal : pair.a->centre - pair.place.to_first(pair.b->centre);
  if (length_squared(pair.guess) < 1e-20) pair.guess = {0, 0, 1};
  if (pair.known && pair.separation < too_near)
    shift_by(pair, pair.normal, 2 * std::max(0.0, -pair.separation) + least_shift);
}

// The exact answer, one pair alone.
void expand(ConvexPair& pair, GjkCount& count) {
  pair.found = proximity(*pair.a, *pair.b, pair.place, pair.reach, count);
  pair.corners = {};
}

// Where a search has ended, and whether it must go on: with more rounds, or with another shift.
enum class Next { settled, again, alone };

Next take_up_near(ConvexPair& pair) {
  const double size = length(pair.nearest);
  if (size < too_near) {
    if (!pair.known || pair.shifted > largest_shift) return Next::alone;
    shift_by(pair, pair.normal, pair.shifted + least_shift);
    return Next::again;
  }
  const Vec3 normal = pair.nearest / size;
  const double distance = size - dot(normal, pair.shift);
  if (pair.shifted > 0 && pair.shifted - dot(normal, pair.shift) > turned_enough) {
    shift_by(pair, normal, 2 * std::max(0.0, -distance) + least_shift);
    return pair.shifted > largest_shift ? Next::alone : Next::again;
  }
  if (distance < -deep) return Next::alone;
  pair.found.near = true, pair.found.distance = distance, pair.found.normal = normal;
  pair.found.on_a = pair.found.on_b = {};
  for (int k = 0; k < 3; ++k) {
    if (!pair.corners.has(k)) continue;
    const double weight = pair.weight[static_cast<std::size_t>(k)];
    pair.found.on_a += pair.a->points[static_cast<std::size_t>(pair.corners.a(k))] * weight;
    pair.found.on_b += pair.place.to_first(pair.b->points[static_cast<std::size_t>(pair.corners.b(k))]) * weight;
  }
  return Next::settled;
}

Next take_up(ConvexPair& pair) {
  if (++pair.passes > most_passes) return Next::alone;
  switch (static_cast<Search>(pair.outcome)) {
    case Search::open: return Next::again;
    case Search::far: pair.found = {}; return Next::settled;
    case Search::near: return take_up_near(pair);
    case Search::inside: break;
  }
  // They overlap, by more than the shift if there was one.
  const double amount = pair.shifted > 0 ? 3 * pair.shifted + first_shift : first_shift;
  if (!pair.known || amount > largest_shift) return Next::alone;
  shift_by(pair, pair.normal, amount);
  return Next::again;
}

}  // namespace

void NarrowPhase::settle(std::span<ConvexPair* const> pairs, Room& room, GjkCount& count) {
  room.now.assign(pairs.begin(), pairs.end());
  for (ConvexPair* pair : room.now) begin(*pair);
  count.calls += pairs.size();
  for (std::size_t pass = 0; !room.now.empty(); ++pass) {
    search_together(room.now.data(), room.now.size(),
                    rounds_of_a_pass[std::min(pass, std::size(rounds_of_a_pass) - 1)]);
    room.next.clear();
    for (ConvexPair* pair : room.now) {
      const Next next = take_up(*pair);
      if (next == Next::again) room.next.push_back(pair);
      if (next == Next::alone) expand(*pair, count);
    }
    room.now.swap(room.next);
  }
  for (const ConvexPair* pair : pairs) count.iterations += pair->rounds;
}

void NarrowPhase::run(ConvexPair& pair, GjkCount& count) {
  Room room;
  ConvexPair* one = &pair;
  settle({&one, 1}, room, count);
}

void NarrowPhase::run(std::span<ConvexPair* const> pairs, ThreadPool* threads, Work& work) {
  const std::size_t portions = (pairs.size() + pairs_of_a_portion - 1) / pairs_of_a_portion;
  while (rooms_.size() < portions) {
    rooms_.emplace_back();
    rooms_.back().now.reserve(pairs_of_a_portion), rooms_.back().next.reserve(pairs_of_a_portion);
  }
  parallel_for(threads, portions, 1, [&](std::size_t i) {
    GjkCount count;
    settle(pairs.subspan(i * pairs_of_a_portion, std::min(pairs_of_a_portion, pairs.size() - i * pairs_of_a_portion)),
           rooms_[i], count);
    Work::add(work.gjk_calls, count.calls), Work::add(work.gjk_iterations, count.iterations);
  });
}

}  // namespace volvox::physics::native
