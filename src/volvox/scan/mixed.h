// Mixed models, as the discussion of seed 002 suggests: boxes where they fit, flat polygons where only
// these do, and a net of triangles elsewhere. Boxes cost a physics engine less than the triangles they
// stand for.
#pragma once

#include <vector>

#include "volvox/scan/gsrm.h"
#include "volvox/scan/plane_fitting.h"

namespace volvox::scan {

struct BoxPart {
  Pose pose;  // of its middle
  Vec3 size;  // full edge lengths
};

struct MixedModel {
  PlaneSet set;
  TriangleMesh mesh;  // the whole surface, as triangles
  // The same for an engine: solid boxes, and slabs behind rectangles; and the triangles of `mesh` that
  // none of them stands for.
  std::vector<BoxPart> boxes;
  TriangleMesh rest;
};

// `cloud` as prepare() gives it. `net`: how to build where no plane fits; its nodes are for a cloud
// without any plane, and it gets a part of them.
MixedModel build_mixed(Cloud cloud, const PlaneFittingOptions& planes, GsrmOptions net, const Progress& progress = {});

// The boxes that the polygons of planes make, and the triangles left over.
void find_boxes(const TriangleMesh& mesh, const PlaneSet& set, std::vector<BoxPart>& boxes, TriangleMesh& rest);

}  // namespace volvox::scan
