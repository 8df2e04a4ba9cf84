// The numbers that contacts are solved by.
#pragma once

#include <cstddef>

namespace volvox::physics::native {

inline constexpr double correction = 0.5;       // the share of an overlap that a substep takes back
inline constexpr double allowed_overlap = 1e-4; // m; contacts that rest stay in touch
inline constexpr double fastest_push = 1.0;     // m/s
inline constexpr double slowest_bounce = 0.1;   // m/s; below it gravity's own speed in a step looks like one
inline constexpr double reach_speed = 0.3;      // m/s; contacts that a speed this much above their own reaches take part
// Interlocked bodies have no solution, and impulses would grow without bound: below this
// depth a contact gives way a little, by this share of its own response, or of what its two
// bodies would give way if they were free (a body with hardly any inertia responds by turning).
inline constexpr double deep = 3e-3, softness = 0.1;
// A body that is wedged in between two others of its island, or held beside another by docks, may
// press against them with whatever force it likes: nothing moves. Contacts within an island are
// springs that would give way by this share if their two bodies were free: about 1e6 N/m for
// bodies of half a kilogram in substeps of 1/240 s, as hard as plastic.
inline constexpr double softness_within = 0.01;
// A sweep that changes less than this is the last. What it leaves adds up over bodies that
// stand on each other: a group of n islands is solved n^2 times as well.
inline constexpr double settled = 2e-3, settled_together = 1e-3;  // m/s
inline constexpr double unsettled = 1e-2;  // m/s; a contact that changes more than this is far from it
inline constexpr std::size_t most_sweeps = 200;
// How often a substep is solved where contacts overload motors; and where joints would run through
// their limits, or a limit would pull.
inline constexpr int most_attempts = 3, most_attempts_at_limits = 6;

}  // namespace volvox::physics::native
