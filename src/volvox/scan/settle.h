// Moves the nodes of a learned net to their best positions. A self-organizing map leaves its nodes disturbed by the
// noise of the last signals and rounds edges; the position of a node is improved by all points that are nearer to
// it than to other nodes. Metres; deterministic.
#pragma once

#include <cstdint>
#include <vector>

#include "volvox/scan/cloud.h"
#include "volvox/scan/manifold_mesh.h"
#include "volvox/scan/node_index.h"
#include "volvox/scan/planes.h"

namespace volvox::scan {

// A self-organizing map moves nodes to points that are far from all nodes. Removes outliers near surfaces: points
// without a plane that have few such points around them.
void remove_strays(Cloud& cloud, PlaneSet& planes);

// The planes of each node: none, one, two at an edge, three at a corner.
using NodePlanes = std::vector<std::vector<std::int32_t>>;

// Moves the nodes to the mean of their points `rounds` times. With `sharpen`, finally moves them to the plane, the
// edge or the corner of their points. Nodes without points stay.
NodePlanes settle(const Cloud& cloud, const PlaneSet& planes, NodeIndex& index, std::vector<Vec3>& nodes,
                  const std::vector<bool>& alive, int rounds, bool sharpen);

// Nodes at the boundary of a surface are at the mean of their points, inside of the boundary: moves them outwards to
// the end of their points.
void stretch_boundary(const Cloud& cloud, const PlaneSet& planes, const NodePlanes& node_planes, const NodeIndex& index,
                      const ManifoldMesh& net, std::vector<Vec3>& nodes);

// The nearest point to `p` on all given planes; false if it is farther than `limit` or not well defined.
bool project(const Vec3& p, const PlaneSet& planes, const std::vector<std::int32_t>& onto, double limit, Vec3& result);

// The cell size of an index for this number of nodes on the surface of the cloud.
double index_cell(const Cloud& cloud, double nodes);

}  // namespace volvox::scan
