// Growing self-reconstruction maps (Rego et al. 2010, as used in seed 002): a triangle net that learns a surface
// from random points (signals). It grows where its error is largest, and is a two-manifold after every step.
// Metres; the same seed gives the same bits.
#pragma once

#include <cstdint>
#include <optional>

#include "volvox/base/cell_grid.h"
#include "volvox/scan/cloud.h"
#include "volvox/scan/evaluate.h"
#include "volvox/scan/manifold_mesh.h"
#include "volvox/scan/node_index.h"
#include "volvox/scan/planes.h"

namespace volvox::scan {

struct GsrmOptions {
  std::uint64_t seed = 1;
  std::size_t nodes = 2200;                         // it stops growing at this number
  double winner_step = 0.1, neighbour_step = 0.01;  // learning rates
  double split_loss = 0.5;                          // fraction of the error that the nodes of a split edge lose
  double forgetting = 0.005;                        // fraction of all errors that is lost with each signal
  std::uint32_t oldest = 50;                        // the largest age of an edge, in signals at its node
  std::uint32_t signals_a_node = 50;                // between insertions of a node
  bool sharpen = true;                              // moves nodes to near planes, edges and corners
};

// The net while it learns. Keeps references to the cloud and the planes.
class GsrmNet {
 public:
  GsrmNet(const Cloud& cloud, const GsrmOptions& options);

  // Learns from one random point; adds a node every signals_a_node signals.
  void step();
  bool grown() const { return living_ >= options_.nodes; }
  std::size_t living() const { return living_; }
  const ManifoldMesh& net() const { return net_; }

  // Replaces all faces by faces learned from all points, with fixed nodes, and patches holes.
  void learn_topology();
  void place_nodes(const PlaneSet& planes);
  // Flips edges that cross an edge of the room, so that they follow it.
  void flip_edges();
  // Splits the remaining ones at the edge of the room.
  void split_crossings();
  TriangleMesh mesh() const;

 private:
  void insert_node();
  void make_index(double nodes);
  struct Candidate {
    int rank;  // 0: each edge joins the two nearest nodes of some point; 1: the three nearest nodes of a point
    double size;
    Triangle corners;
  };
  std::vector<Candidate> candidate_faces() const;
  std::vector<Triangle> witnessed_faces() const;
  void assemble(const std::vector<Triangle>& faces);
  // The patch of seed 002: adds a face between the two boundary edges of a node.
  void patch_holes(double fold);
  // Removes connected parts of fewer than eight faces.
  void remove_islands();
  // Closes the remaining small holes, for which patch_holes would need a fold.
  void close_small_holes();
  // Two faces at an edge overlap if the cosine of the angle between them is above `fold`.
  bool lies_upon(std::uint32_t u, std::uint32_t v, std::uint32_t one, std::uint32_t other, double fold) const;
  bool folds(std::uint32_t a, std::uint32_t b, std::uint32_t c, double fold) const;

  const Cloud& cloud_;
  GsrmOptions options_;
  RandomStream random_;
  ManifoldMesh net_;
  model::Bounds box_;
  double lone_cell_;  // cell size of an index for one node; divided by sqrt(n) for n nodes
  NodeIndex index_;
  std::optional<CellGrid> points_;  // only while holes are patched
  std::vector<Vec3> nodes_;
  std::vector<double> error_;  // divided by scale_
  std::vector<bool> alive_;
  std::vector<std::vector<std::int32_t>> node_planes_;
  const PlaneSet* planes_ = nullptr;
  double scale_ = 1;  // one factor for all errors, so that forgetting costs O(1)
  std::size_t living_ = 0, indexed_for_ = 0;
  std::uint64_t signals_ = 0;
};

// `cloud`: the result of prepare(); `planes`: of the same cloud.
TriangleMesh build_gsrm(const Cloud& cloud, const PlaneSet& planes, const GsrmOptions& options,
                        const Progress& progress = {});

// The number of nodes for about this number of triangles: two triangles per node, fewer at the boundary.
std::size_t gsrm_nodes_for(std::size_t triangles);

}  // namespace volvox::scan
