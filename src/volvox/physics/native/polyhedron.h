// Faces of convex polyhedra and edges of meshes.
// Lengths in m, in the frame of the points. Pure functions: the same points in the same order give the same faces.
#pragma once

#include "volvox/physics/native/shape.h"

namespace volvox::physics::native {

// The faces of the convex hull of some points, coplanar triangles merged. A face with many
// corners keeps those that span it best.
std::vector<Convex::Face> polyhedron_faces(const std::vector<Vec3>& points);

std::vector<Triangle> mesh_triangles(const model::MeshData& mesh, const Pose& pose);

// Tells a triangle the normal of the one beyond an edge.
void set_neighbour(Triangle& t, std::size_t edge, const Vec3& normal);

// Sets what follows from a triangle's corners, its normal and those beyond its edges.
void finish_triangle(Triangle& t);

}  // namespace volvox::physics::native
