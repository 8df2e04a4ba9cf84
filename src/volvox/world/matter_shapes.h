// The colliders of a link as shapes among particles. Internal to world/. SI units, in the frame of the link.
// For one thread, before the first tick. Fields are shared by all links of one geometry, and are deterministic.
#pragma once

#include <map>
#include <vector>

#include "volvox/model/module_model.h"
#include "volvox/particles/shapes.h"

namespace volvox::world {

inline constexpr Vec3 everywhere_low{-1e9, -1e9, -1e9}, everywhere_high{1e9, 1e9, 1e9};

class MatterShapes {
 public:
  // `cell`: between the samples of distances; `margin`: how far particles feel a shape; both m.
  MatterShapes(double cell, double margin) : cell_(cell), margin_(margin) {}

  // Planes and terrains are shapes of their own; all other colliders of a link are one: a closed form if there is one
  // collider, and sampled distances if there are several, so that where they overlap nothing counts twice. Their
  // `offset` is their place in the frame of the link. Error: a mesh that is not closed, or that is too large.
  // `low`, `high`: in the frame of the link, where its distances are needed: a part of a large mesh.
  Result<std::vector<particles::ShapeDesc>> of(const model::Link& link, const Vec3& low, const Vec3& high);

 private:
  Result<std::shared_ptr<const particles::DistanceField>> field_of(const model::Geometry& geometry, const Vec3& low,
                                                                   const Vec3& high);

  double cell_, margin_;
  // For look-up only: the order of pointers is not reproducible.
  std::map<const model::Geometry*, std::shared_ptr<const particles::DistanceField>> fields_;
};

// Closed, wound counter-clockwise seen from outside. Error: it has a hole, which is named.
Result<particles::SolidPart> solid_of(const model::MeshData& mesh, const Pose& pose);

}  // namespace volvox::world
