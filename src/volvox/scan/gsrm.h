// Growing self-reconstruction maps (Rego et al. 2010, as seed 002 uses them): a net of triangles that
// learns a surface from random points of it, growing where it errs most, and that is a two-manifold
// after every step.
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
  std::size_t nodes = 2200;                         // where it stops growing
  double winner_step = 0.1, neighbour_step = 0.01;  // parts of the way to a signal
  double split_loss = 0.5;                          // of error, at a node whose edge is split
  double forgetting = 0.005;                        // of all errors, a signal
  std::uint32_t oldest = 50;                        // signals at a node, without which an edge goes
  std::uint32_t signals_a_node = 50;                // before the net grows by one
  bool sharpen = true;                              // nodes to planes, edges and corners that they are near
};

// The learning net, a signal at a time.
class GsrmNet {
 public:
  GsrmNet(const Cloud& cloud, const GsrmOptions& options);

  // Learns one random point; every so many signals a node is added.
  void step();
  bool grown() const { return living_ >= options_.nodes; }
  std::size_t living() const { return living_; }
  const ManifoldMesh& net() const { return net_; }

  // Forgets the faces and learns them anew from all points, the nodes standing still, and patches holes.
  void learn_topology();
  void place_nodes(const PlaneSet& planes);
  // Edges that cut across an edge of the room are turned to run along it.
  void flip_edges();
  // What still cuts across gets a node on the edge of the room.
  void split_crossings();
  TriangleMesh mesh() const;

 private:
  void insert_node();
  void make_index(double nodes);
  std::vector<Triangle> witnessed_faces() const;
  void assemble(const std::vector<Triangle>& faces);
  // The seed's patch: a node with two edges of one face each gets a face between them.
  void patch_holes(double fold);
  // Faces that hang together in fewer than eight are no surface.
  void remove_islands();
  // What is left: holes of few edges, which the patch could only close with a fold.
  void close_small_holes();
  // `fold`: the cosine between directions across an edge, above which two faces lie upon each other.
  bool lies_upon(std::uint32_t u, std::uint32_t v, std::uint32_t one, std::uint32_t other, double fold) const;
  bool folds(std::uint32_t a, std::uint32_t b, std::uint32_t c, double fold) const;

  const Cloud& cloud_;
  GsrmOptions options_;
  RandomStream random_;
  ManifoldMesh net_;
  model::Bounds box_;
  double lone_cell_;  // of an index for one node; for n, this over the root of n
  NodeIndex index_;
  std::optional<CellGrid> points_;  // while holes are patched
  std::vector<Vec3> nodes_;
  std::vector<double> error_;  // divided by scale_
  std::vector<bool> alive_;
  std::vector<std::vector<std::int32_t>> node_planes_;
  const PlaneSet* planes_ = nullptr;
  double scale_ = 1;  // all errors are forgotten at once by this
  std::size_t living_ = 0, indexed_for_ = 0;
  std::uint64_t signals_ = 0;
};

// `cloud` as prepare() gives it, `planes` of the same cloud.
TriangleMesh build_gsrm(const Cloud& cloud, const PlaneSet& planes, const GsrmOptions& options,
                        const Progress& progress = {});

// So many nodes make about so many triangles: a surface has two a node, less what its border takes.
std::size_t gsrm_nodes_for(std::size_t triangles);

}  // namespace volvox::scan
