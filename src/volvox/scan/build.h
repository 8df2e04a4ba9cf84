// A cloud to a mesh, by one of the three methods of seed 002, or by the best of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/scan/cloud.h"
#include "volvox/scan/evaluate.h"
#include "volvox/scan/mixed.h"

namespace volvox::scan {

enum class Method { gsrm, growing_grid, plane_fitting, mixed };
Result<Method> parse_method(const std::string& name);  // gsrm, gg, pf or mixed
std::string_view name(Method method);

struct BuildOptions {
  Method method = Method::gsrm;
  std::uint64_t seed = 1;
  // The level of detail, at most one of them: about so many triangles (gsrm, gg, and
  // mixed, where all of the cloud was a net), so many nodes (gsrm, mixed),
  // so many growth signals (gg).
  std::optional<std::size_t> triangles = std::nullopt, nodes = std::nullopt, steps = std::nullopt;
  double noise = 0;     // of the points, m; 0: estimated
  bool filter = true;   // leaves out points that stand alone
  bool sharpen = true;  // gsrm, gg: brings nodes to the planes, edges and corners that they are near
};

struct Built {
  TriangleMesh mesh;
  // Of mixed models: what stands for a part of the mesh in an engine, and the triangles left over.
  std::vector<BoxPart> boxes;
  TriangleMesh rest;
  std::size_t planes = 0;  // found in the cloud
  double noise = 0;        // as estimated, m
  double cpu_s = 0;
  std::vector<std::string> notes;  // what was mended
};

Result<Built> build(const Cloud& cloud, const BuildOptions& options, const Progress& progress = {});

// Gives each vertex the mean colour of the points near it; a cloud without colours changes nothing.
void paint(TriangleMesh& mesh, const Cloud& cloud);

}  // namespace volvox::scan
