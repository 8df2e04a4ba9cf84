// How well a built mesh shows what is really there.
#pragma once

#include <cstddef>
#include <functional>

#include "volvox/scan/mesh.h"

namespace volvox::scan {

// Told what part of the work is done, 0 to 1.
using Progress = std::function<void(double)>;

struct Evaluation {
  std::size_t triangles = 0;
  double accuracy_mean = 0, accuracy_p95 = 0;          // from the mesh to the truth, m
  double completeness_mean = 0, completeness_p95 = 0;  // from the truth to the mesh, m
  double hausdorff = 0;                                // the largest of both, m
  double f_2cm = 0, f_5mm = 0;  // harmonic mean of the parts of both surfaces within 2 cm and 5 mm of the other
  std::size_t boundary_edges = 0, non_manifold_edges = 0;
  // Flat faces of the truth, and those that are found: more than half is within 2 cm of a triangle
  // that faces the same way to 15 degrees.
  std::size_t planes = 0, planes_found = 0;
};

// Measures at this many points a square metre of both surfaces. Both meshes need an area.
Evaluation evaluate(const TriangleMesh& mesh, const TriangleMesh& truth, double per_square_metre = 5000,
                    const Progress& progress = {});

// The flat faces of a mesh: a number for each triangle, the same for triangles that share an edge and
// a plane.
std::vector<std::uint32_t> flat_faces(const model::MeshData& mesh);

}  // namespace volvox::scan
