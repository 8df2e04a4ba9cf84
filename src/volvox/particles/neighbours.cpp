#include "volvox/particles/neighbours.h"

#include <algorithm>
#include <bit>
#include <cmath>
#if defined(__x86_64__) && defined(__GNUC__)
#  include <immintrin.h>
#endif

#include "volvox/base/check.h"
#include "volvox/base/index.h"

namespace volvox::particles {
namespace {

struct Rows {
  std::uint32_t begin[rows_about], end[rows_about];
  std::size_t total = 0;
  unsigned filled = 0;  // a bit each
};
VOLVOX_KERNEL void find_rows(const Cells& cells, const std::uint32_t* first, std::uint32_t cell, Rows& rows) {
  rows.total = 0, rows.filled = 0;
  for (int k = 0; k < rows_about; ++k) {
    const Row row = row_about(cells, first, cell, k);
    rows.begin[k] = row.begin, rows.end[k] = row.end;
    rows.total += row.end - row.begin;
    rows.filled |= (row.begin < row.end ? 1u : 0u) << k;
  }
}

// The lists of a block, while they are written. Grows as it needs to; what is written stays.
struct Scratch {
  std::vector<std::uint32_t> entries;
  __attribute__((noinline)) void grow(std::size_t size) { entries.resize(2 * size); }
};
struct Search {
  const Cells* cells;
  const SortedPoints *who, *whom;
  float skin;
  std::uint32_t nobody;
  std::uint32_t *first, *count;
};

// NearWriter::write lists which points of [begin, end) are near one point, except that point itself (`self`), in
// ascending order, and returns how many there are. It writes whole registers: `out` must have room for so many numbers
// beyond the list.
constexpr std::size_t overrun = 16;

// Writes `first` plus the number of each bit that is set, four at a time: a loop of few, similar lengths is predicted
// better by the processor.
VOLVOX_KERNEL std::size_t write_bits(std::uint64_t bits, std::uint32_t first, std::uint32_t* out) {
  const int count = std::popcount(bits);
  for (int k = 0; k < count; k += 4) {
    for (int n = 0; n < 4; ++n, bits &= bits - 1)
      out[k + n] = first + static_cast<std::uint32_t>(std::countr_zero(bits | std::uint64_t{1} << 63));
  }
  return static_cast<std::size_t>(count);
}

// A bit for each of up to 64 points from `first` on: set if it is near the point x, y, z.
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

template <Isa Set, bool SameReach>
struct NearWriter {
  Lanes x, y, z, reach;

  VOLVOX_KERNEL NearWriter(float px, float py, float pz, float far)
      : x(all_lanes(px)), y(all_lanes(py)), z(all_lanes(pz)), reach(all_lanes(far)) {}
  VOLVOX_KERNEL std::size_t write(const SortedPoints& points, std::uint32_t begin, std::uint32_t end, std::size_t self,
                                  std::uint32_t* out) const {
    std::size_t size = 0;
    for (std::uint32_t j = begin; j < end; j += 64) {
      std::uint64_t near = near_bits<SameReach>(points, j, std::min(64u, end - j), x, y, z, reach);
      if (self - j < 64) near &= ~(std::uint64_t{1} << (self - j));
      size += write_bits(near, j, out + size);
    }
    return size;
  }
};

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
// Sixteen points at a time; one instruction moves the numbers of those that are near side by side. Builtins, because
// intrinsics would need a file that is compiled for AVX-512 alone. It compares as near_bits does, so the lists are
// equal.
template <bool SameReach>
struct NearWriter<Isa::avx512, SameReach> {
  typedef float Floats __attribute__((vector_size(64)));
  typedef int Ints __attribute__((vector_size(64)));
  typedef float FloatsAnywhere __attribute__((vector_size(64), aligned(4), may_alias));
  typedef int IntsAnywhere __attribute__((vector_size(64), aligned(4), may_alias));
  float x, y, z, reach;

