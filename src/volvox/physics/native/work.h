// What the engine did, counted: sums of whole numbers, so that threads do not matter.
#pragma once

#include <atomic>
#include <cstdint>

namespace volvox::physics::native {

struct GjkCount {
  std::uint64_t calls = 0, iterations = 0;
};

struct Work {
  using Count = std::atomic<std::uint64_t>;

  Count detections = 0;          // of all contacts
  Count partial_detections = 0;  // for those that were alarmed
  Count hasty_detections = 0;
  Count alarmed_bodies = 0;
  Count pairs = 0;  // of bodies whose contacts were looked for
  Count gjk_calls = 0, gjk_iterations = 0;
  Count group_substeps = 0;  // groups, each in each substep
  Count attempts = 0;        // predictions, sweeps and verdicts of them
  Count sweeps = 0, contact_solves = 0;
  Count looks = 0;                           // at contacts that push nothing
  Count batch_contacts = 0, batch_room = 0;  // side by side, at the end of each sweep; the same, with empty lanes
  Count lone_substeps = 0;                   // trees that are alone, each in each substep
  Count lane_substeps = 0;                   // that lanes computed for them, some again after a call back
  Count lane_room = 0;                       // the same, with lanes that were empty
  Count called_back = 0;                     // trees
  Count bytes_moved = 0;                     // between bodies and lanes

  static void add(Count& count, std::uint64_t more) { count.fetch_add(more, std::memory_order_relaxed); }
};

}  // namespace volvox::physics::native
