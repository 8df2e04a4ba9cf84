#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/particles/particle_world.h"

namespace volvox::particles {
namespace {

constexpr float longest = 1.5f;  // of its length at rest: a segment of a cloth that can tear

Result<void> check(const ClothDesc& desc) {
  const auto bad = [](const char* what, const char* fix) { return Error(fmt::format("cloth: {}", what), fix); };
  if (desc.columns < 2 || desc.rows < 1 || real(desc.columns) * desc.rows > 1e8)
    return bad("it needs 2 columns and a row of points at least", "give from 2 x 1 to 1e8 points");
  if (!finite(desc.corner) || !finite(desc.along_columns) || !finite(desc.along_rows))
    return bad("its place is not a number", "give the corner and both edges in m");
  if (length(desc.along_columns) <= 0 || (desc.rows > 1 && length(desc.along_rows) <= 0))
    return bad("an edge has no length", "give both edges in m");
  for (const double value : {desc.density, desc.stretch})
    if (!(std::isfinite(value) && value > 0)) return bad("density and stretch must be positive", "see ClothDesc");
  for (const double value : {desc.shear, desc.bend, desc.friction, desc.thickness, desc.strength})
    if (!(std::isfinite(value) && value >= 0)) return bad("a number is negative, or none", "see ClothDesc");
  return {};
}

using Threads = std::vector<std::vector<std::uint32_t>>;

// All lines of points that go on by (columns, rows), on the grid.
Threads lines(std::uint32_t first, int columns, int rows, int right, int down) {
  Threads found;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const bool begins = column - right < 0 || column - right >= columns || row - down < 0;
      if (!begins) continue;
      std::vector<std::uint32_t> line;
      for (int c = column, r = row; c >= 0 && c < columns && r < rows; c += right, r += down)
        line.push_back(first + narrow<std::uint32_t>(r * columns + c));
      if (line.size() > 1) found.push_back(std::move(line));
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return found;
}

}  // namespace

Result<std::uint32_t> ParticleWorld::add_cloth(const ClothDesc& desc) {
  if (const auto sound = check(desc); !sound.ok()) return sound.error();
  const bool rope = desc.rows == 1;
  const Vec3 right = desc.along_columns / (desc.columns - 1), down = rope ? Vec3{} : desc.along_rows / (desc.rows - 1);
  if (const auto room = check_memory(static_cast<std::size_t>(desc.columns) * desc.rows, 800 + sizeof(Vec3));
      !room.ok())
    return room.error();
  std::vector<Vec3> positions;
  for (int row = 0; row < desc.rows; ++row)
    for (int column = 0; column < desc.columns; ++column)
      positions.push_back(desc.corner + right * column + down * row);
  const double a = length(right), b = rope ? a : length(down);
  const double radius = desc.thickness > 0 ? desc.thickness / 2 : 0.45 * std::min(a, b);
  if (radius > 0.5 * std::min(a, b))
    return Error(fmt::format("cloth: its points are {:.3g} m apart, closer than it is thick", std::min(a, b)),
                 "use fewer points, or a smaller thickness");
  const auto first = narrow<std::uint32_t>(solid_.index.size());
  const double mass = rope ? desc.density * a : desc.density * a * b;
  const double ball = mass / (4 * pi / 3 * radius * radius * radius);
  if (const auto added = add_solids({radius, ball, desc.friction}, positions, {}); !added.ok()) return added.error();
  for (std::size_t i = solid_.count - positions.size(); i < solid_.count; ++i) solid_.grain[i] = 0;

  // On a GPU the points of a thread wait for each other: cloth is worth it with four times as many of them.
  if (groups_.empty()) options_.least_on_device *= 4;
  const auto weave = [&](int columns, int rows, double stiffness) {
    const double rest = length(right * columns + down * rows);
    const Threads threads = lines(first, desc.columns, desc.rows, columns, rows);
    if (stiffness <= 0 || threads.empty()) return;
    ThreadGroup group;
    group.compliance = to_float(rest / stiffness);
    group.strength = to_float(desc.strength);
    group.longest = desc.strength > 0 ? longest : 0;
    group.add(threads, to_float(rest));
    groups_.push_back(std::move(group));
  };
  weave(2, 0, desc.bend);
  weave(0, 2, rope ? 0 : desc.bend);
  weave(1, 1, rope ? 0 : desc.shear);
  weave(-1, 1, rope ? 0 : desc.shear);
  weave(1, 0, desc.stretch);  // the stiffest last: they are fulfilled best
  weave(0, 1, rope ? 0 : desc.stretch);
  return first;
}

}  // namespace volvox::particles
