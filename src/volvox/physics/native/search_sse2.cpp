// Pairs of polyhedra with the basic instructions, one by one.
#include "volvox/physics/native/pair_kernel.h"
#include "volvox/physics/native/search_kernel.h"

namespace volvox::physics::native {

void search_sse2(ConvexPair* const* pairs, std::size_t count, int rounds) { search_all<double>(pairs, count, rounds); }

void place_pairs_sse2(BodyPair* pairs, std::size_t count, double horizon) { place_all<double>(pairs, count, horizon); }

}  // namespace volvox::physics::native
