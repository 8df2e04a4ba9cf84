// Mixed models, as suggested in the discussion of seed 002: boxes where they fit, otherwise flat polygons, and a
// triangle net where no plane fits. Boxes cost a physics engine less than the triangles that they replace. Metres;
// deterministic.
#pragma once

#include <vector>

#include "volvox/scan/gsrm.h"
#include "volvox/scan/plane_fitting.h"

namespace volvox::scan {

struct BoxPart {
  Pose pose;  // of its centre
  Vec3 size;  // full edge lengths
};

struct MixedModel {
  PlaneSet set;
  TriangleMesh mesh;  // the whole surface as triangles
  // The same surface for a physics engine: solid boxes, slabs behind rectangles, and the triangles of `mesh` that
  // no box replaces.
  std::vector<BoxPart> boxes;
  TriangleMesh rest;
};

// `cloud`: the result of prepare(). `net`: for points without a plane; its number of nodes is for the whole cloud and
// is reduced to the fraction of these points.
MixedModel build_mixed(Cloud cloud, const PlaneFittingOptions& planes, GsrmOptions net, const Progress& progress = {});

// Finds boxes among the polygons of the planes; `rest`: the remaining triangles.
void find_boxes(const TriangleMesh& mesh, const PlaneSet& set, std::vector<BoxPart>& boxes, TriangleMesh& rest);

}  // namespace volvox::scan
