// Brings the nodes of a learned net to where the cloud says they belong. A self-organizing map leaves
// its nodes in the noise of the last signals, and rounds edges off; each node knows more than that:
// all points that are nearer to it than to other nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "volvox/scan/cloud.h"
#include "volvox/scan/manifold_mesh.h"
#include "volvox/scan/node_index.h"
#include "volvox/scan/planes.h"

namespace volvox::scan {

// A self-organizing map sends nodes to whatever is far from all others. Takes away the points that are
// of no plane and have few of their kind around them: outliers close to a surface.
void remove_strays(Cloud& cloud, PlaneSet& planes);

// Planes that a node lies on: none, one, two at an edge, three at a corner.
using NodePlanes = std::vector<std::vector<std::int32_t>>;

// Moves the nodes to the middle of their points `rounds` times, and at last, with `sharpen`, to the
// plane, the edge or the corner that the points are of. Nodes without points stay.
NodePlanes settle(const Cloud& cloud, const PlaneSet& planes, NodeIndex& index, std::vector<Vec3>& nodes,
                  const std::vector<bool>& alive, int rounds, bool sharpen);

// Nodes at the end of a surface lie in the middle of their points, and so inside of it: moves them
// outward to where their points end.
void stretch_boundary(const Cloud& cloud, const PlaneSet& planes, const NodePlanes& node_planes, const NodeIndex& index,
                      const ManifoldMesh& net, std::vector<Vec3>& nodes);

// Nearest point to `p` on all the planes; false where they do not meet in one place near enough.
bool project(const Vec3& p, const PlaneSet& planes, const std::vector<std::int32_t>& onto, double limit, Vec3& result);

// A cell for an index of so many nodes on the cloud's surface.
double index_cell(const Cloud& cloud, double nodes);

}  // namespace volvox::scan
