// Reconstructs a mesh from a cloud by one of the three methods of seed 002, or by a combination of them (mixed).
// Metres. Runs on the calling thread; the same cloud and options give the same bits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/scan/cloud.h"
#include "volvox/scan/evaluate.h"
#include "volvox/scan/mixed.h"
#include "volvox/scan/recognize.h"

namespace volvox::scan {

enum class Method { gsrm, growing_grid, plane_fitting, mixed };
Result<Method> parse_method(const std::string& name);  // gsrm, gg, pf or mixed
std::string_view name(Method method);

struct BuildOptions {
  Method method = Method::gsrm;
  std::uint64_t seed = 1;
  // The level of detail; at most one of these may be given: the approximate number of triangles (gsrm, gg; mixed:
  // if the whole cloud were a net), the number of nodes (gsrm, mixed), the number of growth signals (gg).
  std::optional<std::size_t> triangles = std::nullopt, nodes = std::nullopt, steps = std::nullopt;
  double noise = 0;      // standard deviation of the points, m; 0: estimated
  bool filter = true;    // removes outliers
  bool sharpen = true;   // gsrm, gg: moves nodes to near planes, edges and corners
  bool by_wins = false;  // gg: where it grows (growing_grid.h)
  // Known things to look for in the cloud (recognize.h); the caller keeps them until build() returns.
  std::span<const KnownObject> objects{};
};

struct Built {
  TriangleMesh mesh;  // the whole surface
  // Boxes of mixed models and recognized objects replace parts of the mesh in a physics engine; `rest` has the
  // remaining triangles.
  std::vector<BoxPart> boxes;
  std::vector<FoundObject> objects;  // by their numbers in BuildOptions::objects
  TriangleMesh rest;
  const TriangleMesh& remaining() const { return boxes.empty() && objects.empty() ? mesh : rest; }
  std::size_t planes = 0;  // found in the cloud
  double noise = 0;        // estimated, m
  double cpu_s = 0;
  std::vector<std::string> notes;  // repairs of the input
};

Result<Built> build(const Cloud& cloud, const BuildOptions& options, const Progress& progress = {});

// Gives each vertex the mean colour of the points near it. Does nothing if the cloud has no colours.
void paint(TriangleMesh& mesh, const Cloud& cloud);

}  // namespace volvox::scan
