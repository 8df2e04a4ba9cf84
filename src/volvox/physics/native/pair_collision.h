// The contacts of one pair of bodies: which of their convexes are near each other, and where the two bodies touch.
// SI units. Any thread: it writes to what it is given.
#pragma once

#include <span>
#include <vector>

#include "volvox/physics/native/manifold.h"
#include "volvox/physics/native/narrow_phase.h"
#include "volvox/physics/native/pair_kernel.h"

namespace volvox::physics::native {

// What one thread needs while it looks at pairs.
struct PairRoom {
  GjkCount count;
  Manifold manifold;  // to make one takes longer than to look at a plane
  std::vector<Box3> boxes;
};

// Lists the convexes of a pair that are near each other, in the order in which contacts are found: those whose distance
// NarrowPhase must tell, and others.
void list_convexes(BodyPair& pair, PairRoom& room, std::vector<ConvexPair>& listed);

// Adds the contacts of the next `horizon` seconds; points that were there before keep their impulses. `listed`: those
// of this pair, with what the narrow phase has found.
void add_contacts(const BodyPair& pair, std::span<const ConvexPair> listed, double horizon, PairRoom& room,
                  std::vector<ContactPoint>& contacts);

}  // namespace volvox::physics::native
