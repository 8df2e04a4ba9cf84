// Cloth and ropes are threads: lines of points that resist stretching. Threads of a group have no point in common and
// are solved side by side, each as a whole (its constraints form a tridiagonal system), so that a cloth of any length
// hangs without stretching. Kernels over plain arrays. SI units. Blocks of a group may be solved by different threads,
// with the same bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/archive.h"
#include "volvox/base/thread_pool.h"
#include "volvox/particles/solids.h"

namespace volvox::particles {

// Eight threads, filled up with torn ones.
struct ThreadBlock {
  std::uint32_t segments = 0;         // of the longest
  std::vector<std::uint32_t> points;  // ids, eight for each of segments + 1 places
  std::vector<std::uint32_t> index;   // where they are in memory now
  std::vector<float> rest;            // lengths, eight a segment; negative: torn, or there is none
};

struct ThreadGroup {
  float compliance = 0;  // m/N, of a segment
  float strength = 0;    // N; 0: never tears
  float longest = 0;     // of its length at rest: beyond it a segment tears, too; 0: never
  std::vector<ThreadBlock> blocks;

  void add(std::span<const std::vector<std::uint32_t>> threads, float length);  // of a segment
  void archive(Archive& ar);
};

// Looks up where the points are. Segments of drained points tear.
void find_points(ThreadBlock& block, const SolidArrays& solid);
// Solves eight threads: corrects `at` and `move` of their points. Returns how many segments tore.
std::uint32_t pull(const ThreadGroup& group, ThreadBlock& block, float dt, Point* at, Point* move);

}  // namespace volvox::particles
