// How far pairs of polyhedra are apart, or how deep they overlap: many at once, side by side in lanes. What a pair
// comes to depends on nothing but itself: neither on who is beside it nor on the width of the registers nor on threads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/thread_pool.h"
#include "volvox/physics/native/contact.h"
#include "volvox/physics/native/gjk.h"

namespace volvox::physics::native {

// Two polyhedra that may be near each other.
struct ConvexPair {
  // Asked.
  const Convex* a = nullptr;
  const Convex* b = nullptr;
  Placement place;   // of b in a's frame
  double reach = 0;  // farther apart is not near
  // What is known from the last time, if anything: where to start.
  bool known = false;
  Vec3 normal;             // in a's frame
  double separation = 0;   // along it
  SimplexCorners corners;  // also found

  // Found.
  Proximity found;

  // Of the search.
  Vec3 shift, guess, nearest;
  double shifted = 0;  // the length of the shift
  std::array<double, 3> weight{};
  int outcome = 0, passes = 0;
  std::uint64_t rounds = 0;
};

// Some rounds of the search, by the instructions that a machine may have.
void search_sse2(ConvexPair* const* pairs, std::size_t count, int rounds);
void search_avx2(ConvexPair* const* pairs, std::size_t count, int rounds);
void search_avx512(ConvexPair* const* pairs, std::size_t count, int rounds);

class NarrowPhase {
 public:
  // Whether a pair can be searched for in lanes.
  static bool handles(const Convex& a, const Convex& b) { return a.polyhedron() && b.polyhedron(); }

  // Sets `found` and `corners` of all pairs.
  void run(std::span<ConvexPair* const> pairs, ThreadPool* threads, Work& work);
  // One pair, by the same steps.
  static void run(ConvexPair& pair, GjkCount& count);

 private:
  struct Room {
    std::vector<ConvexPair*> now, next;
  };
  static void settle(std::span<ConvexPair* const> pairs, Room& room, GjkCount& count);

  std::vector<Room> rooms_;  // by portion, kept from one run to the next
};

}  // namespace volvox::physics::native
