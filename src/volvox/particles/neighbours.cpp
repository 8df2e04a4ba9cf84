#include "volvox/particles/neighbours.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "volvox/base/index.h"

namespace volvox::particles {
namespace {

struct Rows {
  std::uint32_t begin[rows_about], end[rows_about];
  std::size_t total = 0;
};
VOLVOX_KERNEL void find_rows(const Cells& cells, const std::uint32_t* first, std::uint32_t cell, Rows& rows) {
  rows.total = 0;
  for (int k = 0; k < rows_about; ++k) {
    const Row row = row_about(cells, first, cell, k);
    rows.begin[k] = row.begin, rows.end[k] = row.end;
    rows.total += row.end - row.begin;
  }
}

struct Search {
  const Cells* cells;
  const SortedPoints *who, *whom;
  float skin;
  std::uint32_t nobody;
  std::uint32_t *first, *count;
};

// Writes the numbers of the bits that are set, from `first` on, four at a time: how often the loop runs is easier to
// foretell. Writes up to three numbers too many.
VOLVOX_KERNEL std::size_t write_bits(std::uint64_t bits, std::uint32_t first, std::uint32_t* out) {
  const int count = std::popcount(bits);
  for (int k = 0; k < count; k += 4) {
    for (int n = 0; n < 4; ++n, bits &= bits - 1)
      out[k + n] = first + static_cast<std::uint32_t>(std::countr_zero(bits | std::uint64_t{1} << 63));
  }
  return static_cast<std::size_t>(count);
}

// Which of up to 64 points from `first` on are near one.
template <bool SameReach>
VOLVOX_KERNEL std::uint64_t near_bits(const SortedPoints& points, std::uint32_t first, std::uint32_t count,
                                      const Lanes& x, const Lanes& y, const Lanes& z, const Lanes& reach) {
  std::uint64_t near = 0;
  for (std::uint32_t k = 0; k < count; k += lanes) {
    const std::uint32_t j = first + k;
    const Lanes dx = load(&points.x[j]) - x, dy = load(&points.y[j]) - y, dz = load(&points.z[j]) - z;
    const Lanes far = SameReach ? reach : load(&points.reach[j]) + reach;
    near |= std::uint64_t{bits_of(dx * dx + dy * dy + dz * dz < far * far)} << k;
  }
  return count < 64 ? near & ((std::uint64_t{1} << count) - 1) : near;
}

// Fills `out`, which has room for all candidates and eight more, and returns how much of it.
VOLVOX_FOR_EACH_ISA(std::size_t, find_lists,
                    (const Search& search, std::size_t begin, std::size_t end, std::uint32_t* out),
                    (search, begin, end, out)) {
  const SortedPoints &who = *search.who, &whom = *search.whom;
  const bool same = &who == &whom;
  std::size_t size = 0;
  Rows rows;
  std::uint32_t cell = ~0u;
  for (std::size_t i = begin; i < end; ++i) {
    if (who.cell[i] != cell) {
      cell = who.cell[i];
      find_rows(*search.cells, whom.first.data(), cell, rows);
    }
    const Lanes x = all_lanes(who.x[i]), y = all_lanes(who.y[i]), z = all_lanes(who.z[i]);
    const Lanes own = all_lanes(who.reach[i] + search.skin), both = all_lanes(whom.reach[0]) + own;
    search.first[i] = static_cast<std::uint32_t>(size);
    for (int row = 0; row < rows_about; ++row) {
      for (std::uint32_t j = rows.begin[row]; j < rows.end[row]; j += 64) {
        const std::uint32_t some = std::min(64u, rows.end[row] - j);
        std::uint64_t near = whom.same_reach ? near_bits<true>(whom, j, some, x, y, z, both)
                                             : near_bits<false>(whom, j, some, x, y, z, own);
        if (same && i - j < 64) near &= ~(std::uint64_t{1} << (i - j));
        size += write_bits(near, j, out + size);
      }
    }
    while ((size - search.first[i]) % lanes != 0) out[size++] = search.nobody;
    search.count[i] = static_cast<std::uint32_t>(size) - search.first[i];
  }
  return size;
}

}  // namespace

void SortedPoints::sort(const Cells& cells, std::span<const Point> points, ThreadPool* threads) {
  count = points.size();
  cell.resize(count);
  order.resize(count);
  for_blocks(threads, count, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) cell[i] = cell_of(cells, points[i]);
  });
  first.assign(cells.total() + 1, 0);
  for (const std::uint32_t c : cell) ++first[c + 1];
  std::uint32_t sum = 0;
  for (std::uint32_t& f : first) f = sum += f;
  // `first` serves as the place of the next point of each cell, and is moved back after.
  for (std::size_t i = 0; i < count; ++i) order[first[cell[i]]++] = static_cast<std::uint32_t>(i);
  for (std::size_t c = first.size() - 1; c > 0; --c) first[c] = first[c - 1];
  first[0] = 0;
}

void SortedPoints::fill(std::span<const Point> points, std::span<const float> reaches, ThreadPool* threads) {
  for (auto* array : {&x, &y, &z, &reach}) array->resize(count + lanes);
  same_reach = reaches.size() == 1;
  for_blocks(threads, count, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      x[i] = points[i].x, y[i] = points[i].y, z[i] = points[i].z;
      reach[i] = reaches[reaches.size() == 1 ? 0 : i];
    }
  });
  std::size_t i = 0;
  for (std::size_t c = 0; i < count; ++c)
    while (i < first[c + 1]) cell[i++] = static_cast<std::uint32_t>(c);
}

void Neighbours::find(const Cells& cells, const SortedPoints& who, const SortedPoints& whom, float skin,
                      std::uint32_t nobody, ThreadPool* threads) {
  first.resize(who.count);
  count.resize(who.count);
  blocks.resize(blocks_of(who.count));
  const Search search{&cells, &who, &whom, skin, nobody, first.data(), count.data()};
  for_blocks(threads, who.count, [&](std::size_t begin, std::size_t end, std::size_t block) {
    thread_local std::vector<std::uint32_t> scratch;
    std::size_t room = 0;
    Rows rows;
    for (std::size_t i = begin; i < end; ++i) {
      if (i == begin || who.cell[i] != who.cell[i - 1]) find_rows(cells, whom.first.data(), who.cell[i], rows);
      room += rows.total + lanes;
    }
    if (scratch.size() < room + lanes) scratch.resize(room + lanes);
    const std::size_t size = find_lists(search, begin, end, scratch.data());
    blocks[block].assign(scratch.begin(), scratch.begin() + static_cast<std::ptrdiff_t>(size));
  });
}

}  // namespace volvox::particles
