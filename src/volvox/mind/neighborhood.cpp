#include "volvox/mind/neighborhood.h"

#include <algorithm>
#include <cmath>

#include "volvox/base/check.h"

namespace volvox::mind {
namespace {

constexpr int bits = 21;
constexpr std::int64_t half = std::int64_t{1} << (bits - 1);

}  // namespace

// What is farther out than a million cells falls into the outermost one.
std::int64_t Neighborhood::index_of(double coordinate) const {
  VOLVOX_ASSERT(std::isfinite(coordinate) && cell_size_ > 0);
  return static_cast<std::int64_t>(
      clamp(std::floor(coordinate / cell_size_), -static_cast<double>(half) + 2, static_cast<double>(half) - 3));
}

// Cells along z follow each other.
std::uint64_t Neighborhood::cell_of(std::int64_t x, std::int64_t y, std::int64_t z) const {
  VOLVOX_ASSERT(x >= -half && x < half && y >= -half && y < half && z >= -half && z < half);
  return (static_cast<std::uint64_t>(x + half) << (2 * bits)) | (static_cast<std::uint64_t>(y + half) << bits) |
         static_cast<std::uint64_t>(z + half);
}

void Neighborhood::update(const world::World& world, double range) {
  cell_size_ = std::max(range, 1e-3);
  entries_.clear();
  for (const std::uint32_t module : world.modules()) {
    const Vec3 p = world.link_pose(world.part(module).first_link).position;
    entries_.push_back({cell_of(index_of(p.x), index_of(p.y), index_of(p.z)), module, p});
  }
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.cell != b.cell ? a.cell < b.cell : a.module < b.module; });
}

void Neighborhood::near(const Vec3& place, double range, std::uint32_t except, std::vector<Near>& out) const {
  VOLVOX_ASSERT(range <= cell_size_);
  out.clear();
  const std::int64_t x = index_of(place.x), y = index_of(place.y), z = index_of(place.z);
  for (std::int64_t i = x - 1; i <= x + 1; ++i) {
    for (std::int64_t j = y - 1; j <= y + 1; ++j) {
      const std::uint64_t last = cell_of(i, j, z + 1);
      auto entry = std::lower_bound(entries_.begin(), entries_.end(), cell_of(i, j, z - 1),
                                    [](const Entry& e, std::uint64_t cell) { return e.cell < cell; });
      for (; entry != entries_.end() && entry->cell <= last; ++entry) {
        if (entry->module == except) continue;
        const double distance = length(entry->position - place);
        if (distance <= range) out.push_back({distance, entry->module, entry->position});
      }
    }
  }
  std::sort(out.begin(), out.end(), [](const Near& a, const Near& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.module < b.module;
  });
}

}  // namespace volvox::mind
