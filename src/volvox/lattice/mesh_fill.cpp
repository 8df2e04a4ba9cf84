// Fills a closed mesh row by row: where the line through the centres of a row crosses the surface, inside and outside
// change. The crossings of one edge are the same bits in both of its triangles, and intervals are half open, so the
// line through an edge or a corner is counted right: every row has an even number of crossings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "volvox/base/index.h"
#include "volvox/lattice/cell_files.h"
#include "volvox/model/closed_mesh.h"

namespace volvox::lattice {
namespace {

struct Crossing {
  std::int32_t layer = 0, row = 0;
  double x = 0;
  friend auto operator<=>(const Crossing&, const Crossing&) = default;
};
struct Point {
  double y = 0, x = 0;
};

// Where an edge crosses the plane at this height. The ends come in a fixed order, for the same bits in both triangles.
Point crossing(const Vec3& a, const Vec3& b, double z) {
  const double part = (z - a.z) / (b.z - a.z);
  return {a.y + part * (b.y - a.y), a.x + part * (b.x - a.x)};
}

constexpr double most_crossings = 2e8, most_cells = 2e9;

class Filler {
 public:
  Filler(const model::MeshData& mesh, const Lattice& lattice) : mesh_(mesh), lattice_(lattice) {}

  // Numbers whose centres lie in [from, to), where number 0 lies at `origin`, until a visit returns false.
  template <class Visit>
  static bool each_between(double from, double to, double origin, double spacing, const Visit& visit) {
    // One more on each side, and then the exact comparison: division rounds.
    const auto first = truncated<std::int32_t>(std::floor((from - origin) / spacing)) - 1;
    const auto last = truncated<std::int32_t>(std::ceil((to - origin) / spacing)) + 1;
    for (std::int32_t i = first; i <= last; ++i)
      if (const double at = i * spacing + origin; at >= from && at < to && !visit(i)) return false;
    return true;
  }

  // Finds the crossings of all triangles; false: they are more than `most`. They are counted before they are kept: one
  // triangle may have gigabytes of them.
  bool cut_all(double most) {
    for (const bool keep : {false, true}) {
      if (keep) crossings_.reserve(found_);
      keep_ = keep, found_ = 0, most_ = most;
      for (const auto& triangle : mesh_.triangles)
        if (!cut(triangle)) return false;
    }
    std::sort(crossings_.begin(), crossings_.end());
    return true;
  }

  // The crossings of a row come in pairs.
  double cells_at_most() const {
    double most = 0;
    for (std::size_t i = 0; i + 1 < crossings_.size(); i += 2)
      most += (crossings_[i + 1].x - crossings_[i].x) / lattice_.spacing().x + 1;
    return most;
  }

  std::vector<Cell> cells() {
    std::vector<Cell> cells;
    cells.reserve(truncated<std::size_t>(cells_at_most()));
    for (std::size_t i = 0; i + 1 < crossings_.size(); i += 2) {
      const Crossing &in = crossings_[i], &out = crossings_[i + 1];
      VOLVOX_CHECK(in.layer == out.layer && in.row == out.row, "a row crosses a closed mesh an odd number of times");
      const Cell row{0, in.row, in.layer};
      each_between(in.x, out.x, lattice_.parity(row) * lattice_.shift().x, lattice_.spacing().x, [&](std::int32_t x) {
        cells.push_back({x, in.row, in.layer});
        return true;
      });
    }
    return cells;
  }

 private:
  bool cut(const std::array<std::uint32_t, 3>& triangle) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (const std::uint32_t v : triangle)
      low = std::min(low, mesh_.vertices[v].z), high = std::max(high, mesh_.vertices[v].z);
    if (lattice_.flat()) {
      return !(low <= 0 && high > 0) || cut(triangle, 0);
    }
    return each_between(low, high, 0, lattice_.spacing().z, [&](std::int32_t layer) { return cut(triangle, layer); });
  }

  bool cut(const std::array<std::uint32_t, 3>& triangle, std::int32_t layer) {
    const double z = layer * lattice_.spacing().z;
    Point ends[2];
    int found = 0;
    for (int i = 0; i < 3; ++i) {
      const auto [a, b] = std::minmax(triangle[i], triangle[(i + 1) % 3]);
      const Vec3 &from = mesh_.vertices[a], &to = mesh_.vertices[b];
      if ((from.z > z) != (to.z > z) && found < 2) ends[found++] = crossing(from, to, z);
    }
    if (found < 2) return true;
    if (ends[1].y < ends[0].y) std::swap(ends[0], ends[1]);
    const auto add = [&](std::int32_t row, double y) {
      const double part = (y - ends[0].y) / (ends[1].y - ends[0].y);
      if (keep_) crossings_.push_back({layer, row, ends[0].x + part * (ends[1].x - ends[0].x)});
      return real(++found_) <= most_;
    };
    // Shifted layers have all their rows shifted in y; shifted rows of a plane lie where they lie.
    const double origin = lattice_.parity({0, 0, layer}) * lattice_.shift().y, spacing = lattice_.spacing().y;
    return each_between(ends[0].y, ends[1].y, origin, spacing,
                        [&](std::int32_t row) { return add(row, row * spacing + origin); });
  }

  const model::MeshData& mesh_;
  const Lattice& lattice_;
  std::vector<Crossing> crossings_;
  std::size_t found_ = 0;
  double most_ = 0;
  bool keep_ = false;
};

}  // namespace

Result<std::vector<Cell>> fill_mesh(const model::MeshData& mesh, const std::string& file, const Lattice& lattice,
                                    double memory) {
  if (const auto hole = model::hole_in(mesh))
    return Diagnostic{file, 0, *hole, "close the mesh: what has holes has no inside"};
  model::Bounds bounds;
  for (const Vec3& v : mesh.vertices) bounds.add(v);
  const Vec3 spacing = lattice.spacing();
  double cells_of_box = 1;
  for (int i = 0; i < 3; ++i) {
    const double reach = std::max(std::fabs(bounds.low[i]), std::fabs(bounds.high[i])) / spacing[i];
    if (i < 2 || !lattice.flat()) cells_of_box *= (bounds.high[i] - bounds.low[i]) / spacing[i] + 1;
    if (!(reach < farthest_cell - 2) || !(cells_of_box < most_cells))
      return Diagnostic{file, 0,
                        fmt::format("the mesh is too large for cells {:.3g} m apart: it reaches to {:.3g} m",
                                    lattice.pitch(), reach * spacing[i]),
                        "give a larger pitch, or a smaller mesh"};
  }
  Filler filler(mesh, lattice);
  if (!filler.cut_all(std::min(most_crossings, memory / sizeof(Crossing))))
    return Diagnostic{file, 0, "the surface of the mesh is too large for its cells", "give a larger pitch"};
  if (const double need = filler.cells_at_most() * sizeof(Cell); need > memory)
    return Diagnostic{
        file, 0,
        fmt::format("the mesh has so many cells {:.3g} m apart that their list needs {:.1f} GB of memory, "
                    "and {:.1f} GB are there",
                    lattice.pitch(), need / 1e9, memory / 1e9),
        "give a larger pitch"};
  std::vector<Cell> cells = filler.cells();
  if (cells.empty())
    return Diagnostic{file, 0,
                      fmt::format("the mesh is too small for cells {:.3g} m apart: none is inside", lattice.pitch()),
                      "give a smaller pitch"};
  return cells;
}

}  // namespace volvox::lattice
