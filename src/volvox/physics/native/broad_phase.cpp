#include "volvox/physics/native/broad_phase.h"

#include <algorithm>
#include <cmath>

namespace volvox::physics::native {
namespace {

double size_of(const Box3& box) { return 2 * std::max({box.half.x, box.half.y, box.half.z}); }

bool overlap(const Box3& a, const Box3& b) {
  return std::fabs(a.centre.x - b.centre.x) <= a.half.x + b.half.x && std::fabs(a.centre.y - b.centre.y) <= a.half.y + b.half.y &&
         std::fabs(a.centre.z - b.centre.z) <= a.half.z + b.half.z;
}

constexpr std::int64_t offset = 1 << 20;  // cells are counted from -offset; 21 bits a coordinate

std::uint64_t pack(std::int64_t x, std::int64_t y, std::int64_t z) {
  const auto bits = [](std::int64_t v) { return static_cast<std::uint64_t>(std::clamp<std::int64_t>(v + offset, 0, 2 * offset - 1)); };
  return bits(x) << 42 | bits(y) << 21 | bits(z);
}

std::uint64_t scatter(std::uint64_t cell) {
  cell ^= cell >> 31;
  cell *= 0x9e3779b97f4a7c15ull;
  return cell ^ cell >> 29;
}

}  // namespace

// The mean size, or rather the largest that is not far above it.
void BroadPhase::choose_cell(std::span<const Item> items) {
  double total = 0;
  std::size_t count = 0;
  for (const Item& item : items) {
    if (item.moves) total += size_of(item.box), ++count;
  }
  const double limit = count > 0 ? 4 * total / static_cast<double>(count) : 0;
  cell_ = 1e-3;
  large_.clear();
  is_large_.assign(items.size(), 0);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const double size = size_of(items[i].box);
    if (size > limit) {
      is_large_[i] = 1;
      large_.push_back(static_cast<int>(i));
    } else {
      cell_ = std::max(cell_, size);
    }
  }
}

std::uint64_t BroadPhase::cell_of(const Vec3& p) const {
  return pack(static_cast<std::int64_t>(std::floor(p.x / cell_)), static_cast<std::int64_t>(std::floor(p.y / cell_)),
              static_cast<std::int64_t>(std::floor(p.z / cell_)));
}

void BroadPhase::find_pairs(std::span<const Item> items, std::vector<Pair>& pairs) {
  pairs.clear();
  choose_cell(items);
  std::uint64_t slots = 16;
  while (slots < 2 * items.size()) slots *= 2;
  mask_ = slots - 1;
  head_.assign(slots, -1);
  entries_.resize(items.size());
  // Backwards, so that chains run in the order of the items.
  for (std::size_t i = items.size(); i-- > 0;) {
    if (is_large_[i]) continue;
    Entry& entry = entries_[i];
    entry.cell = cell_of(items[i].box.centre);
    int& head = head_[scatter(entry.cell) & mask_];
    entry.next = head;
    head = static_cast<int>(i);
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].moves) collect(items, i, pairs);
  }
}

void BroadPhase::collect(std::span<const Item> items, std::size_t index, std::vector<Pair>& pairs) {
  const Item& item = items[index];
  const std::size_t first = pairs.size();
  const auto consider = [&](std::size_t other) {
    const Item& o = items[other];
    if (other == index || (o.moves && other < index) || !overlap(item.box, o.box)) return;
    pairs.push_back({item.body, o.body});
  };
  for (int i : large_) consider(static_cast<std::size_t>(i));
  if (is_large_[index]) {
    for (std::size_t i = index + 1; i < items.size(); ++i) {
      if (!is_large_[i]) consider(i);
    }
    for (std::size_t i = 0; i < index; ++i) {
      if (!is_large_[i] && !items[i].moves) consider(i);
    }
  } else {
    const Vec3& c = item.box.centre;
    const auto x = static_cast<std::int64_t>(std::floor(c.x / cell_)), y = static_cast<std::int64_t>(std::floor(c.y / cell_));
    const auto z = static_cast<std::int64_t>(std::floor(c.z / cell_));
    for (std::int64_t dx = -1; dx <= 1; ++dx) {
      for (std::int64_t dy = -1; dy <= 1; ++dy) {
        for (std::int64_t dz = -1; dz <= 1; ++dz) {
          const std::uint64_t cell = pack(x + dx, y + dy, z + dz);
          for (int i = head_[scatter(cell) & mask_]; i >= 0; i = entries_[static_cast<std::size_t>(i)].next) {
            if (entries_[static_cast<std::size_t>(i)].cell == cell) consider(static_cast<std::size_t>(i));
          }
        }
      }
    }
  }
  std::sort(pairs.begin() + static_cast<std::ptrdiff_t>(first), pairs.end());
}

}  // namespace volvox::physics::native
