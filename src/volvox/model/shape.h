// The shapes of bodies, for collision and for display, in m, in the frame of the shape. Large shapes (hulls,
// meshes, height fields) are immutable and shared by all modules of one model.
// Any thread may read them. Functions are pure.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "volvox/base/math.h"

namespace volvox::model {

struct Sphere {
  double radius = 0;
};
struct Box {
  Vec3 size;  // full edge lengths
};
struct Capsule {  // along z; length is between the centres of the caps
  double radius = 0, length = 0;
};
struct Cylinder {  // along z
  double radius = 0, length = 0;
};
struct Plane {  // infinite, through the origin; solid below
  Vec3 normal{0, 0, 1};
};
struct HullData {
  std::vector<Vec3> points;  // at least 4, not coplanar
};
struct MeshData {
  std::vector<Vec3> vertices;
  std::vector<std::array<std::uint32_t, 3>> triangles;
};
struct HeightFieldData {
  // heights[row * columns + column]; column 0, row 0 lies at (-size_x/2, -size_y/2).
  std::uint32_t columns = 0, rows = 0;  // samples, at least 2 x 2
  double size_x = 0, size_y = 0;
  std::vector<float> heights;

  double lowest() const;
  double highest() const;
  // The height of the surface at a point, by the same two triangles per cell as in physics:
  // the diagonal runs from (column, row) to (column + 1, row + 1).
  double height_at(double x, double y) const;
};
using Hull = std::shared_ptr<const HullData>;
using Mesh = std::shared_ptr<const MeshData>;  // for static bodies only; moving bodies use hulls
using HeightField = std::shared_ptr<const HeightFieldData>;

using Shape = std::variant<Sphere, Box, Capsule, Cylinder, Plane, Hull, Mesh, HeightField>;

std::string_view name(const Shape& shape);

// An axis-aligned box; empty (low > high) until something is added.
struct Bounds {
  Vec3 low{1e300, 1e300, 1e300};
  Vec3 high{-1e300, -1e300, -1e300};

  bool empty() const { return low.x > high.x; }
  void add(const Vec3& point);
  void add(const Bounds& other);
};
// Of a shape placed at a pose. The bounds of a plane are empty.
Bounds bounds(const Shape& shape, const Pose& pose);

struct Material {
  double friction = 0.7;     // Coulomb; a pair takes the geometric mean
  double restitution = 0.0;  // a pair takes the larger
};

struct Collider {
  std::string name;
  Shape shape;
  Pose pose;  // in the link's frame
  Material material;
};

struct Color {
  double r = 0.7, g = 0.7, b = 0.7, a = 1;
};

inline constexpr Color ground_color{0.86, 0.87, 0.88, 1};  // default of grounds

struct Visual {
  std::string name;
  Shape shape;
  Pose pose;  // in the link's frame
  Color color;
};

// All colliders of a body, shared by all instances of a link. Engines use its address as the key of
// what they build from it.
struct Geometry {
  std::vector<Collider> colliders;
};

}  // namespace volvox::model
