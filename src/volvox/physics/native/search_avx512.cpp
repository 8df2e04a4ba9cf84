// Pairs of polyhedra side by side, with AVX-512: see kernel_surroundings.h.
#include "volvox/physics/native/kernel_surroundings.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC push_options
#  pragma GCC target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl")
#endif
#include "volvox/physics/native/pair_kernel.h"
#include "volvox/physics/native/search_kernel.h"

namespace volvox::physics::native {

void search_avx512(ConvexPair* const* pairs, std::size_t count, int rounds) {
  search_all<EightLanes>(pairs, count, rounds);
}

void place_pairs_avx512(BodyPair* pairs, std::size_t count, double horizon) {
  place_all<EightLanes>(pairs, count, horizon);
}

}  // namespace volvox::physics::native

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  pragma GCC pop_options
#endif
