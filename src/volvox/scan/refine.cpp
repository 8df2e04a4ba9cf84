#include "volvox/scan/refine.h"

#include <fmt/format.h>

#include <cmath>

#include "volvox/base/cell_grid.h"
#include "volvox/base/index.h"
#include "volvox/scan/clean.h"
#include "volvox/scan/triangle_tree.h"

namespace volvox::scan {

Result<Refined> refine(const TriangleMesh& arena, const std::vector<Cloud>& scans, const RefineOptions& options,
                       const Progress& progress) {
  if (arena.triangles.empty() || scans.empty())
    return Error("the mesh or the list of scans is empty", "give a mesh and at least one scan");
  const bool colored = !arena.colors.empty();
  Cloud seen;
  Refined refined;
  std::vector<std::string> notes;
  for (const Cloud& scan : scans) {
    Cloud laid = without_duplicates(scan);
    if (const std::size_t lost = scan.points.size() - laid.points.size(); lost > 0)
      notes.push_back(
          fmt::format("{} of {} points of a scan lay exactly on others and were left out", lost, scan.points.size()));
    if (!options.placed) {
      // As many points as the scan, so that both have a similar density.
      const Cloud surface{surface_points(arena, real(laid.points.size()) / area(arena)), {}};
      const auto found = register_clouds(surface, laid, progress);
      if (!found.ok()) return found.error();
      for (Vec3& p : laid.points) p = found->pose * p;
      refined.fits.push_back(*found);
    }
    seen.points.insert(seen.points.end(), laid.points.begin(), laid.points.end());
    if (colored && !laid.colors.empty()) seen.colors.insert(seen.colors.end(), laid.colors.begin(), laid.colors.end());
  }
  if (seen.points.size() < 16)
    return Error(fmt::format("the scans have {} points", seen.points.size()), "give scans with more points");
  const bool keeps_color = colored && seen.colors.size() == seen.points.size();
  if (!keeps_color) seen.colors.clear();

  const double cell = cell_for(seen.points, 4);
  const CellGrid grid(seen.points, cell);
  const TriangleTree tree(arena);
  const double off = 0.5 * cell;
  for (const Vec3& p : seen.points) refined.new_points += tree.nearest(p).distance > off;
  // Four points per cell, like the scans.
  Cloud old;  // separate, because the grid refers to the points of the scans
  std::size_t number = 0;
  for (const Vec3& p : surface_points(arena, 4 / (cell * cell))) {
    std::size_t near = 0;
    grid.near(p, cell, [&](std::uint32_t, double) { ++near; });
    if (near >= 4 && ++number % 4 != 0) continue;
    old.points.push_back(p);
    if (keeps_color) old.colors.push_back(arena.colors[arena.triangles[tree.nearest(p).triangle][0]]);
  }
  notes.push_back(fmt::format("the new surface is built from {} points of the scans and {} of the old surface",
                              seen.points.size(), old.points.size()));
  seen.points.insert(seen.points.end(), old.points.begin(), old.points.end());
  seen.colors.insert(seen.colors.end(), old.colors.begin(), old.colors.end());
  auto built = build(seen, options.build, progress);
  if (!built.ok()) return built.error();
  refined.built = std::move(*built);
  refined.built.notes.insert(refined.built.notes.begin(), notes.begin(), notes.end());
  return refined;
}

}  // namespace volvox::scan
