// Things whose shape is known before a scan shows them: crates, ramps, power plugs. Each is an SDF model of rigid
// links; recognize.h finds them in clouds. Metres, in the frame of the model: an object stands as its file has it, z
// up. Immutable once it is read. Any thread may ask it; reading is for one thread at a time (model/reader.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "volvox/base/result.h"
#include "volvox/model/hull_faces.h"
#include "volvox/model/reader.h"
#include "volvox/scan/mesh.h"
#include "volvox/scan/polygon.h"
#include "volvox/scan/triangle_tree.h"

namespace volvox::scan {

class KnownObject {
 public:
  // Fails for a model that can move in itself, has no shape to collide with, or an endless, flat or open one.
  static Result<KnownObject> from(model::Model model);

  const std::string& name() const { return model_->name; }
  const model::Model& model() const { return model_; }
  // The outer surface without what faces straight down, which stands on something and is never seen. Round shapes are
  // polygons that are right to a thousandth of their radius.
  const TriangleMesh& surface() const { return *surface_; }
  model::Bounds bounds() const { return bounds_; }
  // The outline of what it stands on, counter-clockwise and convex.
  const std::vector<Vec2>& foot() const { return foot_; }
  // About the distance to the surface; negative inside.
  double outside(const Vec3& point) const;
  // After so many radians about z it looks the same; 0: after any turn; 2 pi: after a full one.
  double symmetry() const { return symmetry_; }

  struct Sample {
    Vec3 point, normal;
  };
  // Evenly over surface(), about `spacing` apart.
  std::vector<Sample> samples(double spacing) const;

 private:
  struct Part {
    std::shared_ptr<const TriangleMesh> mesh;
    std::vector<model::HullFace> faces;        // of a convex part
    std::shared_ptr<const TriangleTree> tree;  // of a mesh
    double outside(const Vec3& point) const;
  };
  void find_surface();
  void find_symmetry();

  model::Model model_;
  std::vector<Part> parts_;
  std::shared_ptr<const TriangleMesh> surface_;
  std::vector<std::size_t> part_of_;  // by triangle of the surface
  std::vector<Vec2> foot_;
  model::Bounds bounds_;
  double symmetry_ = 2 * pi;
};

// Of libraries: folders, whose SDF files are taken in the order of their names, and single SDF files; a folder that is
// not there is looked for among the experiments of Volvox (arenas/objects). Names of objects are unique.
Result<std::vector<KnownObject>> read_objects(const std::vector<std::string>& libraries, model::ModelLibrary& models);

}  // namespace volvox::scan
