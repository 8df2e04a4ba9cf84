// Who is near whom: points sorted by cells, so that neighbours lie together in memory, and lists of neighbours in
// multiples of eight. Deterministic at any number of threads: a list is written by one thread, in the order of the
// cells.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "volvox/base/math.h"
#include "volvox/base/thread_pool.h"
#include "volvox/particles/cells.h"
#include "volvox/particles/lanes.h"

namespace volvox::particles {

inline constexpr std::size_t block_size = 128;  // particles that a thread takes at a time; sums are made by blocks
inline std::size_t blocks_of(std::size_t count) { return (count + block_size - 1) / block_size; }

// Calls work(begin, end, block) for every block of `count` particles.
template <class Work>
void for_blocks(ThreadPool* threads, std::size_t count, const Work& work) {
  parallel_for(threads, blocks_of(count), 4, [&](std::size_t block) {
    const std::size_t begin = block * block_size, end = begin + block_size < count ? begin + block_size : count;
    work(begin, end, block);
  });
}

// Puts an array into a new order (old numbers); `more` entries are added at the end.
template <class T>
void reorder(std::vector<T>& array, const std::vector<std::uint32_t>& order, std::size_t more, ThreadPool* threads) {
  std::vector<T> sorted(order.size() + more);
  for_blocks(threads, order.size(), [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) sorted[i] = array[order[i]];
  });
  array.swap(sorted);
}

// The points of one set, by cells.
struct SortedPoints {
  std::vector<std::uint32_t> first;   // by cell: its first point, and one more entry
  std::vector<std::uint32_t> cell;    // by point, in the new order
  std::vector<float> x, y, z, reach;  // by point, and some more, which are read and ignored
  float most_reach = 0;
  bool same_reach = false;           // all have the first one's
  std::vector<std::uint32_t> order;  // of the last sorting: the old number of each point
  std::size_t count = 0;
  std::vector<std::uint32_t> cell_before;  // by point, in the old order

  // Finds the new order (stable: by cell, then as before).
  void sort(const Cells& cells, std::span<const Point> points, ThreadPool* threads);
  // After the points have been put into that order.
  void fill(std::span<const Point> points, std::span<const float> reaches, ThreadPool* threads);
};

// The neighbours of each point of one set in another, or in the same one.
struct Neighbours {
  std::vector<std::vector<std::uint32_t>> blocks;  // by block: the lists, one after another
  std::vector<std::uint32_t> first, count;         // by point: in its block; counts are multiples of eight

  // Nobody, where nothing was searched.
  std::span<const std::uint32_t> of(std::size_t i) const {
    if (count.empty()) return {};
    return {blocks[i / block_size].data() + first[i], count[i]};
  }
  // Lists, for each point of `who`, the points of `whom` that are nearer than both reaches and `skin` together (m).
  // `nobody`, the number of a point far away, fills lists up to a multiple of eight.
  void find(const Cells& cells, const SortedPoints& who, const SortedPoints& whom, float skin, std::uint32_t nobody,
            ThreadPool* threads);
  // For asserts: lists lie in their blocks, in multiples of eight, and name points up to `nobody` only.
  bool are_sound(std::size_t points, std::uint32_t nobody) const;
};

}  // namespace volvox::particles
