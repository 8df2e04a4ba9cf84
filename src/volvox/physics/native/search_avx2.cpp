// Pairs of polyhedra side by side, with AVX2: see kernel_surroundings.h.
#include "volvox/physics/native/kernel_surroundings.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC push_options
#  pragma GCC target("avx2")
#endif
#include "volvox/physics/native/pair_kernel.h"
#include "volvox/physics/native/search_kernel.h"

namespace volvox::physics::native {

void search_avx2(ConvexPair* const* pairs, std::size_t count, int rounds) {
  search_all<FourLanes>(pairs, count, rounds);
}

void place_pairs_avx2(BodyPair* pairs, std::size_t count, double horizon) {
  place_all<FourLanes>(pairs, count, horizon);
}

}  // namespace volvox::physics::native

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC pop_options
#endif