  VOLVOX_KERNEL NearWriter(float px, float py, float pz, float far) : x(px), y(py), z(pz), reach(far) {}
  VOLVOX_KERNEL static Floats from(const std::vector<float>& v, std::uint32_t j) {
    return *reinterpret_cast<const FloatsAnywhere*>(v.data() + j);
  }
  VOLVOX_KERNEL std::size_t write(const SortedPoints& points, std::uint32_t begin, std::uint32_t end, std::size_t self,
                                  std::uint32_t* out) const {
    constexpr int less = 1, rounding_as_set = 4;
    const Ints count = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    std::size_t size = 0;
    for (std::uint32_t j = begin; j < end; j += 16) {
      const Floats dx = from(points.x, j) - x, dy = from(points.y, j) - y, dz = from(points.z, j) - z;
      const Floats far = SameReach ? reach - Floats{} : from(points.reach, j) + reach;
      std::uint32_t within = end - j < 16 ? (1u << (end - j)) - 1 : 0xffffu;
      if (self - j < 16) within &= ~(1u << (self - j));
      const std::uint32_t near = static_cast<std::uint16_t>(__builtin_ia32_cmpps512_mask(
          dx * dx + dy * dy + dz * dz, far * far, less, static_cast<std::int16_t>(within), rounding_as_set));
      const Ints numbers = count + static_cast<int>(j);
      *reinterpret_cast<IntsAnywhere*>(out + size) = reinterpret_cast<IntsAnywhere>(
          __builtin_ia32_compresssi512_mask(numbers, Ints{}, static_cast<std::int16_t>(near)));
      size += static_cast<std::size_t>(std::popcount(near));
    }
    return size;
  }
};
#endif

template <class Writer>
VOLVOX_KERNEL std::size_t write_rows(const Writer& writer, const SortedPoints& points, const Rows& rows, unsigned near,
                                     std::size_t self, std::uint32_t* out) {
  std::size_t size = 0;
  for (; near != 0; near &= near - 1) {
    const int row = std::countr_zero(near);
    size += writer.write(points, rows.begin[row], rows.end[row], self, out + size);
  }
  return size;
}

// Fills `scratch`, and returns how many of its numbers are used.
VOLVOX_FOR_EACH_ISA(std::size_t, find_lists,
                    (const Search& search, std::size_t begin, std::size_t end, Scratch& scratch),
                    (search, begin, end, scratch)) {
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
    const float own = who.reach[i] + search.skin, far = own + whom.most_reach;
    const unsigned near = far * search.cells->scale[1] < 0.9f
                              ? rows_within(*search.cells, cell, who.y[i], who.z[i], far) & rows.filled
                              : rows.filled;
    const std::size_t self = same ? i : ~std::size_t{0};
    const std::size_t room = size + rows.total + lanes + overrun;
    if (scratch.entries.size() < room) scratch.grow(room);
    std::uint32_t* const out = scratch.entries.data();
    search.first[i] = static_cast<std::uint32_t>(size);
    size += whom.same_reach ? write_rows(NearWriter<Set, true>(who.x[i], who.y[i], who.z[i], whom.reach[0] + own), whom,
                                         rows, near, self, out + size)
                            : write_rows(NearWriter<Set, false>(who.x[i], who.y[i], who.z[i], own), whom, rows, near,
                                         self, out + size);
    while ((size - search.first[i]) % lanes != 0) out[size++] = search.nobody;
    search.count[i] = static_cast<std::uint32_t>(size) - search.first[i];
  }
  return size;
}

}  // namespace

void SortedPoints::sort(const Cells& cells, std::span<const Point> points, ThreadPool* threads) {
  count = points.size();
  for (auto* array : {&cell, &cell_before, &order}) array->resize(count);
  for_blocks(threads, count, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) cell_before[i] = cell_of(cells, points[i]);
  });
  first.assign(cells.total() + 2, 0);
  for (const std::uint32_t c : cell_before) ++first[c + 2];
  std::uint32_t sum = 0;
  for (std::uint32_t& f : first) f = sum += f;
  // The entry after a cell's is the place of its next point, and in the end that of the first of the next cell.
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t c = cell_before[i], place = first[c + 1]++;
    order[place] = static_cast<std::uint32_t>(i);
    cell[place] = c;
  }
}

void SortedPoints::fill(std::span<const Point> points, std::span<const float> reaches, ThreadPool* threads) {
  for (auto* array : {&x, &y, &z, &reach}) array->resize(count + overrun);
  same_reach = reaches.size() == 1;
  for_blocks(threads, count, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (std::size_t i = begin; i < end; ++i) {
      x[i] = points[i].x, y[i] = points[i].y, z[i] = points[i].z;
      reach[i] = reaches[reaches.size() == 1 ? 0 : i];
    }
  });
  most_reach = reaches.empty() ? 0 : *std::max_element(reaches.begin(), reaches.end());
}

bool Neighbours::are_sound(std::size_t points, std::uint32_t nobody) const {
  if (first.size() != points || count.size() != points || blocks.size() != blocks_of(points)) return false;
  for (std::size_t i = 0; i < points; ++i) {
    if (count[i] % lanes != 0 || std::size_t{first[i]} + count[i] > blocks[i / block_size].size()) return false;
    for (const std::uint32_t j : of(i))
      if (j > nobody) return false;
  }
  return true;
}

void Neighbours::find(const Cells& cells, const SortedPoints& who, const SortedPoints& whom, float skin,
                      std::uint32_t nobody, ThreadPool* threads) {
  first.resize(who.count);
  count.resize(who.count);
  blocks.resize(blocks_of(who.count));
  const Search search{&cells, &who, &whom, skin, nobody, first.data(), count.data()};
  for_blocks(threads, who.count, [&](std::size_t begin, std::size_t end, std::size_t block) {
    thread_local Scratch scratch;
    const std::size_t size = find_lists(search, begin, end, scratch);
    VOLVOX_ASSERT(size <= scratch.entries.size());
    blocks[block].assign(scratch.entries.begin(), scratch.entries.begin() + static_cast<std::ptrdiff_t>(size));
  });
  VOLVOX_ASSERT(are_sound(who.count, nobody));
}

}  // namespace volvox::particles
