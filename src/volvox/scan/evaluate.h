// Compares a reconstructed mesh with the ground truth. Metres; both meshes in the same frame. Deterministic.
#pragma once

#include <cstddef>
#include <functional>

#include "volvox/scan/mesh.h"

namespace volvox::scan {

// Called with the fraction of the work that is done, 0 to 1.
using Progress = std::function<void(double)>;

struct Evaluation {
  std::size_t triangles = 0;
  double accuracy_mean = 0, accuracy_p95 = 0;          // distances from the mesh to the truth, m
  double completeness_mean = 0, completeness_p95 = 0;  // distances from the truth to the mesh, m
  double hausdorff = 0;                                // the largest of both distances, m
  double f_2cm = 0,
         f_5mm = 0;  // F-scores: harmonic mean of the fractions of both surfaces within 2 cm (5 mm) of the other
  std::size_t boundary_edges = 0, non_manifold_edges = 0;
  // Flat faces of the truth. A face is found if more than half of it is within 2 cm of a triangle whose normal
  // differs by less than 15 degrees.
  std::size_t planes = 0, planes_found = 0;
};

// Samples both surfaces with this many points per square metre; every point counts with the area that it stands for.
// The area of both meshes must not be zero. Vertices need not be shared.
Evaluation evaluate(const TriangleMesh& mesh, const TriangleMesh& truth, double per_square_metre = 5000,
                    const Progress& progress = {});

// The flat faces of a mesh: one number per triangle, equal for adjacent triangles in the same plane.
std::vector<std::uint32_t> flat_faces(const model::MeshData& mesh);

}  // namespace volvox::scan
